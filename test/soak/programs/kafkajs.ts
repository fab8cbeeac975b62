/** The soak's client program of kafkajs (arguments.ts says how it is called). */
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { type Random, randomInt, seededRandom } from '../../../src/common/random.ts';
import { openCodecs } from '../codecs.ts';
import { JournalWriter, kindOf, LANES, type Lane, recordValue } from '../journal.ts';
import { type ProgramArguments, programArguments } from './arguments.ts';

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs;
const BURST_RECORDS = 40;
const PADDING = 300;
const AHEAD_MS = 7_200_000;

const given = programArguments(process.argv.slice(2));
const journal = new JournalWriter(given.journal);
const kafka = new Kafka({
  clientId: given.name,
  brokers: [given.address],
  logLevel: logLevel.NOTHING,
  connectionTimeout: 5_000,
  requestTimeout: 20_000,
  retry: { retries: 120, initialRetryTime: 50, maxRetryTime: 1_000 },
});
const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());

const COMPRESSION = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
  plain: CompressionTypes.None,
  refused: CompressionTypes.None,
} as const satisfies Readonly<Record<Lane, kafkajs.CompressionTypes>>;

async function registerCodecs(): Promise<void> {
  const codecs = await openCodecs();
  for (const name of ['snappy', 'lz4', 'zstd'] as const) {
    CompressionCodecs[COMPRESSION[name]] = () => ({
      compress: async ({ buffer }: { buffer: Buffer }) => codecs[name].compress(buffer),
      decompress: async (buffer: Buffer) => codecs[name].decompress(buffer),
    });
  }
}

/** One producer, sending a burst to one partition at a time and waiting for its answer. */
class LaneProducer {
  readonly #lane: Lane;
  readonly #name: string;
  readonly #random: Random;
  readonly #next = new Map<string, number>();
  #producer: kafkajs.Producer | undefined;

  constructor(lane: Lane, { name, seed }: ProgramArguments) {
    this.#lane = lane;
    this.#name = `${name}.${lane}`;
    this.#random = seededRandom(seed + LANES.indexOf(lane));
  }

