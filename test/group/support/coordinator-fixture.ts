/** A GroupCoordinator over the in-memory coordinator, with time that only moves when a test says so. */
import { silentLogger } from '../../../src/common/logger.ts';
import { seededRandom } from '../../../src/common/random.ts';
import type { TopicIdPartition } from '../../../src/common/topic-id-partition.ts';
import { ListOffsetsTimestamp } from '../../../src/coordinator/diskless-coordinator.ts';
import type { GroupStore } from '../../../src/coordinator/group-store.ts';
import { InMemoryDisklessCoordinator } from '../../../src/coordinator/in-memory-diskless-coordinator.ts';
import type { ShareStateStore } from '../../../src/coordinator/share-state-store.ts';
import type { JoinGroupResult } from '../../../src/group/classic/classic-requests.ts';
import { GroupCoordinator } from '../../../src/group/group-coordinator.ts';
import type { GroupCoordinatorStore } from '../../../src/group/group-registry.ts';
import type { GroupSettings } from '../../../src/group/group-settings.ts';
import { StoredSharePersister } from '../../../src/share/persister.ts';
import { ShareOffsets } from '../../../src/share/share-offsets.ts';
import { intercept } from '../../support/intercept.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { joinRequest } from './classic-driver.ts';
import { topicIdOf } from './consumer-driver.ts';

export interface Fixture {
  readonly time: ManualTime;
  readonly store: InMemoryDisklessCoordinator;
  groups: GroupCoordinator;
  /** The process goes down without a word; another one opens the same store. */
  restart(): Promise<void>;
}

export const PARTITIONS = 4;
export const topic = 'orders';

export function at(partition: number): TopicIdPartition {
  return { topicId: topicIdOf(topic), partition };
}

export async function fixture(
  settings: Partial<GroupSettings> = {},
  overrides: (store: GroupStore) => Partial<GroupStore> = () => ({}),
  shareOverrides: (store: ShareStateStore) => Partial<ShareStateStore> = () => ({}),
): Promise<Fixture> {
  const time = new ManualTime();
  const store = new InMemoryDisklessCoordinator({ time, random: seededRandom(1) });
  await store.createTopics([{ topicId: topicIdOf(topic), name: topic, partitions: PARTITIONS, configs: {} }]);
  const listTopics = (): ReturnType<typeof store.listTopics> => store.listTopics();
  const components = {
    store: intercept<GroupCoordinatorStore>(store, overrides(store)),
    shareStates: new ShareOffsets({
      persister: new StoredSharePersister(intercept<ShareStateStore>(store, shareOverrides(store))),
      store,
      // Nothing is loaded: the share partitions are led by another process.
      partitions: { all: () => [].values(), get: () => undefined, forget: () => {} },
      time,
      logEndOffsets: (partitions) =>
        store.listOffsets(
          partitions.map((topicIdPartition) => ({ topicIdPartition, timestamp: ListOffsetsTimestamp.latest })),
        ),
    }),
    listTopics,
    time,
    logger: silentLogger,
  };
  let seed = 0;
  const open = (): Promise<GroupCoordinator> => {
    seed += 1;
    return GroupCoordinator.open({ ...components, random: seededRandom(seed) }, settings);
  };
  const made: Fixture = {
    time,
    store,
    groups: await open(),
    async restart() {
      made.groups = await open();
    },
  };
  return made;
}

/** One member of a stable group. */
export async function stableMember(groups: GroupCoordinator, fields = {}): Promise<JoinGroupResult> {
  const joined = await groups.joinGroup(joinRequest(fields));
  const assignments = joined.members.map(({ memberId }) => ({ memberId, assignment: new Uint8Array([1]) }));
  await groups.syncGroup(syncOf(joined, assignments));
  return joined;
}

export function syncOf(
  { memberId, generationId }: JoinGroupResult,
  assignments: readonly { memberId: string; assignment: Uint8Array }[] = [],
) {
  const identity = { groupId: 'g', memberId, generationId, groupInstanceId: null };
  return { ...identity, protocolType: null, protocolName: null, assignments };
}

/** A subscription of the protocol "consumer", version 1. */
export function subscriptionBytes(
  topics: readonly string[],
  owned: readonly (readonly [string, number[]])[] = [],
): Uint8Array {
  const parts: Buffer[] = [];
  const int16 = (value: number): void => void parts.push(Buffer.from([value >> 8, value & 0xff]));
  const int32 = (value: number): void => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    parts.push(bytes);
  };
  const string = (value: string): void => {
    int16(value.length);
    parts.push(Buffer.from(value));
  };
  int16(1);
  int32(topics.length);
  topics.forEach(string);
  int32(-1);
  int32(owned.length);
  for (const [name, partitions] of owned) {
    string(name);
    int32(partitions.length);
    partitions.forEach(int32);
  }
  return new Uint8Array(Buffer.concat(parts));
}
