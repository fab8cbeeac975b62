/**
 * The judgement over a stress of share consumers: what the journals say against where the records ended. Pure.
 *
 * Every record must end accepted, or in the dead-letter queue with its delivery count at the limit. An acceptance whose
 * answer never came (its consumer or the broker was killed) is in doubt: such a record may end without either.
 */
import type { JournalLine } from './journal.ts';

export interface DeadLetterSeen {
  readonly partition: number;
  readonly offset: number;
  readonly deliveryCount: number;
}

export interface Evidence {
  /** End offsets by partition. */
  readonly ends: readonly number[];
  readonly lines: readonly JournalLine[];
  readonly deadLetters: readonly DeadLetterSeen[];
  readonly limit: number;
}

export interface Judgement {
  readonly records: number;
  readonly accepted: number;
  readonly deadLetters: number;
  /** Accepted by a consumer that never heard the answer, and neither accepted nor given up otherwise. */
  readonly inDoubt: number;
  readonly deliveries: number;
  readonly redeliveries: number;
  readonly problems: readonly string[];
}

/** What is known of each record of a partition. */
class PartitionRecords {
  readonly acceptedCount: Uint8Array;
  readonly acceptedAtMs: Float64Array;
  readonly sent: Int16Array;
  readonly deliveries: Uint16Array;
  readonly deadCount: Uint8Array;

  constructor(end: number) {
    this.acceptedCount = new Uint8Array(end);
    this.acceptedAtMs = new Float64Array(end);
    this.sent = new Int16Array(end);
    this.deliveries = new Uint16Array(end);
    this.deadCount = new Uint8Array(end);
  }
}

export function judge({ ends, lines, deadLetters, limit }: Evidence): Judgement {
  const partitions = ends.map((end) => new PartitionRecords(end));
  const problems: string[] = [];
  for (const line of lines) note(partitions[line.partition]!, line);
  for (const { partition, offset, deliveryCount } of deadLetters) {
    partitions[partition]!.deadCount[offset] = deliveryCount;
    if (deliveryCount !== limit) problems.push(`${partition}@${offset} was given up at delivery ${deliveryCount}`);
  }
  let deliveries = 0;
  for (const line of lines) {
    if (line.kind !== 'delivered') continue;
    deliveries += line.last - line.first + 1;
    problems.push(...deliveryProblems(partitions[line.partition]!, line, limit));
  }
  const sums = { records: 0, accepted: 0, deadLetters: 0, inDoubt: 0, redeliveries: 0 };
  for (const [partition, records] of partitions.entries()) problems.push(...sumUp(partition, records, sums));
  return { ...sums, deliveries, problems };
}

function note(records: PartitionRecords, { kind, first, last, count, atMs }: JournalLine): void {
  for (let offset = first; offset <= last; offset++) {
    if (kind === 'delivered') records.deliveries[offset]!++;
    if (kind === 'sent') records.sent[offset]!++;
    if (kind === 'refused') records.sent[offset]!--;
    if (kind !== 'accepted') continue;
    records.sent[offset]!--;
    records.acceptedCount[offset] = count;
    records.acceptedAtMs[offset] = atMs;
  }
}

/**
 * A record that was accepted must not have been delivered after that: neither with a greater delivery count, nor in answer
 * to a request that was sent later.
 */
function deliveryProblems(records: PartitionRecords, line: JournalLine, limit: number): string[] {
  const { partition, first, last, count, atMs } = line;
  const problems: string[] = [];
  if (count < 1 || count > limit) problems.push(`${partition}@${first}-${last} was delivered with count ${count}`);
  for (let offset = first; offset <= last; offset++) {
    const accepted = records.acceptedCount[offset]!;
    if (accepted === 0 || (count <= accepted && atMs <= records.acceptedAtMs[offset]!)) continue;
    problems.push(`${partition}@${offset} was accepted at delivery ${accepted}, and delivered again (${count})`);
  }
  return problems;
}

function sumUp(
  partition: number,
  { acceptedCount, sent, deliveries, deadCount }: PartitionRecords,
  sums: { records: number; accepted: number; deadLetters: number; inDoubt: number; redeliveries: number },
): string[] {
  const problems: string[] = [];
  sums.records += acceptedCount.length;
  for (let offset = 0; offset < acceptedCount.length; offset++) {
    if (deliveries[offset]! > 1) sums.redeliveries++;
    if (acceptedCount[offset]! > 0) sums.accepted++;
    if (deadCount[offset]! > 0) sums.deadLetters++;
    if (acceptedCount[offset]! > 0 && deadCount[offset]! > 0)
      problems.push(`${partition}@${offset} was accepted and given up`);
    if (acceptedCount[offset]! > 0 || deadCount[offset]! > 0) continue;
    if (sent[offset]! > 0) sums.inDoubt++;
    else
      problems.push(
        `${partition}@${offset} is lost: neither accepted nor given up, delivered ${deliveries[offset]} times`,
      );
  }
  return problems;
}
