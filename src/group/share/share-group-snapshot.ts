/** A share group as it is stored: JSON, partitions by topic. Written and read by the state machine only. */
import type { Uuid } from '../../common/uuid.ts';
import { fromTopics, type PartitionSet, type TopicPartitions, toTopics } from '../consumer/partition-set.ts';
import type { ShareMember } from './share-member.ts';

export interface ShareGroupSnapshot {
  readonly groupEpoch: number;
  readonly targetEpoch: number;
  readonly metadataHash: string;
  /** When it last got or lost its members, wall clock. */
  readonly stateSinceMs: number;
  readonly members: readonly ShareMember[];
  readonly target: ReadonlyMap<string, PartitionSet>;
  /** Topics whose share partitions have a state, and how many of them. */
  readonly initialized: ReadonlyMap<Uuid, number>;
}

interface StoredShareGroup extends Omit<ShareGroupSnapshot, 'members' | 'target' | 'initialized'> {
  readonly members: readonly (Omit<ShareMember, 'assigned'> & { readonly assigned: readonly TopicPartitions[] })[];
  readonly target: readonly (readonly [memberId: string, partitions: readonly TopicPartitions[]])[];
  readonly initialized: readonly (readonly [topicId: Uuid, partitions: number])[];
}

export function writeShareSnapshot({ members, target, initialized, ...rest }: ShareGroupSnapshot): string {
  const stored: StoredShareGroup = {
    ...rest,
    members: members.map((member) => ({ ...member, assigned: toTopics(member.assigned) })),
    target: [...target].map(([memberId, partitions]) => [memberId, toTopics(partitions)]),
    initialized: [...initialized],
  };
  return JSON.stringify(stored);
}

/** @throws SyntaxError or TypeError when `text` is not what `writeShareSnapshot` wrote */
export function readShareSnapshot(text: string): ShareGroupSnapshot {
  const stored = JSON.parse(text) as StoredShareGroup;
  return {
    ...stored,
    members: stored.members.map((member) => ({ ...member, assigned: fromTopics(member.assigned) })),
    target: new Map(stored.target.map(([memberId, partitions]) => [memberId, fromTopics(partitions)])),
    initialized: new Map(stored.initialized),
  };
}