  async run(pauseMs: number): Promise<void> {
    while (!stopping.signal.aborted) {
      await this.#burst();
      await sleep(pauseMs * 2 * this.#random.next(), undefined, { signal: stopping.signal }).catch(() => {});
    }
    await this.#producer?.disconnect();
  }

  async #burst(): Promise<void> {
    const topic = given.topics[randomInt(this.#random, 0, given.topics.length - 1)]!;
    const partition = randomInt(this.#random, 0, topic.partitions - 1);
    const at = `${topic.name} ${partition}`;
    const first = this.#next.get(at) ?? 0;
    const count = this.#lane === 'refused' ? 1 : randomInt(this.#random, 1, BURST_RECORDS);
    this.#next.set(at, first + count);
    const numbers = Array.from({ length: count }, (_, index) => first + index);
    const line = (letter: string, number: number, ...more: (string | number)[]) =>
      [letter, Date.now(), this.#name, topic.name, partition, number, ...more] as const;
    const sentMs = Date.now();
    const timestamp = String(sentMs + (this.#lane === 'refused' ? AHEAD_MS : 0));
    const messages = numbers.map((number) => {
      const padding = randomInt(this.#random, 0, PADDING);
      return { partition, timestamp, value: recordValue(this.#name, topic.name, partition, number, padding) };
    });
    journal.write(...numbers.map((number) => line('S', number)));
    try {
      this.#producer ??= await this.#connect();
      const [answer] = await this.#producer.send({
        topic: topic.name,
        acks: -1,
        compression: COMPRESSION[this.#lane],
        messages,
      });
      const base = Number(answer!.baseOffset);
      if (this.#lane === 'refused') journal.write(line('R', first, 'accepted'));
      else journal.write(...numbers.map((number, index) => line('A', number, base + index, sentMs)));
    } catch (error) {
      const letter = this.#lane === 'refused' ? 'R' : 'F';
      journal.write(...numbers.map((number) => line(letter, number, describe(error))));
      // Whatever happened to these, their sequence numbers must not be used for others: a fresh producer id.
      await this.#producer?.disconnect().catch(() => {});
      this.#producer = undefined;
    }
  }

  async #connect(): Promise<kafkajs.Producer> {
    const idempotent = this.#lane !== 'plain' && this.#lane !== 'refused';
    const producer = kafka.producer({ idempotent, maxInFlightRequests: 1, allowAutoTopicCreation: false });
    await producer.connect();
    return producer;
  }
}

/** The innermost error's Kafka name, or its message. */
function describe(error: unknown): string {
  const { type, message, cause } = error as { type?: string; message?: string; cause?: unknown };
  if (cause instanceof Error) return describe(cause);
  return (type ?? message ?? String(error)).replaceAll(/\s+/g, '-');
}

async function produce(): Promise<void> {
  const pauseMs = (1000 * (BURST_RECORDS / 2) * (LANES.length - 1)) / given.rate;
  await Promise.all(LANES.map((lane) => new LaneProducer(lane, given).run(pauseMs)));
}

const line = (letter: string, ...more: (string | number)[]) => [letter, Date.now(), given.name, ...more] as const;

/** One consumer after another: kafkajs starts one again after most errors, and leaves it stopped after some. */
async function consume(): Promise<void> {
  journal.write(line('M'));
  while (!stopping.signal.aborted) {
    try {
      await runConsumer();
    } catch (error) {
      journal.write(line('E', describe(error)));
    }
    await sleep(200);
  }
}

async function runConsumer(): Promise<void> {
  const consumer = kafka.consumer({
    groupId: `soak-${kindOf(given.name)}`,
    sessionTimeout: 6_000,
    rebalanceTimeout: 10_000,
    heartbeatInterval: 500,
    maxWaitTimeInMs: 200,
    allowAutoTopicCreation: false,
    retry: { retries: 120, initialRetryTime: 50, maxRetryTime: 1_000 },
  });
  const ended = writeEvents(consumer);
  try {
    await consumer.connect();
    // Refused while one of the topics is deleted.
    await consumer.subscribe({ topics: given.topics.map(({ name }) => name), fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      partitionsConsumedConcurrently: 3,
      eachBatch: async ({ batch: { topic, partition, messages }, resolveOffset, heartbeat }) => {
        const consumed = messages.map(({ offset, value }) => {
          const [producer, , , number] = String(value).split('|');
          return line('C', topic, partition, offset, producer!, number!);
        });
        journal.write(...consumed);
        const last = messages.at(-1);
        if (!last) return;
        resolveOffset(last.offset);
        await heartbeat();
        await consumer.commitOffsets([{ topic, partition, offset: String(Number(last.offset) + 1) }]);
      },
    });
    await ended;
  } finally {
    await consumer.disconnect();
  }
}

/** Writes a consumer's events down. Resolves when it is to stop, or has stopped for good. */
function writeEvents(consumer: kafkajs.Consumer): Promise<void> {
  consumer.on('consumer.group_join', ({ payload }) => {
    const assigned = Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => line('+', topic, partition)),
    );
    journal.write(...assigned);
  });
  // commitOffsets itself also resolves when it has done nothing, since the consumer is stopping.
  consumer.on('consumer.commit_offsets', ({ payload: { topics } }) => {
    for (const { topic, partitions } of topics) {
      journal.write(...partitions.map(({ partition, offset }) => line('K', topic, partition, offset)));
    }
  });
  return new Promise((resolve) => {
    stopping.signal.addEventListener('abort', () => resolve());
    consumer.on('consumer.crash', ({ payload: { error, restart } }) => {
      journal.write(line('E', describe(error)));
      if (!restart) resolve();
    });
  });
}

await registerCodecs();
await (given.mode === 'produce' ? produce() : consume());
process.exit(0);
