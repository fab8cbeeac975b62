/**
 * Several brokers, each a process of its own, on one database and one folder, while everything around them is broken at
 * random: brokers are killed and stopped, backends terminated, connections cut anywhere (also between COMMIT and its
 * answer), logs locked for longer than statements may take, the server killed and started again. Meanwhile idempotent
 * producers move between brokers with their retries, records are deleted, topics made, grown, deleted and made again under
 * the same name, retention drops by time and size, objects are deleted and given up as fast as can be. What is left is
 * compared with what was answered. SHOAL_CHAOS_SECONDS makes it longer, SHOAL_SEED repeats what it chose.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Examiner } from '../../src/cli/examination.ts';
import { type Random, randomInt, seededRandom } from '../../src/common/random.ts';
import { partitionKey, type TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { checkPostgresDatabase } from '../../src/coordinator/postgres/check-database.ts';
import { LocalDirectoryObjectStorage } from '../../src/index.ts';
import { openPostgresCoordinator } from '../../src/postgres.ts';
import { buildBatch } from '../support/record-batches.ts';
import { within } from '../support/within.ts';
import { type Answers, GRACE_MS, type Operations } from './chaos-broker.ts';
import { usePostgres } from './postgres-harness.ts';
import { TcpProxy } from './tcp-proxy.ts';

const { server } = usePostgres();
const root = join(import.meta.dirname, '../..');
const SECONDS = Number(process.env.SHOAL_CHAOS_SECONDS ?? 10);
const BROKERS = 3;
const FOLLOWED_WITHIN_MS = 20_000;

type Operation = keyof Operations;

/** A broker's process and the way to the database that only it takes. */
class Broker {
  readonly #nodeId: number;
  readonly #folder: string;
  readonly proxy: TcpProxy;
  #child: ChildProcess | undefined;
  #ready: Promise<void> = Promise.resolve();
  readonly #pending = new Map<number, { resolve: (answer: never) => void; reject: (error: Error) => void }>();
  #nextId = 0;
  #isOver = false;

  constructor(nodeId: number, folder: string, proxy: TcpProxy) {
    this.#nodeId = nodeId;
    this.#folder = folder;
    this.proxy = proxy;
  }

  isReady = false;

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): Promise<void> {
    const url = `postgres://postgres@127.0.0.1:${this.proxy.port}/postgres`;
    const env = { ...process.env, TSX_TSCONFIG_PATH: 'bench/tsconfig.json' };
    const options = { cwd: root, env, execArgv: ['--import', 'tsx'], serialization: 'advanced' as const };
    const child = fork(join(import.meta.dirname, 'chaos-broker.ts'), [url, this.#folder, `${this.#nodeId}`], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    let stderr = '';
    child.stderr!.on('data', (bytes) => {
      stderr += bytes;
    });
    this.#ready = new Promise((resolve, reject) => {
      child.on('message', (message: { ready?: true; id: number; answer?: never; failure?: string }) => {
        if (message.ready) {
          this.isReady = true;
          return resolve();
        }
        const waiting = this.#pending.get(message.id);
        this.#pending.delete(message.id);
        if (message.failure === undefined) waiting?.resolve(message.answer!);
        else waiting?.reject(new Error(message.failure));
      });
      child.once('exit', () => {
        if (this.#child === child) this.#child = undefined;
        this.isReady = false;
        for (const { reject: fail } of this.#pending.values()) fail(new Error('the broker is gone'));
        this.#pending.clear();
        reject(new Error(`the broker is gone before it was ready: ${stderr.slice(-2_000)}`));
      });
    });
    this.#ready.catch(() => {});
    return this.#ready;
  }

  /** Until it starts: its database may be away. */
  async restart(): Promise<void> {
    for (; !this.#isOver; ) {
      try {
        await this.start();
        return;
      } catch {
        await sleep(100);
      }
    }
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.kill();
    await this.proxy.close();
  }

  async call<O extends Operation>(operation: O, body: Operations[O]): Promise<Answers[O]> {
    await this.#ready;
    const child = this.#child;
    if (!child?.connected) throw new Error('the broker is gone');
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (answer: never) => void, reject });
      child.send({ id, operation, body }, (error) => {
        if (error) reject(error);
      });
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }
}

