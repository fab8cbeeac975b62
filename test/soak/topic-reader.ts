/**
 * Reads topics over the wire with nothing of a client's leniency: every batch's CRC is computed, every offset must follow
 * the one before, and high watermark and log start may never go back, whatever happens to the broker. Topics are followed by
 * id, so that a topic that was deleted and created again is another. Runs in the verifier's process.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import crc32c from 'crc-32/crc32c.js';
import { type ErrorCode, Errors, errorName } from '../../src/common/errors.ts';
import { apis } from '../../src/protocol/apis.ts';
import { parseEndpoint } from '../../src/server/listener.ts';
import { WireClient } from '../server/wire-client.ts';
import { recordsOfBatch } from '../support/read-records.ts';
import { within } from '../support/within.ts';
import type { Codecs } from './codecs.ts';
import { CODECS, type Codec, type RecordName, recordName } from './journal.ts';
import { FOREIGN, PartitionLog } from './partition-log.ts';

const FETCH_VERSION = 13;
const RETRY_MS = 100;
/** After which a broker that does not answer is asked anew. */
const ANSWER_MS = 15_000;
const HEADER_BYTES = 61;

export interface Problem {
  readonly invariant: string;
  readonly text: string;
}

interface Followed {
  readonly log: PartitionLog;
  next: number;
  /** −1 until it was told. */
  highWatermark: number;
  logStartOffset: number;
}

export interface ReaderOptions {
  readonly address: string;
  readonly topics: readonly string[];
  readonly codecs: Codecs;
}

export class TopicReader {
  readonly #options: ReaderOptions;
  readonly #followed = new Map<string, Followed>();
  #client: WireClient | undefined;
  /** Topic ids that exist now, as far as is known. */
  #live = new Map<string, { readonly topic: string; readonly partitions: number }>();
  readonly problems: Problem[] = [];
  /** Batches by codec, and how often watermarks were compared. */
  readonly batches = new Map<Codec, number>();
  samples = 0;
  /** Why it last had to begin anew: the host was away, mostly. */
  lastError = 'none';
  logStartMoves = 0;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  get logs(): PartitionLog[] {
    return [...this.#followed.values()].map(({ log }) => log);
  }

  /** Whether everything below the high watermarks has been read, of all topics. */
  get isAtEnd(): boolean {
    const expected = [...this.#live.values()].reduce((sum, { partitions }) => sum + partitions, 0);
    const asked = this.#asked();
    return (
      this.#live.size === this.#options.topics.length &&
      asked.length === expected &&
      asked.every(({ next, highWatermark }) => next === highWatermark)
    );
  }

  /** Reads on until `done`; outlives whatever happens to the broker. */
  async run(done: () => boolean): Promise<void> {
    while (!done()) {
      try {
        await this.#step();
      } catch (error) {
        if (error instanceof ReadError) this.#problem(error.invariant, error.message);
        this.lastError = String(error);
        this.#client?.[Symbol.dispose]();
        this.#client = undefined;
        this.#live.clear();
        await sleep(RETRY_MS);
      }
    }
    this.#client?.[Symbol.dispose]();
  }

  async #step(): Promise<void> {
    this.#client ??= await this.#connect();
    if (this.#live.size < this.#options.topics.length) await this.#findTopics();
    const asked = this.#asked();
    if (asked.length === 0) return void (await sleep(RETRY_MS));
    const topics = [...this.#live.keys()].map((topicId) => ({
      topicId,
      partitions: asked
        .filter(({ log }) => log.topicId === topicId)
        .map(({ log, next }) => ({ partition: log.partition, fetchOffset: BigInt(next), partitionMaxBytes: 1 << 20 })),
    }));
    const body = { maxWaitMs: 300, minBytes: 1, maxBytes: 16 << 20, topics };
    const { responses } = await this.#answer(this.#client.call(apis.fetch, FETCH_VERSION, body));
    for (const { topicId, partitions } of responses) {
      for (const answer of partitions) {
        const followed = this.#followed.get(`${topicId}/${answer.partitionIndex}`)!;
        if (answer.errorCode === Errors.NONE) this.#take(followed, answer);
        else await this.#onError(followed, answer.errorCode);
      }
    }
  }

  async #connect(): Promise<WireClient> {
    return WireClient.connect(parseEndpoint(this.#options.address));
  }

  #asked(): Followed[] {
    return [...this.#followed.values()].filter(({ log }) => this.#live.has(log.topicId));
  }

  /** A broker that is stopped, not killed, leaves its sockets open and says nothing. */
  #answer<T>(answer: Promise<T>): Promise<T> {
    return within(ANSWER_MS, answer, () => new Error('no answer'));
  }

