/** A consumer group as it is stored: JSON, partitions by topic, bytes in base64. Written and read by the state machine only. */
import type { ConsumerMember, MemberState } from './consumer-member.ts';
import { fromTopics, type PartitionSet, type TopicPartitions, toTopics } from './partition-set.ts';

export interface ConsumerGroupSnapshot {
  readonly groupEpoch: number;
  readonly targetEpoch: number;
  readonly assignorName: string;
  readonly metadataHash: string;
  /** When it last got or lost its members, wall clock; offsets of an empty group expire from here. */
  readonly stateSinceMs: number;
  readonly members: readonly ConsumerMember[];
  readonly target: ReadonlyMap<string, PartitionSet>;
}

interface StoredMember extends Omit<ConsumerMember, 'assigned' | 'pendingRevocation' | 'classic'> {
  readonly state: MemberState;
  readonly assigned: readonly TopicPartitions[];
  readonly pendingRevocation: readonly TopicPartitions[];
  readonly classic: {
    readonly sessionTimeoutMs: number;
    readonly protocols: readonly (readonly [name: string, metadata: string])[];
  } | null;
}

interface StoredConsumerGroup extends Omit<ConsumerGroupSnapshot, 'members' | 'target'> {
  readonly members: readonly StoredMember[];
  readonly target: readonly (readonly [memberId: string, partitions: readonly TopicPartitions[]])[];
}

/** Members and partition sets are values, and most are the same from one snapshot to the next. */
const memberTexts = new WeakMap<ConsumerMember, string>();
const partitionTexts = new WeakMap<PartitionSet, string>();

export function writeConsumerSnapshot({ members, target, ...rest }: ConsumerGroupSnapshot): string {
  const memberText = members.map((member) => textOf(memberTexts, member, writeMember)).join(',');
  const targetText = [...target]
    .map(([memberId, partitions]) => `[${JSON.stringify(memberId)},${textOf(partitionTexts, partitions, toTopics)}]`)
    .join(',');
  return `${JSON.stringify(rest).slice(0, -1)},"members":[${memberText}],"target":[${targetText}]}`;
}

function textOf<T extends object>(texts: WeakMap<T, string>, value: T, write: (value: T) => unknown): string {
  let text = texts.get(value);
  if (text === undefined) {
    text = JSON.stringify(write(value));
    texts.set(value, text);
  }
  return text;
}

/** @throws SyntaxError or TypeError when `text` is not what `writeConsumerSnapshot` wrote */
export function readConsumerSnapshot(text: string): ConsumerGroupSnapshot {
  const stored = JSON.parse(text) as StoredConsumerGroup;
  return {
    ...stored,
    members: stored.members.map(readMember),
    target: new Map(stored.target.map(([memberId, partitions]) => [memberId, fromTopics(partitions)])),
  };
}

function writeMember({ assigned, pendingRevocation, classic, ...member }: ConsumerMember): StoredMember {
  const protocols = classic?.protocols.map(
    ({ name, metadata }) => [name, Buffer.from(metadata).toString('base64')] as const,
  );
  return {
    ...member,
    assigned: toTopics(assigned),
    pendingRevocation: toTopics(pendingRevocation),
    classic: classic && { sessionTimeoutMs: classic.sessionTimeoutMs, protocols: protocols ?? [] },
  };
}

function readMember({ assigned, pendingRevocation, classic, ...member }: StoredMember): ConsumerMember {
  const protocols = classic?.protocols.map(([name, metadata]) => ({
    name,
    metadata: new Uint8Array(Buffer.from(metadata, 'base64')),
  }));
  return {
    ...member,
    assigned: fromTopics(assigned),
    pendingRevocation: fromTopics(pendingRevocation),
    classic: classic && { sessionTimeoutMs: classic.sessionTimeoutMs, protocols: protocols ?? [] },
  };
}
