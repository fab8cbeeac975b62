/** Several brokers on one database, and a database that dies, falls silent, or loses its answers. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { partitionKey, type TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import {
  type CommitFileRequest,
  type CommitFileResult,
  type CoordinatorChange,
  CoordinatorError,
  type DisklessCoordinator,
} from '../../src/coordinator/diskless-coordinator.ts';
import { batch, by, file, findFrom, newUuid, topic } from '../coordinator/fixture.ts';
import { useBrokers } from './brokers-fixture.ts';
import { newSchema, usePostgres } from './postgres-harness.ts';
import { PostgresServer } from './postgres-server.ts';

const { server } = usePostgres();

/** Resolves when the coordinator tells of a change that fits. */
function heard(coordinator: DisklessCoordinator, fits: (change: CoordinatorChange) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const unsubscribe = coordinator.onChange((change) => {
      if (!fits(change)) return;
      unsubscribe();
      resolve();
    });
  });
}

/** Repeats a commit until it answers, as the engine does. */
async function commitUntilAnswered(coordinator: DisklessCoordinator, request: CommitFileRequest) {
  let unavailable = 0;
  for (;;) {
    try {
      return { ...(await coordinator.commitFile(request)), unavailable };
    } catch (error) {
      if (!(error instanceof CoordinatorError) || error.kind !== 'unavailable') throw error;
      unavailable += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

describe.skipIf(process.env.SHOAL_POSTGRES_URL)('PostgreSQL coordinator under failures', () => {
  const brokers = useBrokers(server);
  const { open, throughProxy } = brokers;

  /** Offsets dense from 0 to the end, each acknowledged batch where it was acknowledged. */
  async function expectDense(coordinator: DisklessCoordinator, of: TopicIdPartition, results: CommitFileResult[]) {
    const { coordinates, highWatermark } = await findFrom(coordinator, of, 0n);
    let next = 0n;
    for (const { baseOffset, lastOffset } of coordinates) {
      expect(baseOffset).toBe(next);
      next = lastOffset + 1n;
    }
    expect(next).toBe(highWatermark);
    const acknowledged = results.flatMap(({ batches }) => batches.map(({ baseOffset }) => baseOffset));
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    expect(BigInt(acknowledged.length)).toBe(highWatermark);
  }

  it('gives two brokers dense, disjoint offsets', async () => {
    const [one, two] = [await open(), await open()];
    const partitions = await topic(one, 3);
    const commits = Array.from({ length: 60 }, (_, i) => {
      const order = i % 2 ? partitions : [...partitions].reverse();
      return (i % 2 ? one : two).commitFile(file(order.map((of) => batch(of, 1))));
    });
    const results = await Promise.all(commits);
    for (const [index, of] of partitions.entries()) {
      const own = results.map(({ batches }, i) => ({ batches: [batches[i % 2 ? index : 2 - index]!] }));
      await expectDense(one, of, own);
    }
  });

  it('opens a new schema from many brokers at once, and gives them one cluster id and disjoint producer ids', async () => {
    const all = await Promise.all([open(), open(), open(), open()]);
    expect(new Set(all.map(({ clusterId }) => clusterId)).size).toBe(1);
    const blocks = await Promise.all(all.map((coordinator) => coordinator.allocateProducerIdBlock(10)));
    expect(new Set(blocks.map(({ firstProducerId }) => firstProducerId)).size).toBe(4);
    const epochs = await Promise.all(all.map((coordinator) => coordinator.registerUploader(1)));
    expect(new Set(epochs.map(({ epoch }) => epoch)).size).toBe(4);
  });

  it('wakes another broker: topics, commits, log starts', async () => {
    const [one, two] = [await open(), await open()];
    const topics = heard(two, ({ kind }) => kind === 'topics');
    const [a] = (await topic(one)) as [TopicIdPartition];
    await topics;
    expect(await two.listTopics()).toMatchObject([{ topicId: a.topicId }]);
    const commit = heard(
      two,
      (change) => change.kind === 'commit' && change.highWatermarks.get(partitionKey(a)) === 4n,
    );
    await one.commitFile(file([batch(a, 4)]));
    await commit;
    const start = heard(
      two,
      (change) => change.kind === 'log-start' && change.logStartOffsets.get(partitionKey(a)) === 2n,
    );
    await one.deleteRecords([{ topicIdPartition: a, beforeOffset: 2n }]);
    await start;
  });

  it('misses no commit of another broker under concurrency', async () => {
    const [one, two] = [await open(), await open()];
    const [a, b] = (await topic(one, 2)) as [TopicIdPartition, TopicIdPartition];
    const highest = new Map<string, bigint>();
    two.onChange((change) => {
      if (change.kind !== 'commit') return;
      for (const [key, offset] of change.highWatermarks) {
        if (offset > (highest.get(key) ?? 0n)) highest.set(key, offset);
      }
    });
    const last = heard(two, () => highest.get(partitionKey(a)) === 100n && highest.get(partitionKey(b)) === 100n);
    await Promise.all(Array.from({ length: 200 }, (_, i) => one.commitFile(file([batch(i % 2 ? a : b, 1)]))));
    await last;
  });

  it('finds out what became of a commit whose answer was lost, and of one that never arrived', async () => {
    const coordinator = await open({ connectionString: throughProxy() });
    const [a] = (await topic(coordinator)) as [TopicIdPartition];
    const results = [];
    for (const when of ['after', 'before'] as const) {
      const request = file([batch(a, 1, by(5n, 0, results.length))]);
      brokers.proxy.cutOn = { text: request.objectKey, when };
      results.push(await commitUntilAnswered(coordinator, request));
      expect(results.at(-1)!.unavailable).toBeGreaterThan(0);
    }
    expect(brokers.proxy.cuts).toBe(2);
    expect(results.map(({ batches }) => batches[0]!.duplicate)).toEqual([false, false]);
    await expectDense(coordinator, a, results);
  });

  it('lets an abandonment win over a commit that is lost on its way', async () => {
    const coordinator = await open({ connectionString: throughProxy() });
    const [a] = (await topic(coordinator)) as [TopicIdPartition];
    const request = file([batch(a, 1)]);
    brokers.proxy.cutOn = { text: request.objectKey, when: 'before' };
    await expect(coordinator.commitFile(request)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await coordinator.abandonFile(request.objectKey)).toEqual({ outcome: 'abandoned' });
    await expect(coordinator.commitFile(request)).rejects.toMatchObject({ kind: 'abandoned' });
  });

  it('survives a silent network: deadlines end what waits, later everything goes on, and sleepers are probed', async () => {
    const other = await open();
    const more = { connectionString: throughProxy(), connectTimeoutMs: 1_000, statementTimeoutMs: 1_000 };
    const coordinator = await open(more);
    const [a] = (await topic(other)) as [TopicIdPartition];
    const results: CommitFileResult[] = [await commitUntilAnswered(coordinator, file([batch(a, 1)]))];
    const probed = heard(coordinator, ({ kind }) => kind === 'probe');
    brokers.proxy.silent = true;
    const waiting = commitUntilAnswered(coordinator, file([batch(a, 1)]));
    await expect(findFrom(coordinator, a, 0n)).rejects.toMatchObject({ kind: 'unavailable' });
    results.push(await other.commitFile(file([batch(a, 1)])));
    brokers.proxy.silent = false;
    results.push(await waiting);
    await probed;
    await expectDense(other, a, results);
  });

  it('survives the death of the server in the middle of commits, again and again', { timeout: 120_000 }, async () => {
    const coordinator = await open({ connectTimeoutMs: 2_000, statementTimeoutMs: 5_000 });
    const [a] = (await topic(coordinator)) as [TopicIdPartition];
    const results: CommitFileResult[] = [];
    let interrupted = 0;
    let stop = false;
    const produce = async (producerId: bigint): Promise<void> => {
      for (let sequence = 0; !stop; sequence += 1) {
        const result = await commitUntilAnswered(coordinator, file([batch(a, 1, by(producerId, 0, sequence))]));
        expect(result.batches[0]).toMatchObject({ error: 0, duplicate: false });
        interrupted += result.unavailable;
        results.push(result);
      }
    };
    const producers = Promise.all([1n, 2n, 3n, 4n].map(produce));
    for (let round = 0; round < 3; round += 1) {
      const before = results.length;
      while (results.length < before + 20) await new Promise((resolve) => setTimeout(resolve, 5));
      await server().kill();
      await server().restart();
    }
    stop = true;
    await producers;
    expect(interrupted).toBeGreaterThan(0);
    await expectDense(coordinator, a, results);
  });

  it('hands no connection on that the server has just ended', async () => {
    const coordinator = await open({ maxConnections: 1 });
    const [a] = (await topic(coordinator)) as [TopicIdPartition];
    const locker = new pg.Client({ connectionString: server().url });
    await locker.connect();
    for (let round = 0; round < 5; round += 1) {
      await locker.query('BEGIN');
      await locker.query(`LOCK TABLE "${brokers.schema}".logs`);
      const deletion = coordinator.deleteRecords([{ topicIdPartition: a, beforeOffset: 0n }]);
      const ended = expect(deletion).rejects.toMatchObject({ kind: 'unavailable' });
      const next = findFrom(coordinator, a, 0n);
      const waiting = `SELECT pid FROM pg_stat_activity WHERE query LIKE '%delete_records%' AND wait_event_type = 'Lock'`;
      await expect.poll(() => server().query(waiting), { timeout: 10_000 }).toHaveLength(1);
      await server().query(`SELECT pg_terminate_backend(pid) FROM (${waiting}) blocked`);
      await ended;
      await locker.query('ROLLBACK');
      expect((await next).error).toBe(0);
    }
    await locker.end();
  });

  it('leaves a database alone that has no schema yet, or an older one, where it may not migrate', async () => {
    const looking = { schema: newSchema(), mayMigrate: false };
    await expect(open(looking)).rejects.toThrow(/no schema "\w+" of Shoal's; name the database that a broker works on/);
    expect(await server().query(`SELECT 1 FROM pg_namespace WHERE nspname = '${looking.schema}'`)).toEqual([]);
    await (await open()).close();
    await (await open({ mayMigrate: false })).close();
    await server().query(`UPDATE "${brokers.schema}".schema_version SET version = 1`);
    await expect(open({ mayMigrate: false })).rejects.toThrow(/has version 1; a broker of this Shoal brings it to/);
  });

  it('refuses a server that would lose commits, an unusable schema name, and a schema from the future', async () => {
    await expect(open({ schema: 'Bad-Name' })).rejects.toMatchObject({ kind: 'invalid' });
    await open();
    await server().query(`UPDATE "${brokers.schema}".schema_version SET version = 99`);
    await expect(open()).rejects.toThrow(/version 99, this Shoal knows up to/);
    const careless = await PostgresServer.start({ fsync: 'off' });
    await expect(open({ connectionString: careless.url })).rejects.toThrow(/fsync=off/);
    await careless.remove();
    await expect(open({ connectionString: careless.url })).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('says at once that a password is lacking, and leaves no connection behind', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'shoal-hba-'));
    const rules = join(folder, 'pg_hba.conf');
    writeFileSync(rules, 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n');
    chmodSync(folder, 0o755);
    const asking = await PostgresServer.start({ hba_file: rules });
    try {
      await asking.query(`CREATE ROLE guest LOGIN PASSWORD 'secret'`);
      const connectionString = asking.url.replace('postgres@', 'guest@');
      await expect(open({ connectionString })).rejects.toMatchObject({
        kind: 'unavailable',
        message: 'PostgreSQL: the server asks for a password; set PGPASSWORD, or put one into the URL',
      });
      const text = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE backend_type = 'client backend'`;
      await expect.poll(async () => (await asking.query(text))[0]!.n, { timeout: 20_000 }).toBe(1);
    } finally {
      await asking.remove();
      rmSync(folder, { recursive: true });
    }
  });

  it('never lets an older list of topics replace a newer one', async () => {
    const coordinator = await open({ connectionString: throughProxy() });
    brokers.proxy.holdOn = 'all_topics';
    const first = topic(coordinator);
    while (!brokers.proxy.holds) await sleep(5);
    const second = topic(coordinator);
    await Promise.race([second, sleep(300)]);
    brokers.proxy.release();
    const created = [...(await first), ...(await second)].map(({ topicId }) => topicId).sort();
    expect((await coordinator.listTopics()).map(({ topicId }) => topicId).sort()).toEqual(created);
  });

  it('works in its own schema whatever options the connection string has, and in no other’s', async () => {
    await server().query('CREATE FUNCTION public.theirs() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$');
    const options = encodeURIComponent('-c geqo=off -c search_path=public');
    const [a] = (await topic(await open({ connectionString: `${server().url}?options=${options}` }))) as [
      TopicIdPartition,
    ];
    expect(await (await open()).listTopics()).toMatchObject([{ topicId: a.topicId }]);
    await expect(open({ schema: 'public' })).rejects.toThrow(/schema "public" holds other things than Shoal's/);
    await server().query('DROP FUNCTION public.theirs()');
  });

  it('refuses for good what it cannot keep, instead of asking for it again and again', async () => {
    const coordinator = await open();
    const groupId = Array.from({ length: 400 }, newUuid).join();
    const group = { groupId, type: 'classic', epoch: 1, state: '{}' } as const;
    await expect(coordinator.storeGroup(group)).rejects.toMatchObject({ kind: 'invalid' });
    await expect(coordinator.alterConfigs('broker', { name: '\0' })).rejects.toMatchObject({ kind: 'invalid' });
    expect(await coordinator.loadGroups()).toEqual([]);
  });

  it('works for a user that may use its schema and create none', async () => {
    await server().query(`CREATE ROLE lowly LOGIN; CREATE SCHEMA "${brokers.schema}" AUTHORIZATION lowly`);
    const lowly = server().url.replace('postgres@', 'lowly@');
    for (let i = 0; i < 2; i += 1) await topic(await open({ connectionString: lowly }));
    await brokers.closeAll();
    await server().query('DROP OWNED BY lowly; DROP ROLE lowly');
  });

  it('commits durably whatever the role says, and repeats what was undone by a deadlock', async () => {
    for (const set of ['synchronous_commit = off', 'default_transaction_isolation = serializable']) {
      await server().query(`ALTER ROLE postgres SET ${set}`);
    }
    const [one, two] = [await open(), await open()];
    await server().query('ALTER ROLE postgres RESET ALL');
    const partitions = await topic(one, 4, { 'retention.bytes': '0' });
    const work = Array.from({ length: 80 }, async (_, i) => {
      const coordinator = i % 2 ? one : two;
      if (i % 8 === 7) await coordinator.enforceRetention({ maxCoordinates: 50 });
      else await coordinator.commitFile(file(partitions.map((of) => batch(of, 1))));
    });
    await Promise.all(work);
    const ends = await one.listOffsets(partitions.map((topicIdPartition) => ({ topicIdPartition, timestamp: -1n })));
    expect(ends.map(({ offset }) => offset)).toEqual([70n, 70n, 70n, 70n]);
  });
});