  async #findTopics(): Promise<void> {
    const topics = this.#options.topics.map((name) => ({ name }));
    const answer = await this.#answer(this.#client!.call(apis.metadata, 12, { topics, allowAutoTopicCreation: false }));
    for (const { errorCode, name, topicId, partitions } of answer.topics) {
      if (errorCode !== Errors.NONE) continue;
      this.#live.set(topicId, { topic: name!, partitions: partitions.length });
      for (const { partitionIndex } of partitions) {
        if (this.#followed.has(`${topicId}/${partitionIndex}`)) continue;
        const start = await this.#logStart(name!, partitionIndex);
        const log = new PartitionLog(topicId, name!, partitionIndex, start);
        this.#followed.set(`${topicId}/${partitionIndex}`, {
          log,
          next: start,
          highWatermark: -1,
          logStartOffset: start,
        });
      }
    }
    if (this.#live.size < this.#options.topics.length) await sleep(RETRY_MS);
  }

  async #logStart(topic: string, partition: number): Promise<number> {
    const topics = [{ name: topic, partitions: [{ partitionIndex: partition, timestamp: -2n }] }];
    const answer = await this.#answer(this.#client!.call(apis.listOffsets, 6, { topics }));
    const { errorCode, offset } = answer.topics[0]!.partitions[0]!;
    if (errorCode !== Errors.NONE) throw new Error(errorName(errorCode));
    return Number(offset);
  }

  async #onError({ log, next, highWatermark }: Followed, errorCode: number): Promise<void> {
    if (errorCode === Errors.OFFSET_OUT_OF_RANGE) {
      const start = await this.#logStart(log.topic, log.partition);
      const followed = this.#followed.get(`${log.topicId}/${log.partition}`)!;
      if (start > next) followed.next = start;
      else
        throw new ReadError(
          'I10',
          `${log.place}: offset ${next} is out of range, though the log began at ${start} and reached ${highWatermark}`,
        );
    } else if (errorCode === Errors.UNKNOWN_TOPIC_ID || errorCode === Errors.UNKNOWN_TOPIC_OR_PARTITION) {
      this.#live.delete(log.topicId);
    } else {
      this.lastError = errorName(errorCode as ErrorCode);
      await sleep(RETRY_MS);
    }
  }

  #take(
    followed: Followed,
    answer: {
      readonly highWatermark: bigint;
      readonly logStartOffset: bigint;
      readonly records: Uint8Array | null;
    },
  ): void {
    const [highWatermark, logStartOffset] = [Number(answer.highWatermark), Number(answer.logStartOffset)];
    this.samples++;
    for (const [what, before, now] of [
      ['high watermark', followed.highWatermark, highWatermark],
      ['log start', followed.logStartOffset, logStartOffset],
    ] as const) {
      if (now < before) this.#problem('I10', `${followed.log.place}: the ${what} went back from ${before} to ${now}`);
    }
    if (logStartOffset > followed.logStartOffset) this.logStartMoves++;
    followed.highWatermark = Math.max(followed.highWatermark, highWatermark);
    followed.logStartOffset = Math.max(followed.logStartOffset, logStartOffset);
    this.#read(followed, Buffer.from(answer.records ?? []));
  }

  /** An answer may end in a part of a batch. */
  #read(followed: Followed, bytes: Buffer): void {
    for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
      const size = 12 + bytes.readInt32BE(at + 8);
      if (at + size > bytes.length) return;
      this.#readBatch(followed, bytes.subarray(at, at + size));
      at += size;
    }
  }

  #readBatch(followed: Followed, batch: Buffer): void {
    const { log, next } = followed;
    const baseOffset = Number(batch.readBigInt64BE(0));
    const end = baseOffset + batch.readInt32BE(23) + 1;
    if (crc32c.buf(batch.subarray(21)) >>> 0 !== batch.readUInt32BE(17)) {
      throw new ReadError('I11', `${log.place}: the batch at offset ${baseOffset} has a wrong CRC`);
    }
    if (baseOffset > next || end <= next) {
      throw new ReadError('I10', `${log.place}: offsets ${baseOffset} to ${end - 1} came where ${next} was due`);
    }
    const codec = CODECS[batch.readInt16BE(21) & 7]!;
    this.batches.set(codec, (this.batches.get(codec) ?? 0) + 1);
    const plain = this.#options.codecs[codec].decompress(batch.subarray(HEADER_BYTES));
    let due = baseOffset;
    for (const { offset, value } of recordsOfBatch(Buffer.concat([batch.subarray(0, HEADER_BYTES), plain]))) {
      if (Number(offset) !== due++)
        throw new ReadError('I10', `${log.place}: offset ${offset} in the batch at ${baseOffset}`);
      if (Number(offset) >= next) log.put(Number(offset), this.#name(log, value));
    }
    followed.next = end;
  }

  #name({ topic, partition }: PartitionLog, value: string | null): RecordName {
    return recordName(value ?? '', topic, partition) ?? FOREIGN;
  }

  #problem(invariant: string, text: string): void {
    if (!this.problems.some((known) => known.text === text)) this.problems.push({ invariant, text });
  }
}

class ReadError extends Error {
  readonly invariant: string;

  constructor(invariant: string, message: string) {
    super(message);
    this.invariant = invariant;
  }
}
