/** The traffic program of kafkajs (arguments.ts), with codecs from libraries that Shoal itself does not use. */
import { createRequire } from 'node:module';
import { compress, decompress } from '@mongodb-js/zstd';
import kafkajs from 'kafkajs';
import * as lz4 from 'lz4-napi';
import type { TrafficArguments } from './arguments.ts';
import { type ContentTopic, contentOf, contentTopic, type Headers } from './content.ts';
import type { Pace } from './pace.ts';
import { runTraffic } from './run-traffic.ts';
import type { Verifier } from './verifier.ts';

const { CompressionCodecs, CompressionTypes, Kafka, logLevel } = kafkajs;
const require = createRequire(import.meta.url);
const { version } = require('kafkajs/package.json') as { version: string };
/** Records of a partition that one request holds. */
const SEND_RECORDS = 100;
const CHECK_RECORDS = 500;

CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy') as () => unknown;
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: ({ buffer }: { buffer: Buffer }) => lz4.compressFrame(buffer),
  decompress: (buffer: Buffer) => lz4.decompressFrame(buffer),
});
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: ({ buffer }: { buffer: Buffer }) => compress(buffer, 3),
  decompress: (buffer: Buffer) => decompress(buffer),
});

const CODECS: Readonly<Record<string, kafkajs.CompressionTypes>> = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
};

const client = ({ address, client }: TrafficArguments): kafkajs.Kafka =>
  new Kafka({
    clientId: client,
    brokers: [address],
    // Goes to stderr, which is shown when the program fails.
    logLevel: logLevel.WARN,
    retry: { retries: 60, initialRetryTime: 100, maxRetryTime: 500 },
  });

/** Kafkajs has the values of one header in an array, where there are several. */
function kafkajsHeaders(headers: Headers): kafkajs.IHeaders {
  const grouped: Record<string, Buffer[]> = {};
  for (const [key, value] of headers) grouped[key] = [...(grouped[key] ?? []), value as Buffer];
  return Object.fromEntries(
    Object.entries(grouped).map(([key, values]) => [key, values.length === 1 ? values[0] : values]),
  );
}

const headersOfRead = (headers: kafkajs.IHeaders = {}): Headers =>
  Object.entries(headers).flatMap(([key, values]) =>
    [values].flat().map((value) => [key, value as Buffer | null] as const),
  );

/** What one request sends: the records of some sequences to every partition of a topic. */
function messagesOf(topic: ContentTopic, sequences: readonly number[], traffic: TrafficArguments): kafkajs.Message[] {
  return Array.from({ length: traffic.partitions }, (_, partition) =>
    sequences.map((sequence) => {
      const { key, value, headers, timestamp } = contentOf(topic, partition, sequence, traffic.baseTimestamp);
      return { partition, key, value, headers: kafkajsHeaders(headers), timestamp: String(timestamp) };
    }),
  ).flat();
}

async function produce(traffic: TrafficArguments, pace: Pace): Promise<number> {
  const producer = client(traffic).producer({ idempotent: true, maxInFlightRequests: 1 });
  await producer.connect();
  await pace.ready();
  const topics = traffic.topics.map(({ name, codec }) => ({ topic: contentTopic(name), compression: CODECS[codec]! }));
  let sent = 0;
  for (let first = 0; first < traffic.recordsPerPartition; first += SEND_RECORDS) {
    const length = Math.min(SEND_RECORDS, traffic.recordsPerPartition - first);
    const sequences = Array.from({ length }, (_, index) => first + index);
    for (const { topic, compression } of topics) {
      const messages = messagesOf(topic, sequences, traffic);
      const answers = await producer.send({ topic: topic.name, acks: -1, compression, messages });
      for (const { partition, errorCode, baseOffset } of answers)
        if (errorCode !== 0 || Number(baseOffset) !== first)
          throw new Error(`${topic.name}-${partition} answered ${errorCode}, ${baseOffset} instead of 0, ${first}`);
      sent += messages.length;
      await pace.step(sent);
    }
  }
  await producer.disconnect();
  return sent;
}

async function consume(traffic: TrafficArguments, verifier: Verifier, pace: Pace, isFirst: boolean): Promise<void> {
  const consumer = client(traffic).consumer({
    groupId: traffic.group,
    // It sends no heartbeat while it parses an answer, which on a busy machine is a matter of seconds for each MiB; a member
    // that was missed for so long joins anew and reads again what it could not commit.
    sessionTimeout: 120_000,
    maxBytes: 1 << 20,
    heartbeatInterval: 500,
  });
  await consumer.connect();
  await consumer.subscribe({ topics: traffic.topics.map(({ name }) => name), fromBeginning: true });
  // Shown when the program fails: who joins anew in the middle reads again what was not committed.
  consumer.on('consumer.group_join', () => process.stderr.write(`joined after ${verifier.records} records\n`));
  if (isFirst) await pace.ready();
  const startedPast = pace.isPastMarks;
  const isDone = (): boolean => verifier.records === verifier.total || pace.isPastMarks !== startedPast;
  const check = (
    { topic, partition }: kafkajs.Batch,
    { key, value, headers, timestamp, offset }: kafkajs.KafkaMessage,
  ) =>
    verifier.check(topic, partition, Number(offset), {
      ...{ key, value, headers: headersOfRead(headers), timestamp: Number(timestamp) },
    });
  await new Promise<void>((resolve, reject) => {
    const eachBatch = async ({ batch, heartbeat, resolveOffset }: kafkajs.EachBatchPayload): Promise<void> => {
      for (const [index, message] of batch.messages.entries()) {
        if (isDone()) return resolve();
        try {
          check(batch, message);
        } catch (error) {
          return reject(error);
        }
        resolveOffset(message.offset);
        if (index % CHECK_RECORDS === 0) await pace.step(verifier.records, heartbeat);
      }
      if (isDone()) resolve();
    };
    // A heartbeat that fails is for kafkajs to handle.
    consumer.run({ eachBatchAutoResolve: false, autoCommitInterval: 200, eachBatch }).catch(reject);
  });
  await consumer.disconnect();
}

await runTraffic({ version, produce, consume });