/** What was answered about one partition. */
class Ledger {
  readonly of: TopicIdPartition;
  readonly acknowledged = new Map<bigint, string>();
  readonly refused = new Set<string>();
  /** What any reader has seen; the same for ever. */
  readonly seen = new Map<bigint, string>();
  deletedBelow = 0n;
  lastAcknowledged = -1n;

  constructor(of: TopicIdPartition) {
    this.of = of;
  }

  acknowledge(baseOffset: bigint, values: readonly string[]): void {
    for (const [i, value] of values.entries()) {
      const offset = baseOffset + BigInt(i);
      const before = this.acknowledged.get(offset);
      if (before !== undefined && before !== value) fault(`${this.name} ${offset} given to ${before} and ${value}`);
      this.acknowledged.set(offset, value);
      if (offset > this.lastAcknowledged) this.lastAcknowledged = offset;
    }
  }

  see(offset: bigint, value: string): void {
    const before = this.seen.get(offset);
    if (before !== undefined && before !== value) fault(`${this.name} ${offset} read as ${before} and ${value}`);
    this.seen.set(offset, value);
  }

  get name(): string {
    return partitionKey(this.of);
  }
}

const faults: string[] = [];
function fault(text: string): void {
  faults.push(text);
}

const counts = {
  acknowledgedBatches: 0,
  retries: 0,
  duplicatesAsked: 0,
  refusedBatches: 0,
  unknownBatches: 0,
  recordsDeletions: 0,
  topicsDeleted: 0,
  partitionsAdded: 0,
  brokersKilled: 0,
  brokersStopped: 0,
  backendsTerminated: 0,
  connectionsCut: 0,
  locksHeld: 0,
  serverKills: 0,
  fetches: 0,
  recordsRead: 0,
};

