/**
 * Commits to PostgreSQL against inserting as many coordinate rows bare, in one round trip with the same durability, and
 * lookups and deletions in a deep log. Uses the server that SHOAL_POSTGRES_URL names, else starts one of its own (not in
 * smoke, which must run anywhere).
 */
import pg from 'pg';
import { int4Array, int8Array } from '../../src/coordinator/postgres/binary-array.ts';
import { openPostgresCoordinator } from '../../src/postgres.ts';
import { PostgresServer } from '../../test/postgres/postgres-server.ts';
import { type BenchContext, quantile } from '../harness.ts';
import { benchDepth } from './deep-log.ts';
import { committing, createTopic, Producers } from './workload.ts';

const SCHEMA = 'shoal_bench';
const WARM_UP = 40;

/** One statement, one transaction, binary parameters: the fastest way to insert so many rows from a client. */
function bareInsert(client: pg.Client, table: string, logs: number): () => Promise<number> {
  const now = Date.now();
  const rows = Array.from({ length: logs }, (_, log) => log);
  let file = 0;
  return async () => {
    file += 1;
    const base = file * 25;
    const wide = (of: (log: number) => number): Buffer => int8Array(rows, of);
    const narrow = (of: (log: number) => number): Buffer => int4Array(rows, of);
    const { rowCount } = await client.query({
      name: table,
      text: `INSERT INTO ${table} SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
        $6::int[], $7::int[], $8::bigint[], $9::bigint[], $10::bigint[], $11::int[])`,
      values: [
        wide((log) => log),
        wide(() => base + 24),
        wide(() => base),
        wide(() => file),
        wide((log) => log * 900),
        narrow(() => 900),
        narrow(() => 0),
        wide(() => now),
        wide(() => now),
        wide(() => base + 9),
        narrow(() => 0),
      ],
    });
    return rowCount!;
  };
}

async function bareTable(client: pg.Client, table: string): Promise<void> {
  await client.query(`CREATE TABLE ${table} (
    log_id bigint NOT NULL, last_offset bigint NOT NULL, base_offset bigint NOT NULL, file_id bigint NOT NULL,
    position bigint NOT NULL, size int NOT NULL, timestamp_type smallint NOT NULL, append_time_ms bigint NOT NULL,
    max_timestamp bigint NOT NULL, max_timestamp_offset bigint NOT NULL, leader_epoch int NOT NULL,
    PRIMARY KEY (log_id, last_offset))`);
}

async function benchCommits(bench: BenchContext, url: string): Promise<void> {
  const [batches, partitions] = bench.smoke ? [150, 60] : [1_500, 600];
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`);
  const coordinator = await openPostgresCoordinator({ connectionString: url, schema: SCHEMA });
  await client.query(`SET search_path = ${SCHEMA}`);
  await bareTable(client, 'bare');
  await bareTable(client, 'bare_batches');
  /** Segments over a topic of their own, in the order in which they must be committed. */
  const prepare = async (count: number, size: number, over: number): Promise<() => Promise<number>> => {
    const producers = new Producers(await createTopic(coordinator, over));
    return committing(coordinator, Array.from({ length: count }, () => producers.segment(size)).reverse());
  };
  const subject = await prepare(bench.smoke ? 60 : 300, batches, partitions);
  const [bare, bareBatches] = [bareInsert(client, 'bare', partitions), bareInsert(client, 'bare_batches', batches)];
  for (let i = 0; i < (bench.smoke ? 3 : WARM_UP); i += 1)
    for (const side of [subject, bare, bareBatches]) await side();
  await bench.contest({
    name: `commit/postgres/${batches}-batches`,
    unit: 'batches/s',
    amount: batches,
    subject,
    baselines: { 'bare-insert': bareBatches, 'bare-insert-merged': bare },
    same: () => true,
    roundMs: bench.smoke ? 2 : 100,
  });
  const once = await prepare(bench.smoke ? 60 : 200, batches, partitions);
  const twice = async (): Promise<number> => (await once()) + (await once());
  const large = await prepare(bench.smoke ? 60 : 100, batches * 2, partitions * 2);
  for (let i = 0; i < (bench.smoke ? 1 : 10); i += 1) for (const side of [large, twice]) await side();
  await bench.contest({
    name: `commit/postgres/${batches * 2}-batches`,
    unit: 'batches/s',
    amount: batches * 2,
    subject: large,
    baselines: { [`twice-${batches}`]: twice },
    roundMs: bench.smoke ? 2 : 100,
  });
  const times: number[] = [];
  for (let i = 0; i < (bench.smoke ? 3 : 50); i += 1) {
    const start = performance.now();
    await subject();
    times.push(performance.now() - start);
  }
  const [median, p99] = [quantile(times, 0.5).toFixed(1), quantile(times, 0.99).toFixed(1)];
  bench.note(`one commit of ${batches} batches to PostgreSQL: median ${median} ms, p99 ${p99} ms`);
  await coordinator.close();
  await client.query(`DROP SCHEMA ${SCHEMA} CASCADE`);
  await client.end();
}

async function benchPostgresDepth(bench: BenchContext, url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const schemas = [`${SCHEMA}_deep`, `${SCHEMA}_shallow`];
  const drop = async (): Promise<void> => {
    for (const schema of schemas) {
      await client.query(`SET client_min_messages = warning; DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    }
  };
  await drop();
  const [deep, shallow] = await Promise.all(
    schemas.map((schema) => openPostgresCoordinator({ connectionString: url, schema })),
  );
  await benchDepth(bench, 'postgres/', [deep!, shallow!]);
  await Promise.all([deep!.close(), shallow!.close()]);
  await drop();
  await client.end();
}

async function run(bench: BenchContext, url: string): Promise<void> {
  await benchCommits(bench, url);
  await benchPostgresDepth(bench, url);
}

/** The rows with `postgres` in their names. */
export async function benchPostgres(bench: BenchContext): Promise<void> {
  const given = process.env.SHOAL_POSTGRES_URL;
  if (given) return run(bench, given);
  if (bench.smoke) return;
  const server = await PostgresServer.start();
  try {
    await run(bench, server.url);
  } finally {
    await server.remove();
  }
}
