/** A share group for people to read. */
import { counted } from '../common/counted.ts';
import type { MemberReport, ShareGroupReport, SharePartitionReport } from './share-group-report.ts';
import { table } from './table.ts';

/** Locks of a group that are listed; JSON has them all. */
const LISTED_LOCKS = 50;

export function shareGroupText(report: ShareGroupReport): string {
  const { group, state, groupEpoch, members, partitions } = report;
  const parts = [
    `share group ${group}: ${state}, epoch ${groupEpoch}, ${counted(members.length, 'member')}\n`,
    table(['MEMBER', 'CLIENT', 'HOST', 'EPOCH', 'READS'], members.map(memberRow)),
    table(
      ['TOPIC', 'PARTITION', 'START', 'NEXT', 'LAG', 'HELD', 'WAITING', 'DONE', 'DELIVERIES'],
      partitions.map(partitionRow),
    ),
    locks(partitions),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function memberRow({ memberId, clientId, host, memberEpoch, assignment }: MemberReport) {
  const reads = assignment.map(({ topic, partitions }) => `${topic}[${partitions.join(',')}]`).join(' ');
  return [memberId, clientId, host, memberEpoch, reads || 'nothing'];
}

function partitionRow({ topic, partition, startOffset, lag, inFlight }: SharePartitionReport) {
  const counts = inFlight
    ? [inFlight.nextOffset, inFlight.held, inFlight.waiting, inFlight.done]
    : ['-', '-', '-', '-'];
  const [next, ...others] = counts;
  const deliveries = inFlight?.deliveries.map(({ deliveryCount, records }) => `${records}×${deliveryCount}`).join(' ');
  return [topic, partition, startOffset ?? '-', next!, lag ?? '-', ...others, deliveries || '-'];
}

function locks(partitions: readonly SharePartitionReport[]): string {
  const held = partitions.flatMap(({ topic, partition, inFlight }) =>
    (inFlight?.runs ?? [])
      .filter(({ memberId }) => memberId !== null)
      .map(({ firstOffset, lastOffset, memberId, deliveryCount, lockRemainingMs }) => {
        const offsets = firstOffset === lastOffset ? `${firstOffset}` : `${firstOffset}-${lastOffset}`;
        return [
          topic,
          partition,
          offsets,
          memberId!,
          deliveryCount,
          `in ${((lockRemainingMs ?? 0) / 1000).toFixed(1)} s`,
        ];
      }),
  );
  const leftOut = partitions.reduce((sum, { inFlight }) => sum + (inFlight?.runsLeftOut ?? 0), 0);
  const more = Math.max(0, held.length - LISTED_LOCKS) + leftOut;
  const listed = table(
    ['TOPIC', 'PARTITION', 'OFFSETS', 'HELD BY', 'DELIVERY', 'LOCK ENDS'],
    held.slice(0, LISTED_LOCKS),
  );
  return more > 0 ? `${listed}and ${more} more; --json lists them\n` : listed;
}
