/**
 * The worst beginning for an idempotent producer, with the producers that people have: requests in flight, and the PUT of
 * the first of them fails for good when those of the others are stored. The programs compare each offset and each record.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { formatEndpoint } from '../../src/server/listener.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
import { ServerFixture } from '../server/server-fixture.ts';
import { type ClientProgram, goProgram, javaProgram, nodeProgram, pythonProgram } from './install.ts';
import { type TrafficFlags, TrafficProgram, type TrafficReport } from './traffic-program.ts';

/** In Java's batches of 16 KiB more than five requests. */
const RECORDS = 6_000;
const TIMEOUT_MS = 60_000;
/** How long the first PUT waits for others: a client that keeps fewer requests in flight has none to send. */
const PATIENCE_MS = 2_000;

/**
 * A client, and how many requests it has in flight at least when the first fails. kafkajs and librdkafka never have two for
 * a partition, franz-go not before the first has succeeded.
 */
const clients: readonly [name: string, inFlight: number, program: ClientProgram][] = [
  ['kafkajs', 1, nodeProgram('programs/kafkajs.ts')],
  ['confluent-kafka', 1, pythonProgram('programs/traffic.py')],
  ['java-4.1', 5, javaProgram('4.1.2', 'Traffic')],
  ['java-4.4', 5, javaProgram('4.4.0', 'Traffic')],
  ['franz-go', 1, goProgram],
];

/** Opens a host whose first PUT fails for good once `inFlight` requests have come. */
async function openHost(inFlight: number) {
  const puts = { begun: 0, failed: 0 };
  const fixture = await ServerFixture.open({
    // A segment a request, so that the others are stored and wait behind the one that fails.
    settings: { produceCommitIntervalMs: 0, produceBufferMaxBytes: 100 },
    storage: (real) => ({
      put: async (key, body, options) => {
        puts.begun++;
        if (puts.begun !== 1) return real.put(key, body, options);
        for (let waited = 0; waited < PATIENCE_MS && puts.begun < inFlight; waited += 10) await sleep(10);
        puts.failed = puts.begun;
        throw new StorageError('denied', 'no longer allowed');
      },
    }),
  });
  await fixture.parts.createTopic('nonull.first', 1);
  return { address: formatEndpoint(fixture.server.listener), puts };
}

async function run(name: string, program: ClientProgram, flags: TrafficFlags): Promise<TrafficReport> {
  const content = { base: 1_750_000_000_000, partitions: 1, records: RECORDS, topics: 'nonull.first:none', marks: '' };
  const traffic = new TrafficProgram(name, program, { client: name, ...content, ...flags });
  try {
    await traffic.stopped(1, TIMEOUT_MS);
    traffic.goOn();
    return await traffic.report(TIMEOUT_MS);
  } finally {
    await traffic.kill();
  }
}

it.each(clients)('%s with %i in flight goes on in order', { timeout: TIMEOUT_MS * 3 }, async (name, ...rest) => {
  const [inFlight, program] = rest;
  const { address, puts } = await openHost(inFlight);
  expect((await run(name, program, { mode: 'produce', address })).records).toBe(RECORDS);
  expect(puts.failed).toBeGreaterThanOrEqual(inFlight);
  const group = { group: 'g', protocol: 'classic' };
  expect((await run(name, program, { mode: 'consume', address, ...group })).records).toBe(RECORDS);
});
