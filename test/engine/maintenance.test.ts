/** Background jobs over a real coordinator and storage in memory: what is removed, when, and what never is. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/common/logger.ts';
import { seededRandom } from '../../src/common/random.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import type { CommitFileRequest } from '../../src/coordinator/diskless-coordinator.ts';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import { MIN_TOMBSTONE_AGE_MS } from '../../src/coordinator/tombstones.ts';
import { Maintenance, type MaintenanceSettings } from '../../src/engine/maintenance.ts';
import { InMemoryObjectStorage } from '../../src/storage/in-memory-object-storage.ts';
import { type DeleteResult, type ObjectKey, StorageError } from '../../src/storage/object-storage.ts';
import { batch, file, findFrom, topic } from '../coordinator/fixture.ts';
import { ManualTime } from '../support/manual-time.ts';
import { tellsSeed } from '../support/tells-seed.ts';

const settings: MaintenanceSettings = {
  retentionCheckIntervalMs: 1_000,
  retentionStepCoordinates: 3,
  fileDeletionIntervalMs: 1_000,
  fileDeletionGraceMs: 10_000,
  fileDeletionStepFiles: 2,
  orphanSearchIntervalMs: 5_000,
  orphanGraceMs: 60_000,
  tombstoneRetentionMs: MIN_TOMBSTONE_AGE_MS,
};

/** Refuses to delete keys, as a throttling storage does. */
class ThrottlingStorage extends InMemoryObjectStorage {
  readonly refusals = new Map<ObjectKey, number>();

  override async delete(keys: readonly ObjectKey[]): Promise<DeleteResult> {
    const refused = keys.filter((key) => (this.refusals.get(key) ?? 0) > 0);
    for (const key of refused) this.refusals.set(key, this.refusals.get(key)! - 1);
    const { deleted, failed } = await super.delete(keys.filter((key) => !refused.includes(key)));
    const error = new StorageError('throttled', 'slow down');
    return { deleted, failed: [...failed, ...refused.map((key) => ({ key, error }))] };
  }
}

