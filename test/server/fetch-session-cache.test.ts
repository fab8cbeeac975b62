/** Which session goes when there is no slot left: Kafka's rules, by a clock that the test moves. */
import { beforeEach, expect, it } from 'vitest';
import { seededRandom } from '../../src/common/random.ts';
import type { FetchSession } from '../../src/server/fetch/fetch-session.ts';
import { FetchSessionCache } from '../../src/server/fetch/fetch-session-cache.ts';
import { EngineFixture } from '../support/engine-fixture.ts';
import { ManualTime } from '../support/manual-time.ts';

const MINUTES = 60_000;
let time: ManualTime;
let cache: FetchSessionCache;

beforeEach(async () => {
  const { engine } = await EngineFixture.open();
  time = new ManualTime();
  cache = new FetchSessionCache({ engine, time, random: seededRandom(7), maxSessions: 2, maxPartitions: 100 });
});

/** Opens a session over `size` partitions; undefined when there is no slot for it. */
function open(size: number): FetchSession | undefined {
  const session = cache.create(size, false);
  if (session) cache.update(session, () => ask(session, 0, size));
  return session;
}

function ask(session: FetchSession, first: number, count: number): void {
  const partitions = Array.from({ length: count }, (_, index) => ({
    partition: first + index,
    fetchOffset: 0n,
    partitionMaxBytes: 1,
    currentLeaderEpoch: -1,
    lastFetchedEpoch: -1,
    logStartOffset: -1n,
    replicaDirectoryId: '',
    highWatermark: 0n,
  }));
  session.update({ topics: [{ topic: 't', topicId: '', partitions }], forgottenTopicsData: [] });
}

const isThere = (session: FetchSession | undefined) => cache.get(session!.id) === session;

it('protects sessions for two minutes, then a larger one takes the smallest slot', async () => {
  const [large, small] = [open(5), open(2)];
  await time.advance(2 * MINUTES);
  expect(open(50)).toBeUndefined();
  await time.advance(1);
  cache.touch(large!);
  cache.touch(small!);
  expect(open(2)).toBeUndefined();
  expect(open(3)).toBeDefined();
  expect([isThere(large), isThere(small)]).toEqual([true, false]);
  expect(small!.isClosed).toBe(true);
  expect(cache.stats()).toEqual({ sessions: 2, partitions: 8, evictions: 1, waiting: 0 });
});

it('takes the slot of a session that nobody used for two minutes, whatever its size', async () => {
  const [left, used] = [open(50), open(2)];
  await time.advance(2 * MINUTES);
  cache.touch(used!);
  await time.advance(1);
  expect(open(1)).toBeDefined();
  expect([isThere(left), isThere(used)]).toEqual([false, true]);
});

it('counts partitions as they come and go, and makes room for them from sessions that were left', async () => {
  const [first, second] = [open(40), open(40)];
  expect(cache.update(first!, () => ask(first!, 40, 10))).toBe(true);
  expect(cache.stats().partitions).toBe(90);
  await time.advance(2 * MINUTES + 1);
  cache.touch(first!);
  expect(cache.update(first!, () => ask(first!, 50, 40))).toBe(true);
  expect([isThere(first), isThere(second)]).toEqual([true, false]);
  expect(cache.update(first!, () => ask(first!, 90, 11))).toBe(false);
  expect(cache.stats()).toEqual({ sessions: 0, partitions: 0, evictions: 1, waiting: 0 });
});

it('opens no session over nothing, and none over more than there may be', async () => {
  expect(open(0)).toBeUndefined();
  expect(open(101)).toBeUndefined();
  expect(open(100)).toBeDefined();
});

it('does not let a request wait for a change that came while it looked', async () => {
  const session = open(2)!;
  const [first] = session.takeDue(10);
  session.noteChange(first!);
  session.resume();
  // The clock stands still: only the change can end it.
  await session.nextChange(1, new AbortController().signal);
  expect(session.takeDue(10)).toEqual([first]);
});

it('closes all with itself', async () => {
  const sessions = [open(1), open(2)];
  cache.close();
  expect(sessions.map((session) => session!.isClosed)).toEqual([true, true]);
  expect(cache.stats()).toMatchObject({ sessions: 0, partitions: 0 });
});