describe.skipIf(process.env.SHOAL_POSTGRES_URL)('chaos', () => {
  const seed = Number(process.env.SHOAL_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const brokers: Broker[] = [];
  const ledgers = new Map<string, Ledger>();
  let folder: string;
  let stopping = false;

  beforeAll(async () => {
    process.stdout.write(`chaos seed ${seed}\n`);
    folder = mkdtempSync(join(tmpdir(), 'shoal-chaos-'));
    for (let i = 0; i < BROKERS; i += 1) brokers.push(new Broker(i, folder, await TcpProxy.listen(server().port)));
    await brokers[0]!.start();
    await Promise.all(brokers.slice(1).map((broker) => broker.start()));
  }, 60_000);
  afterAll(async () => {
    stopping = true;
    await Promise.all(brokers.map((broker) => broker.end()));
    rmSync(folder, { recursive: true, force: true });
  });

  const any = (random: Random): Broker => brokers[randomInt(random, 0, BROKERS - 1)]!;

  /** Asks any broker until one answers. */
  async function ask<O extends Operation>(random: Random, operation: O, body: Operations[O]): Promise<Answers[O]> {
    for (;;) {
      try {
        return await any(random).call(operation, body);
      } catch {
        await sleep(50);
      }
    }
  }

  async function create(random: Random, name: string, partitions: number, configs: Record<string, string>) {
    await ask(random, 'createTopic', { name, partitions, configs });
    // Made by this attempt or by one whose answer was lost; whoever is asked hears of it soon.
    for (;;) {
      const found = (await ask(random, 'topics', null)).find((one) => one.name === name);
      if (found) return addLedgers(found.topicId, found.partitions);
      await sleep(50);
      await ask(random, 'createTopic', { name, partitions, configs });
    }
  }

  function addLedgers(topicId: string, partitions: number): Ledger[] {
    return Array.from({ length: partitions }, (_, partition) => {
      const key = partitionKey({ topicId, partition });
      if (!ledgers.has(key)) ledgers.set(key, new Ledger({ topicId, partition }));
      return ledgers.get(key)!;
    });
  }

  interface Plan {
    readonly ledger: Ledger;
    readonly values: string[];
    readonly records: Uint8Array;
  }

  let written = 0;
  function plan(random: Random, ledger: Ledger, producer: { id: bigint; sequence: number } | undefined): Plan {
    const values = Array.from({ length: randomInt(random, 1, 4) }, () => `v${written++}`);
    const timestamp = random.next() < 0.05 ? -1 : Date.now() - randomInt(random, 0, 60_000);
    const records = buildBatch({
      records: values.map((value, i) => ({ value, timestampDelta: timestamp < 0 ? 0 : (i * 7) % 3 })),
      baseTimestamp: BigInt(timestamp),
      maxTimestamp: BigInt(timestamp < 0 ? -1 : timestamp + Math.max(...values.map((_, i) => (i * 7) % 3))),
      ...(producer && { producerId: producer.id, producerEpoch: 0, baseSequence: producer.sequence }),
    });
    return { ledger, values, records };
  }

  const toAppend = (plans: readonly Plan[]) => ({
    partitions: plans.map(({ ledger, records }) => ({ of: ledger.of, records })),
    timeoutMs: 5_000,
  });

  /** Sends one batch after another to each partition, each until it is acknowledged, to whichever broker. */
  async function produceIdempotently(random: Random, targets: () => readonly Ledger[], ended: () => boolean) {
    const [id] = (await ask(random, 'producerIds', null)) as [bigint];
    const sequences = new Map<Ledger, number>();
    while (!ended()) {
      const all = targets();
      const chosen = all.filter(() => random.next() < 0.6);
      let plans = chosen.map((ledger) => plan(random, ledger, { id, sequence: sequences.get(ledger) ?? 2 ** 31 - 20 }));
      const first = plans;
      while (plans.length > 0) {
        const left: Plan[] = [];
        try {
          const results = await any(random).call('append', toAppend(plans));
          for (const [i, { error, baseOffset }] of results.entries()) {
            const one = plans[i]!;
            if (error === 0) {
              one.ledger.acknowledge(baseOffset, one.values);
              counts.acknowledgedBatches += 1;
            } else if (error === 45 || error === 47) {
              fault(`${one.ledger.name}: producer ${id} was refused with ${error}`);
            } else if (error !== 3 || !ended()) left.push(one);
          }
        } catch {
          left.push(...plans);
        }
        plans = left;
        if (plans.length > 0) {
          counts.retries += 1;
          if (faults.length > 0) return;
          await sleep(randomInt(random, 1, 40));
        }
      }
      for (const { ledger, values } of first) {
        sequences.set(ledger, ((sequences.get(ledger) ?? 2 ** 31 - 20) + values.length) % 2 ** 31);
      }
      if (first.length > 0 && random.next() < 0.2) await askDuplicate(random, first, ended);
    }
  }

  async function askDuplicate(random: Random, plans: readonly Plan[], ended: () => boolean): Promise<void> {
    try {
      const results = await any(random).call('append', toAppend(plans));
      counts.duplicatesAsked += 1;
      for (const [i, { error, baseOffset }] of results.entries()) {
        if (error === 0) plans[i]!.ledger.acknowledge(baseOffset, plans[i]!.values);
        else if (error === 45 && !ended()) fault(`${plans[i]!.ledger.name}: a duplicate was refused with ${error}`);
      }
    } catch {
      // Lost with its broker.
    }
  }

  /** Sends each batch once, and takes note of what was refused for good. */
  async function produceOnce(random: Random, targets: () => readonly Ledger[]): Promise<void> {
    while (!stopping) {
      const plans = targets()
        .filter(() => random.next() < 0.5)
        .map((ledger) => plan(random, ledger, undefined));
      try {
        if (plans.length === 0) continue;
        const results = await any(random).call('append', toAppend(plans));
        for (const [i, { error, baseOffset }] of results.entries()) {
          const { ledger, values } = plans[i]!;
          if (error === 0) {
            ledger.acknowledge(baseOffset, values);
            counts.acknowledgedBatches += 1;
          } else if (error === 56) {
            counts.refusedBatches += 1;
            for (const value of values) ledger.refused.add(value);
          } else counts.unknownBatches += 1;
        }
      } catch {
        counts.unknownBatches += plans.length;
      } finally {
        await sleep(randomInt(random, 1, 50));
      }
    }
  }

  async function deleteRecords(random: Random, targets: () => readonly Ledger[]): Promise<void> {
    while (!stopping) {
      await sleep(randomInt(random, 100, 500));
      const all = targets();
      const ledger = all[randomInt(random, 0, all.length - 1)]!;
      if (ledger.lastAcknowledged < 10n) continue;
      const beforeOffset = (ledger.lastAcknowledged * BigInt(randomInt(random, 1, 9))) / 10n;
      try {
        const broker = any(random);
        const { error, lowWatermark } = await broker.call('deleteRecords', { of: ledger.of, beforeOffset });
        if (error !== 0) continue;
        counts.recordsDeletions += 1;
        if (lowWatermark > ledger.deletedBelow) ledger.deletedBelow = lowWatermark;
        const { error: below } = await broker.call('fetch', { of: ledger.of, offset: lowWatermark - 1n, maxWaitMs: 0 });
        if (below === 0) fault(`${ledger.name}: ${lowWatermark - 1n} was read after it had been deleted`);
      } catch {
        // Whether it was done is not known.
      }
    }
  }

  /** Follows a partition from its start, through whichever broker. */
  async function follow(random: Random, ledger: Ledger, end: () => bigint | undefined): Promise<void> {
    let next = 0n;
    for (;;) {
      const upTo = end();
      if (upTo !== undefined && next >= upTo) return;
      try {
        const answer = await any(random).call('fetch', { of: ledger.of, offset: next, maxWaitMs: 500 });
        counts.fetches += 1;
        if (answer.error === 1) {
          if (answer.logStartOffset < next) fault(`${ledger.name}: ${next} is said to be beyond the end`);
          next = answer.logStartOffset;
        }
        for (const { offset, value } of answer.records) {
          if (offset < next) continue;
          if (offset !== next) fault(`${ledger.name}: ${next} is followed by ${offset}`);
          ledger.see(offset, value);
          counts.recordsRead += 1;
          next = offset + 1n;
        }
        if (answer.error !== 0 && answer.error !== 1) await sleep(50);
      } catch {
        await sleep(50);
      }
    }
  }

  async function remakeTopics(random: Random): Promise<void> {
    while (!stopping) {
      const made = await create(random, 'volatile', 2, { 'retention.ms': '-1' });
      let ended = false;
      const producing = produceIdempotently(
        random,
        () => made,
        () => ended,
      );
      await sleep(randomInt(random, 300, 1_500));
      ended = true;
      const { topicId } = made[0]!.of;
      for (;;) {
        const { error } = await ask(random, 'deleteTopic', { topicId });
        if (error === 0 || error === 100) break;
      }
      counts.topicsDeleted += 1;
      await producing;
    }
  }

  async function disturb(random: Random): Promise<void> {
    const kinds = [killBroker, killBroker, stopBroker, terminate, terminate, cut, cut, cut, cut, lock, killServer];
    while (!stopping) {
      await sleep(randomInt(random, 50, 500));
      await kinds[randomInt(random, 0, kinds.length - 1)]!(random);
    }
  }

  async function killBroker(random: Random): Promise<void> {
    const broker = any(random);
    if (!broker.isReady) return;
    await broker.kill();
    counts.brokersKilled += 1;
    await sleep(randomInt(random, 0, 300));
    void broker.restart();
  }

  /** For longer than the grace, so that others take it for dead. */
  async function stopBroker(random: Random): Promise<void> {
    const { pid } = any(random);
    if (pid === undefined) return;
    process.kill(pid, 'SIGSTOP');
    counts.brokersStopped += 1;
    setTimeout(
      () => {
        try {
          process.kill(pid, 'SIGCONT');
        } catch {
          // Killed meanwhile.
        }
      },
      randomInt(random, 500, 2 * GRACE_MS),
    );
  }

  async function onServer(work: (client: pg.Client) => Promise<void>): Promise<void> {
    const client = new pg.Client({ connectionString: server().url });
    client.on('error', () => {});
    try {
      await client.connect();
      await work(client);
    } catch {
      // The server is away.
    } finally {
      await client.end().catch(() => {});
    }
  }

  async function terminate(): Promise<void> {
    await onServer(async (client) => {
      const { rowCount } = await client.query(
        `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
           WHERE application_name = 'shoal' ORDER BY state = 'active' DESC, random() LIMIT 3) chosen`,
      );
      counts.backendsTerminated += rowCount ?? 0;
    });
  }

  async function cut(random: Random): Promise<void> {
    const { proxy } = any(random);
    const texts = [
      'commit_file',
      'COMMIT',
      'abandon_file',
      'drop_step',
      'segments/',
      'delete_records',
      'notify_changes',
    ];
    const before = proxy.cuts;
    proxy.cutOn = {
      text: texts[randomInt(random, 0, texts.length - 1)]!,
      when: random.next() < 0.3 ? 'before' : 'after',
    };
    await sleep(200);
    counts.connectionsCut += proxy.cuts - before;
  }

  async function lock(random: Random): Promise<void> {
    await onServer(async (client) => {
      await client.query('BEGIN');
      await client.query('SET search_path = shoal');
      await client.query('SELECT 1 FROM logs ORDER BY random() LIMIT 3 FOR UPDATE');
      counts.locksHeld += 1;
      await sleep(randomInt(random, 100, 4_000));
    });
  }

  async function killServer(): Promise<void> {
    await server().kill();
    counts.serverKills += 1;
    await server().restart();
  }

  it('loses, doubles and invents nothing', { timeout: SECONDS * 1_000 + 240_000 }, async () => {
    const random = seededRandom(seed);
    const forever = { 'retention.ms': '-1' };
    const kept = await create(random, 'kept', 3, forever);
    const trimmed = await create(random, 'trimmed', 2, forever);
    const stamped = await create(random, 'stamped', 2, { ...forever, 'message.timestamp.type': 'LogAppendTime' });
    const small = await create(random, 'small', 2, { ...forever, 'retention.bytes': '3000' });
    const brief = await create(random, 'brief', 2, { 'retention.ms': '62000' });
    const grown = await create(random, 'grown', 1, forever);
    const all = () => [...kept, ...trimmed, ...stamped, ...small, ...brief, ...grown];
    const ended = () => stopping;
    const own = (n: number): Random => seededRandom(seed + n);
    const grow = async (): Promise<void> => {
      const turn = own(3);
      while (!stopping) {
        await sleep(2_000);
        const partitions = grown.length + 1;
        const { error } = await ask(turn, 'createPartitions', { topicId: grown[0]!.of.topicId, partitions });
        if (error !== 0 && error !== 37) continue;
        grown.push(...addLedgers(grown[0]!.of.topicId, partitions).slice(grown.length));
        counts.partitionsAdded += 1;
      }
    };
    let ends: Map<Ledger, bigint> | undefined;
    const readers = [...kept, ...trimmed, ...stamped, ...small, ...brief].map((ledger, i) =>
      follow(own(100 + i), ledger, () => ends?.get(ledger)),
    );
    const writers = [
      ...[0, 1, 2, 3].map((n) => produceIdempotently(own(10 + n), all, ended)),
      produceOnce(own(20), all),
      produceOnce(own(21), all),
      deleteRecords(own(30), () => trimmed),
      remakeTopics(own(40)),
      grow(),
    ];
    const disturbing = disturb(own(50));
    await sleep(SECONDS * 1_000);
    stopping = true;
    await disturbing;
    for (const { proxy } of brokers) proxy.cutOn = undefined;
    await within(60_000, Promise.all(writers), () => new Error('what is written does not end'));

    const listed = await ask(
      random,
      'listOffsets',
      all().map(({ of }) => ({ of, timestamp: -1n })),
    );
    ends = new Map(all().map((ledger, i) => [ledger, listed[i]!.offset]));
    await within(FOLLOWED_WITHIN_MS, Promise.all(readers), () => new Error('readers did not reach the end'));
    for (const ledger of all()) await verify(random, ledger, ends.get(ledger)!);
    await verifyObjects();
    process.stdout.write(`chaos ${JSON.stringify(counts)}\n`);
    expect(faults).toEqual([]);
  });

  /** What is there now, read from its start, against what was answered. */
  async function verify(random: Random, ledger: Ledger, end: bigint): Promise<void> {
    const { of } = ledger;
    const [first] = await ask(random, 'listOffsets', [{ of, timestamp: -2n }]);
    const start = first!.offset;
    if (start < ledger.deletedBelow) fault(`${ledger.name}: log start ${start} is below what was deleted`);
    const records: Answers['fetch']['records'] = [];
    for (let next = start; next < end; ) {
      const answer = await ask(random, 'fetch', { of, offset: next, maxWaitMs: 0 });
      if (answer.error !== 0) return fault(`${ledger.name}: ${next} cannot be read: ${answer.error}`);
      for (const record of answer.records.filter(({ offset }) => offset >= next)) {
        if (record.offset !== next) fault(`${ledger.name}: ${next} is followed by ${record.offset}`);
        records.push(record);
        next = record.offset + 1n;
      }
    }
    const values = new Set<string>();
    for (const { offset, value } of records) {
      ledger.see(offset, value);
      if (values.has(value)) fault(`${ledger.name}: ${value} is there twice`);
      if (ledger.refused.has(value)) fault(`${ledger.name}: ${value} was refused and is there`);
      values.add(value);
    }
    for (const [offset, value] of ledger.acknowledged) {
      if (offset >= start && ledger.seen.get(offset) !== value) fault(`${ledger.name}: ${value} at ${offset} is lost`);
      if (ledger.seen.has(offset) && ledger.seen.get(offset) !== value) fault(`${ledger.name}: ${offset} is another`);
    }
    await verifyTimes(random, ledger, records);
  }

  async function verifyTimes(
    random: Random,
    { of, name }: Ledger,
    records: Answers['fetch']['records'],
  ): Promise<void> {
    const greatest = records.map(({ timestamp }) => timestamp).sort((a, b) => (a < b ? 1 : -1))[0] ?? -1n;
    if (greatest < 0n) return;
    const asked = [-3n, greatest, ...Array.from({ length: 5 }, () => greatest - BigInt(randomInt(random, 0, 60_000)))];
    const answers = await ask(
      random,
      'listOffsets',
      asked.map((timestamp) => ({ of, timestamp })),
    );
    for (const [i, timestamp] of asked.entries()) {
      const least = timestamp === -3n ? greatest : timestamp;
      const expected = records.find((record) => record.timestamp >= least);
      const { offset } = answers[i]!;
      if (offset !== (expected?.offset ?? -1n))
        fault(`${name}: time ${timestamp} is at ${expected?.offset}, not ${offset}`);
    }
  }

  /** Every object is referred to, and every coordinate has its object, once the grace has passed. */
  async function verifyObjects(): Promise<void> {
    const coordinator = await openPostgresCoordinator({ connectionString: server().url });
    const storage = await LocalDirectoryObjectStorage.open(folder);
    try {
      const unneeded = async () => {
        const keys = readdirSync(join(folder, 'segments')).map((name) => `segments/${name}`);
        const files = await coordinator.describeFiles(keys);
        return keys.filter((_, i) => files[i]?.state !== 'uploaded');
      };
      await expect.poll(unneeded, { timeout: 60_000, interval: 500 }).toEqual([]);
      const { problems } = await new Examiner(coordinator, storage).run();
      for (const problem of [...problems, ...(await checkPostgresDatabase(server().url))]) fault(problem);
    } finally {
      await storage.close();
      await coordinator.close();
    }
  }
});
