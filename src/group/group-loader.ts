/** From stored groups to state machines. */
import type { StoredGroup } from '../coordinator/group-store.ts';
import { ClassicGroup } from './classic/classic-group.ts';
import { readClassicSnapshot } from './classic/classic-group-snapshot.ts';
import { ConsumerGroup } from './consumer/consumer-group.ts';
import { readConsumerSnapshot } from './consumer/consumer-group-snapshot.ts';
import type { GroupContext, Instant } from './group.ts';
import { ShareGroup } from './share/share-group.ts';
import { readShareSnapshot } from './share/share-group-snapshot.ts';
import type { TopicIndex } from './topic-index.ts';

export type Group = ClassicGroup | ConsumerGroup | ShareGroup;

/** The machine of a stored group. @throws Error naming the group when its state cannot be read */
export function loadGroup(
  { groupId, type, state }: StoredGroup,
  topics: TopicIndex,
  context: GroupContext,
  now: Instant,
): Group {
  try {
    if (type === 'classic') return ClassicGroup.restore(groupId, readClassicSnapshot(state), context, now);
    if (type === 'consumer') return ConsumerGroup.restore(groupId, readConsumerSnapshot(state), topics, context, now);
    return ShareGroup.restore(groupId, readShareSnapshot(state), topics, context, now);
  } catch (cause) {
    throw new Error(`the stored state of group "${groupId}" cannot be read: ${String(cause)}`, { cause });
  }
}
