/** From stored groups to state machines. */
import type { StoredGroup } from '../coordinator/group-store.ts';
import { ClassicGroup } from './classic/classic-group.ts';
import { readClassicSnapshot } from './classic/classic-group-snapshot.ts';
import type { GroupContext, Instant } from './group.ts';

export type Group = ClassicGroup;

/**
 * The machine of a stored group; undefined for a type that this coordinator does not run (share groups).
 * @throws Error naming the group when its state cannot be read
 */
export function loadGroup(stored: StoredGroup, context: GroupContext, now: Instant): Group | undefined {
  try {
    if (stored.type !== 'classic') return undefined;
    return ClassicGroup.restore(stored.groupId, readClassicSnapshot(stored.state), context, now);
  } catch (cause) {
    throw new Error(`the stored state of group "${stored.groupId}" cannot be read: ${String(cause)}`, { cause });
  }
}
