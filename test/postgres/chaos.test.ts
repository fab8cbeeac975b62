/**
 * Several brokers, each a process of its own, on one database and one folder, while everything around them is broken at
 * random: brokers are killed and stopped, backends terminated, connections cut anywhere (also between COMMIT and its
 * answer), logs locked for longer than statements may take, the server killed and started again. Meanwhile idempotent
 * producers move between brokers with their retries, records are deleted, topics made, grown, deleted and made again under
 * the same name, retention drops by time and size, objects are deleted and given up as fast as can be. What is left is
 * compared with what was answered. SHOAL_CHAOS_SECONDS makes it longer, SHOAL_SEED repeats what it chose.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../src/common/random.ts';
import { within } from '../support/within.ts';
import { Broker } from './chaos/broker.ts';
import { disturb } from './chaos/disturbances.ts';
import type { Ledger } from './chaos/ledger.ts';
import { produceIdempotently, produceOnce } from './chaos/producers.ts';
import { Stage } from './chaos/stage.ts';
import { deleteRecords, follow, grow, remakeTopics } from './chaos/topics.ts';
import { verify, verifyObjects } from './chaos/verify.ts';
import { usePostgres } from './postgres-harness.ts';
import { TcpProxy } from './tcp-proxy.ts';

const { server } = usePostgres();
const SECONDS = Number(process.env.SHOAL_CHAOS_SECONDS ?? 10);
const BROKERS = 3;
const PRODUCERS = 4;
const WRITTEN_WITHIN_MS = 150_000;
const FOLLOWED_WITHIN_MS = 150_000;

describe.skipIf(process.env.SHOAL_POSTGRES_URL)('chaos', () => {
  const seed = Number(process.env.SHOAL_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const own = (n: number): Random => seededRandom(seed + n);
  const brokers: Broker[] = [];
  let folder: string;

  beforeAll(async () => {
    process.stdout.write(`chaos seed ${seed}\n`);
    folder = mkdtempSync(join(tmpdir(), 'shoal-chaos-'));
    // Two of them have the same node id, which nobody is kept from.
    for (let i = 0; i < BROKERS; i += 1) brokers.push(new Broker(i % 2, folder, await TcpProxy.listen(server().port)));
    await Promise.all(brokers.map((broker) => broker.start()));
  });
  afterAll(async () => {
    await Promise.all(brokers.map((broker) => broker.end()));
    rmSync(folder, { recursive: true, force: true });
  });

  it('loses, doubles and invents nothing', { timeout: SECONDS * 1_000 + 600_000 }, async () => {
    const stage = new Stage(brokers, server());
    const random = own(0);
    const forever = { 'retention.ms': '-1' };
    const trimmed = await stage.create(random, 'trimmed', 2, forever);
    const grown = await stage.create(random, 'grown', 1, forever);
    const read = [
      ...trimmed,
      ...(await stage.create(random, 'kept', 3, forever)),
      ...(await stage.create(random, 'stamped', 2, { ...forever, 'message.timestamp.type': 'LogAppendTime' })),
      ...(await stage.create(random, 'small', 2, { ...forever, 'retention.bytes': '3000' })),
      ...(await stage.create(random, 'brief', 2, { 'retention.ms': '62000' })),
    ];
    const all = () => [...read, ...grown];
    let ends: Map<Ledger, bigint> | undefined;
    const readers = read.map((ledger, i) => follow(stage, own(100 + i), ledger, () => ends?.get(ledger)));
    const writers = [
      ...Array.from({ length: PRODUCERS }, (_, n) => {
        return produceIdempotently(stage, own(10 + n), all, () => stage.stopping);
      }),
      produceOnce(stage, own(20), all),
      produceOnce(stage, own(21), all),
      deleteRecords(stage, own(30), () => trimmed),
      remakeTopics(stage, own(40)),
      grow(stage, own(41), grown),
    ];
    const disturbing = disturb(stage, own(50));
    await sleep(SECONDS * 1_000);
    stage.stopping = true;
    await disturbing;
    for (const { proxy } of brokers) proxy.cutOn = undefined;
    await within(WRITTEN_WITHIN_MS, Promise.all(writers), () => new Error('what is written does not end'));

    const latest = all().map(({ of }) => ({ of, timestamp: -1n }));
    const listed = await stage.ask(random, 'listOffsets', latest);
    ends = new Map(all().map((ledger, i) => [ledger, listed[i]!.offset]));
    await within(FOLLOWED_WITHIN_MS, Promise.all(readers), () => new Error('readers did not reach the end'));
    for (const [ledger, end] of ends) await verify(stage, random, ledger, end);
    await verifyObjects(stage, folder);
    process.stdout.write(`chaos ${JSON.stringify(stage.counts)}\n`);
    expect(stage.faults).toEqual([]);
    expect(stage.counts.acknowledgedBatches).toBeGreaterThan(0);
    expect(stage.disturbances).toBeGreaterThan(0);
  });
});
