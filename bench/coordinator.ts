/**
 * The Diskless Coordinator: what a commit costs against inserting its coordinates bare, what group commit saves, and that
 * no lookup or deletion step depends on the depth of the log.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommitFileRequest } from '../src/coordinator/diskless-coordinator.ts';
import { SqlDatabase } from '../src/coordinator/sqlite/driver.ts';
import { openSqliteCoordinator } from '../src/sqlite.ts';
import { benchDepth } from './coordinator/deep-log.ts';
import { benchPostgres } from './coordinator/postgres.ts';
import { BATCH_BYTES, committing, createTopic, Producers } from './coordinator/workload.ts';
import { type BenchContext, quantile } from './harness.ts';

/**
 * One transaction that inserts coordinates into the same table, with the same durability. As baseline `bare-insert` a row
 * for each batch of the commit; as `bare-insert-merged` only as many as the commit itself writes, since it makes one
 * coordinate of adjacent batches.
 */
function bareInsert(path: string, logs: number): () => Promise<number> {
  const database = new SqlDatabase(path);
  database.exec('PRAGMA locking_mode = EXCLUSIVE');
  database.exec('PRAGMA journal_mode = WAL');
  database.exec('PRAGMA synchronous = FULL');
  database.exec('PRAGMA cache_size = -65536');
  database.exec('PRAGMA wal_autocheckpoint = 4096');
  database.exec(
    `CREATE TABLE coordinates (
       log_id INTEGER NOT NULL, last_offset INTEGER NOT NULL, base_offset INTEGER NOT NULL, file_id INTEGER NOT NULL,
       position INTEGER NOT NULL, size INTEGER NOT NULL, timestamp_type INTEGER NOT NULL, append_time_ms INTEGER NOT NULL,
       max_timestamp INTEGER NOT NULL, max_timestamp_offset INTEGER NOT NULL, leader_epoch INTEGER NOT NULL,
       PRIMARY KEY (log_id, last_offset)) WITHOUT ROWID`,
  );
  const insert = database.sql('INSERT INTO coordinates VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const now = BigInt(Date.now());
  let file = 0;
  return async () => {
    database.exec('BEGIN IMMEDIATE');
    file += 1;
    for (let log = 0; log < logs; log += 1) {
      const base = BigInt(file) * 25n;
      insert.run(log, base + 24n, base, file, log * BATCH_BYTES, BATCH_BYTES, 0, now, now, base + 9n, 0);
    }
    database.exec('COMMIT');
    return logs;
  };
}

async function benchCommits(bench: BenchContext, folder: string): Promise<void> {
  const scale = bench.smoke ? 0.1 : 1;
  const [batches, partitions] = [1_500 * scale, 600 * scale];
  const coordinator = await openSqliteCoordinator({ path: join(folder, 'commits.db') });
  /** Segments over a topic of their own, in the order in which they must be committed. */
  const prepare = async (count: number, size: number, over: number): Promise<() => Promise<number>> => {
    const producers = new Producers(await createTopic(coordinator, over));
    return committing(coordinator, Array.from({ length: count }, () => producers.segment(size)).reverse());
  };
  const warm = bench.smoke ? 5 : 70;
  const subject = await prepare(bench.smoke ? 80 : 400, batches, partitions);
  const bare = bareInsert(join(folder, 'bare.db'), partitions);
  const barePerBatch = bareInsert(join(folder, 'bare-batches.db'), batches);
  // Until each log has pages of its own, a transaction dirties few of them; all sides are measured after that.
  for (let i = 0; i < warm; i += 1) for (const side of [subject, bare, barePerBatch]) await side();
  for (const clock of ['wall', 'cpu'] as const) {
    await bench.contest({
      name: `commit/sqlite/${batches}-batches${clock === 'cpu' ? '/cpu' : ''}`,
      unit: 'batches/s',
      amount: batches,
      subject,
      baselines: { 'bare-insert': barePerBatch, 'bare-insert-merged': bare },
      same: () => true,
      clock,
      roundMs: bench.smoke ? 2 : 60,
    });
  }
  const twice = await prepare(bench.smoke ? 60 : 160, batches, partitions);
  await bench.contest({
    name: `commit/sqlite/${batches * 2}-batches`,
    unit: 'batches/s',
    amount: batches * 2,
    subject: await prepare(bench.smoke ? 60 : 120, batches * 2, partitions * 2),
    baselines: { [`twice-${batches}`]: async () => (await twice()) + (await twice()) },
    roundMs: bench.smoke ? 2 : 60,
  });
  const times: number[] = [];
  const count = bench.smoke ? 5 : 100;
  const one = await prepare(count, batches, partitions);
  for (let i = 0; i < count; i += 1) {
    const start = performance.now();
    await one();
    times.push(performance.now() - start);
  }
  bench.note(
    `one commit of ${batches} batches: median ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`,
  );
  await coordinator.close();
}

async function benchGroupCommit(bench: BenchContext, folder: string): Promise<void> {
  const coordinator = await openSqliteCoordinator({ path: join(folder, 'group.db') });
  const partitions = await createTopic(coordinator, 64);
  const producers = new Producers(partitions);
  const waiting = bench.smoke ? 16 : 64;
  for (const size of [1, 16]) {
    let turn = 0;
    const segments = (): CommitFileRequest[] =>
      Array.from({ length: waiting }, () => {
        turn += size;
        const from = turn % 48;
        return producers.segment(size, partitions.slice(from, from + size));
      });
    const prepared = Array.from({ length: bench.smoke ? 60 : 320 }, segments);
    const next = (): CommitFileRequest[] => {
      const made = prepared.pop();
      if (!made) throw new Error('prepare more segments');
      return made;
    };
    await bench.contest({
      name: `group-commit/${waiting}x${size}-batch${size === 1 ? '' : 'es'}`,
      unit: 'files/s',
      amount: waiting,
      subject: async () => {
        const results = await Promise.all(next().map((one) => coordinator.commitFile(one)));
        return results.length;
      },
      baselines: {
        'one-at-a-time': async () => {
          let done = 0;
          for (const one of next()) {
            await coordinator.commitFile(one);
            done += 1;
          }
          return done;
        },
      },
      same: (a, b) => a === b,
      roundMs: bench.smoke ? 2 : 30,
      // A round is one call of the baseline, at the mercy of how long an fsync takes just then.
      ...(bench.smoke ? {} : { rounds: 25 }),
    });
  }
  await coordinator.close();
}

async function benchSqliteDepth(bench: BenchContext, folder: string): Promise<void> {
  const coordinators = [
    await openSqliteCoordinator({ path: join(folder, 'deep.db') }),
    await openSqliteCoordinator({ path: join(folder, 'shallow.db') }),
  ] as const;
  await benchDepth(bench, '', coordinators);
  for (const coordinator of coordinators) await coordinator.close();
}

export default async function benchCoordinator(bench: BenchContext): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-bench-coordinator-'));
  try {
    await benchCommits(bench, folder);
    await benchPostgres(bench);
    await benchGroupCommit(bench, folder);
    await benchSqliteDepth(bench, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
