/** What must not be kept for ever in the database, looked at in its tables. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import { MIN_TOMBSTONE_AGE_MS } from '../../src/coordinator/tombstones.ts';
import { openPostgresCoordinator } from '../../src/postgres.ts';
import { batch, by, file, retainAll, SettableTime, topic } from '../coordinator/fixture.ts';
import { newSchema, query, usePostgres } from './postgres-harness.ts';

const { url } = usePostgres();
const EXPIRATION_MS = 1_000;

let schema: string;
let time: SettableTime;
let coordinator: DisklessCoordinator;
beforeEach(async () => {
  schema = newSchema();
  time = new SettableTime();
  const settings = { producerIdExpirationMs: EXPIRATION_MS, time, schema };
  coordinator = await openPostgresCoordinator({ ...settings, connectionString: url() });
});
afterEach(() => coordinator.close());

async function rowsOf(table: string): Promise<number> {
  return (await query(url(), `SELECT 1 FROM ${schema}.${table}`)).length;
}

it('forgets producers that have expired, and no other; they may go on with any sequence', async () => {
  const [a, b] = await topic(coordinator, 2);
  await coordinator.commitFile(
    file([batch(a!, 1, by(1n, 0, 0)), batch(a!, 1, by(2n, 0, 0)), batch(b!, 1, by(1n, 0, 0))]),
  );
  await retainAll(coordinator);
  time.ms += EXPIRATION_MS - 1;
  await coordinator.commitFile(file([batch(a!, 1, by(2n, 0, 1))]));
  time.ms += 1;
  await retainAll(coordinator);
  expect(await rowsOf('producers')).toBe(1);
  expect(await coordinator.describeProducers([a!, b!])).toMatchObject([[{ producerId: 2n, lastSequence: 1 }], []]);
  const requests = [batch(a!, 1, by(1n, 0, 77)), batch(a!, 1, by(2n, 0, 2))];
  expect((await coordinator.commitFile(file(requests))).batches.map(({ error }) => error)).toEqual([0, 0]);
});

it('leaves nothing of a topic that was deleted, once its objects are gone and forgotten', async () => {
  const [a] = await topic(coordinator);
  const requests = Array.from({ length: 130 }, (_, i) => file([batch(a!, 1, by(1n, 0, i))]));
  for (const request of requests) await coordinator.commitFile(request);
  await coordinator.deleteTopics([a!.topicId]);
  await retainAll(coordinator);
  for (const table of ['topics', 'logs', 'coordinates', 'time_index', 'producers']) expect(await rowsOf(table)).toBe(0);
  expect(await rowsOf('files')).toBe(requests.length);
  await coordinator.deleteFiles(requests.map(({ objectKey }) => objectKey));
  time.ms += MIN_TOMBSTONE_AGE_MS;
  expect(await coordinator.forgetFiles({ olderThanMs: MIN_TOMBSTONE_AGE_MS, limit: 1_000 })).toBe(requests.length);
  expect(await rowsOf('files')).toBe(0);
});