describe('maintenance', () => {
  let time: ManualTime;
  let coordinator: InMemoryDisklessCoordinator;
  let storage: ThrottlingStorage;
  let maintenance: Maintenance;

  beforeEach(() => {
    time = new ManualTime();
    coordinator = new InMemoryDisklessCoordinator({ time });
    storage = new ThrottlingStorage({ time });
    maintenance = new Maintenance({
      coordinator,
      objectStorage: storage,
      objectKeyPrefix: 'segments',
      time,
      random: seededRandom(1),
      logger: silentLogger,
      settings,
    });
  });
  afterEach(async () => {
    await maintenance.close();
    await coordinator.close();
    await storage.close();
  });

  async function put(request: CommitFileRequest): Promise<void> {
    await storage.put(request.objectKey, [new Uint8Array(request.sizeBytes)]);
  }
  async function putAndCommit(of: TopicIdPartition): Promise<CommitFileRequest> {
    const request = file([batch(of, 1)]);
    await put(request);
    await coordinator.commitFile(request);
    return request;
  }
  async function keys(): Promise<ObjectKey[]> {
    const found: ObjectKey[] = [];
    for await (const { key } of storage.list()) found.push(key);
    return found;
  }

  it('removes the objects of deleted records after the grace, and no other', async () => {
    maintenance.start();
    const [a] = (await topic(coordinator)) as [TopicIdPartition];
    const requests = [];
    for (let i = 0; i < 10; i += 1) requests.push(await putAndCommit(a));
    await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 7n }]);
    await time.advance(9_000);
    expect(await keys()).toHaveLength(10);
    await time.advance(5_000);
    expect(await keys()).toEqual(requests.slice(7).map(({ objectKey }) => objectKey));
    await time.advance(1_000_000);
    expect(await keys()).toHaveLength(3);
    expect(maintenance.stats()).toMatchObject({ coordinatesDeleted: 7, filesDeleted: 7, orphansAbandoned: 0 });
  });

  it('drops the coordinates of a deleted topic at once, without waiting for the interval', async () => {
    const [a] = (await topic(coordinator)) as [TopicIdPartition];
    for (let i = 0; i < 10; i += 1) await putAndCommit(a);
    maintenance.start();
    await coordinator.deleteTopics([a.topicId]);
    await time.advance(0);
    expect(maintenance.stats().coordinatesDeleted).toBe(10);
  });

  it('gives orphans up after their grace, then removes them; a commit that comes too late is refused', async () => {
    maintenance.start();
    const [a] = (await topic(coordinator)) as [TopicIdPartition];
    const kept = await putAndCommit(a);
    const orphan = file([batch(a, 1)]);
    await put(orphan);
    await storage.put('elsewhere/object', [new Uint8Array(1)]);
    await time.advance(59_000);
    expect(await coordinator.describeFiles([orphan.objectKey])).toEqual([undefined]);
    await time.advance(8_000);
    expect(await coordinator.describeFiles([orphan.objectKey])).toMatchObject([{ state: 'abandoned' }]);
    await expect(coordinator.commitFile(orphan)).rejects.toMatchObject({ kind: 'abandoned' });
    expect(await keys()).toContain(orphan.objectKey);
    await time.advance(15_000);
    expect(await keys()).toEqual(['elsewhere/object', kept.objectKey]);
    expect(maintenance.stats()).toMatchObject({ orphansAbandoned: 1, filesDeleted: 1 });
    expect((await findFrom(coordinator, a, 0n)).coordinates).toHaveLength(1);
  });

  it('leaves an object alone whose commit arrives during the search', async () => {
    const [a] = (await topic(coordinator)) as [TopicIdPartition];
    const late = file([batch(a, 1)]);
    await put(late);
    await time.advance(100_000);
    const search = maintenance.orphanStep();
    const commit = coordinator.commitFile(late).catch(() => 'refused');
    await search;
    const committed = (await commit) !== 'refused';
    await time.advance(100_000);
    await maintenance.deletionStep();
    expect((await keys()).includes(late.objectKey)).toBe(committed);
  });

  it('removes an object that lands after its key was given up and cleared', async () => {
    maintenance.start();
    const request = file([batch({ topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partition: 0 }, 1)]);
    await coordinator.abandonFile(request.objectKey);
    await time.advance(30_000);
    expect(await coordinator.filesToDelete({ graceMs: 0, limit: 10 })).toEqual([]);
    await put(request);
    await time.advance(80_000);
    expect(await keys()).toEqual([]);
    expect(maintenance.stats().lateObjectsDeleted).toBe(1);
  });

  it('forgets what is long gone; the commit of a process that was stopped all the while is refused for its age', async () => {
    const [a] = (await topic(coordinator)) as [TopicIdPartition];
    const createdMs = time.nowMs();
    const stopped = [1, 2, 3].map(() => file([batch(a, 1)], { createdMs }));
    for (const request of stopped) await put(request);
    maintenance.start();
    await time.advance(100_000);
    expect(await keys()).toEqual([]);
    await maintenance.close();
    await time.advance(MIN_TOMBSTONE_AGE_MS - 100_000);
    expect(await maintenance.forgetStep()).toBe(false);
    await time.advance(100_000);
    expect([await maintenance.forgetStep(), await maintenance.forgetStep()]).toEqual([true, false]);
    expect(maintenance.stats().tombstonesForgotten).toBe(3);
    expect(await coordinator.describeFiles(stopped.map(({ objectKey }) => objectKey))).toEqual(
      Array(3).fill(undefined),
    );
    for (const request of stopped) {
      await expect(coordinator.commitFile(request)).rejects.toMatchObject({ kind: 'abandoned' });
    }
  });

  it('survives throttled deletions, which hold up nothing else', async () => {
    const [a] = (await topic(coordinator)) as [TopicIdPartition];
    const requests = [];
    for (let i = 0; i < 8; i += 1) requests.push(await putAndCommit(a));
    for (const { objectKey } of requests.slice(0, 3)) storage.refusals.set(objectKey, 4);
    await coordinator.deleteTopics([a.topicId]);
    maintenance.start();
    await time.advance(16_000);
    expect(await keys()).toEqual(requests.slice(0, 3).map(({ objectKey }) => objectKey));
    await time.advance(60_000);
    expect(await keys()).toEqual([]);
    expect(maintenance.stats()).toMatchObject({ filesDeleted: 8, deletionsFailed: 12 });
  });

  it('forgets what it was refused once another broker has deleted it', async () => {
    const limits: number[] = [];
    const filesToDelete = coordinator.filesToDelete.bind(coordinator);
    coordinator.filesToDelete = (request) => {
      limits.push(request.limit);
      return filesToDelete(request);
    };
    for (let turn = 0; turn < 5; turn += 1) {
      const key = `segments/refused-${turn}`;
      await coordinator.abandonFile(key);
      storage.refusals.set(key, 1);
      await time.advance(10_000);
      await maintenance.deletionStep();
      await coordinator.deleteFiles([key]);
    }
    await maintenance.deletionStep();
    await maintenance.deletionStep();
    expect(maintenance.stats().deletionsFailed).toBe(5);
    expect(limits.at(-1)).toBe(settings.fileDeletionStepFiles);
  });

  it('goes on after its coordinator failed', async () => {
    let failures = 3;
    const flaky = new Proxy(coordinator, {
      get(target, name) {
        if (name === 'filesToDelete' && failures > 0) {
          return async () => {
            failures -= 1;
            throw new Error('unavailable');
          };
        }
        const value = Reflect.get(target, name) as unknown;
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const own = new Maintenance({
      coordinator: flaky,
      objectStorage: storage,
      objectKeyPrefix: 'segments',
      time,
      random: seededRandom(2),
      logger: silentLogger,
      settings,
    });
    const dead = file([batch({ topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partition: 0 }, 1)]);
    await put(dead);
    await coordinator.commitFile(dead);
    own.start();
    await time.advance(15_000);
    expect(failures).toBe(0);
    expect(await keys()).toEqual([]);
    await own.close();
  });

  it('never removes a referenced object and leaves no useless one, whatever happens in between', async () => {
    type Move = { kind: 'put' | 'commit' | 'crash' | 'delete' | 'wait' | 'late'; share: number };
    const move: fc.Arbitrary<Move> = fc.record({
      kind: fc.constantFrom('put', 'put', 'commit', 'commit', 'crash', 'delete', 'wait', 'late'),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 60 }), async (moves) => {
        maintenance.start();
        const [a] = (await topic(coordinator)) as [TopicIdPartition];
        let uploaded: CommitFileRequest[] = [];
        const crashed: CommitFileRequest[] = [];
        for (const { kind, share } of moves) {
          if (kind === 'put') {
            const request = file([batch(a, 1 + Math.floor(share * 5))]);
            await put(request);
            uploaded.push(request);
          } else if (kind === 'commit') {
            const next = uploaded.shift();
            if (next) await coordinator.commitFile(next).catch(() => undefined);
          } else if (kind === 'crash') {
            crashed.push(...uploaded);
            uploaded = [];
          } else if (kind === 'late') {
            const stopped = crashed.pop();
            if (stopped) await coordinator.commitFile(stopped).catch(() => undefined);
          } else if (kind === 'delete') {
            const { highWatermark } = await findFrom(coordinator, a, 0n);
            const beforeOffset = BigInt(Math.floor(Number(highWatermark) * share));
            await coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset }]);
          } else {
            await time.advance(share * 70_000);
          }
          await expectNothingMissing(a);
        }
        await time.advance(400_000);
        const { coordinates } = await expectNothingMissing(a);
        expect((await keys()).sort()).toEqual([...new Set(coordinates.map(({ objectKey }) => objectKey))].sort());
        await coordinator.deleteTopics([a.topicId]);
        await time.advance(100_000);
        expect(await keys()).toEqual([]);
      }),
      { ...tellsSeed(), numRuns: 20 },
    );
  });

  async function expectNothingMissing(a: TopicIdPartition) {
    const { logStartOffset } = await findFrom(coordinator, a, -1n);
    const found = await findFrom(coordinator, a, logStartOffset);
    const present = new Set(await keys());
    for (const { objectKey } of found.coordinates) expect(present.has(objectKey), objectKey).toBe(true);
    return found;
  }
});
