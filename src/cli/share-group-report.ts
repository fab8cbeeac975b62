/**
 * What a running broker says of a share group, put together: members and offsets from Kafka's own APIs, records in flight
 * from the host's own (DescribeInFlightRecords), which another broker does not have.
 */
import { Errors } from '../common/errors.ts';
import { partitionKey } from '../common/topic-id-partition.ts';
import type { ResponseRead } from '../protocol/api.ts';
import { describeInFlightRecords } from '../protocol/messages/describe-in-flight-records.ts';
import { describeShareGroupOffsets } from '../protocol/messages/describe-share-group-offsets.ts';
import { shareGroupDescribe } from '../protocol/messages/share-group-describe.ts';
import { CliError } from './command.ts';
import { type KafkaClient, requireNone } from './kafka-client.ts';

export interface ShareGroupReport {
  readonly group: string;
  readonly state: string;
  readonly groupEpoch: number;
  readonly members: readonly MemberReport[];
  readonly partitions: readonly SharePartitionReport[];
}

export interface MemberReport {
  readonly memberId: string;
  readonly clientId: string;
  readonly host: string;
  readonly memberEpoch: number;
  readonly subscribedTopics: readonly string[];
  readonly assignment: readonly { readonly topic: string; readonly partitions: readonly number[] }[];
}

/** Offsets and counts as numbers: JSON has no others. */
export interface SharePartitionReport {
  readonly topic: string;
  readonly partition: number;
  /** null: nothing was fetched yet. */
  readonly startOffset: number | null;
  readonly lag: number | null;
  /** null when the partition is not loaded. */
  readonly inFlight: InFlightReport | null;
}

export interface InFlightReport {
  readonly nextOffset: number;
  readonly held: number;
  readonly waiting: number;
  readonly done: number;
  readonly deliveries: readonly { readonly deliveryCount: number; readonly records: number }[];
  readonly runs: readonly RunReport[];
  readonly runsLeftOut: number;
}

export interface RunReport {
  readonly firstOffset: number;
  readonly lastOffset: number;
  readonly state: string;
  readonly deliveryCount: number;
  readonly memberId: string | null;
  readonly lockRemainingMs: number | null;
}

type Tracked = ResponseRead<typeof describeInFlightRecords>['partitions'][number];

/** As many runs of each partition as a person or a program will look at. */
const MAX_RUNS = 10_000;
const STATES = ['available', 'acquired', 'acknowledged', 'archiving', 'archived'];

/** @throws CliError when there is no such group */
export async function readShareGroup(client: KafkaClient, groupId: string): Promise<ShareGroupReport> {
  const described = await client.call(shareGroupDescribe, { groupIds: [groupId], includeAuthorizedOperations: false });
  const group = described.groups[0]!;
  if (group.errorCode === Errors.GROUP_ID_NOT_FOUND) {
    throw new CliError(`${groupId} is not a share group of this broker; shoal groups lists those that there are`);
  }
  requireNone(group.errorCode, group.errorMessage, `share group ${groupId}`);
  const offsets = await client.call(describeShareGroupOffsets, { groups: [{ groupId, topics: null }] });
  requireNone(offsets.groups[0]!.errorCode, offsets.groups[0]!.errorMessage, `offsets of ${groupId}`);
  const tracked = await client.callUnadvertised(describeInFlightRecords, { groupId, maxRuns: MAX_RUNS });
  const byKey = new Map(tracked?.partitions.map((one) => [keyOf(one), one]));
  const partitions = offsets.groups[0]!.topics.flatMap(({ topicName, topicId, partitions: all }) =>
    all.map(({ partitionIndex, startOffset, lag }): SharePartitionReport => {
      const found = byKey.get(keyOf({ topicId, partitionIndex }));
      return {
        topic: topicName,
        partition: partitionIndex,
        startOffset: startOffset < 0n ? null : Number(startOffset),
        lag: lag < 0n ? null : Number(lag),
        inFlight: found ? inFlight(found) : null,
      };
    }),
  );
  const { groupState, groupEpoch, members } = group;
  return {
    group: groupId,
    state: groupState,
    groupEpoch,
    members: members.map(member),
    partitions: partitions.sort((a, b) =>
      a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1,
    ),
  };
}

function keyOf({ topicId, partitionIndex }: { readonly topicId: string; readonly partitionIndex: number }): string {
  return partitionKey({ topicId, partition: partitionIndex });
}

function member(described: ResponseRead<typeof shareGroupDescribe>['groups'][number]['members'][number]): MemberReport {
  const { memberId, clientId, clientHost, memberEpoch, subscribedTopicNames, assignment } = described;
  return {
    memberId,
    clientId,
    host: clientHost,
    memberEpoch,
    subscribedTopics: subscribedTopicNames,
    assignment: assignment.topicPartitions.map(({ topicName, partitions }) => ({ topic: topicName, partitions })),
  };
}

function inFlight({
  nextOffset,
  acquired,
  available,
  complete,
  deliveries,
  runs,
  runsLeftOut,
}: Tracked): InFlightReport {
  return {
    nextOffset: Number(nextOffset),
    held: acquired,
    waiting: available,
    done: complete,
    deliveries,
    runs: runs.map(({ firstOffset, lastOffset, state, deliveryCount, memberId, lockRemainingMs }) => ({
      firstOffset: Number(firstOffset),
      lastOffset: Number(lastOffset),
      state: STATES[state] ?? String(state),
      deliveryCount,
      memberId: memberId === '' ? null : memberId,
      lockRemainingMs: lockRemainingMs < 0 ? null : lockRemainingMs,
    })),
    runsLeftOut,
  };
}
