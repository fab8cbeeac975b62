/**
 * Writes the records that share groups give up to their dead-letter queues (KIP-1191): gathers what comes in while a round
 * is under way, reads the source records of a whole round back in one plan, appends what becomes of them like any other
 * records. Main thread; constructed by the engine, which stops it before its append side and waits for it after that.
 *
 * Crash points. A record is on its way here once ARCHIVING is durable, and becomes ARCHIVED, durably, only after its copy
 * is. A crash before the copy's commit leaves ARCHIVING, from where the next leader begins again. A crash between the copy
 * and ARCHIVED does too: the copy is there twice. So is one whose append had an unknown outcome and was repeated. When a
 * lock ends and that could not be written, the copy is made all the same, and a leader after that may deliver the record
 * once more. Every record is copied at least once; topic, partition, offset and group in its headers tell copies apart.
 *
 * What cannot be copied is archived all the same, since it would hold the start offset for ever: when the topic is missing
 * or not open to dead letters, or refuses the record. It is logged as an error and counted. A storage or coordinator that
 * does not answer is no such reason: it is tried for as long as it takes. A source record that cannot be read for minutes
 * goes with its headers alone.
 */
import { setMaxListeners } from 'node:events';
import { type ErrorCode, Errors, errorName } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { Counter, Meter } from '../common/metrics.ts';
import type { Random } from '../common/random.ts';
import { sleep } from '../common/time.ts';
import { partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import type { AppendPartition, AppendResult } from '../produce/append-request.ts';
import type { DeadLetter } from '../share/share-partition.ts';
import {
  type Addressed,
  type DeadLetterBatch,
  type DeadLetterBatchOptions,
  deadLetterBatches,
} from './dead-letter-batches.ts';
import type { DeadLetterRecord } from './dead-letter-record.ts';
import {
  type DeadLetterSourceParts,
  readSourceRecords,
  type SourceRecords,
  type WantedRecords,
} from './dead-letter-source.ts';
import { type DeadLetterTopics, NoDeadLetterTopic } from './dead-letter-topics.ts';

export interface DeadLetterQueueOptions extends DeadLetterBatchOptions {
  readonly source: DeadLetterSourceParts;
  readonly topics: DeadLetterTopics;
  readonly random: Random;
  readonly logger: Logger;
  readonly meter: Meter;
  append(partitions: readonly AppendPartition[]): Promise<AppendResult[]>;
}

/** Records in one round. */
const ROUND_RECORDS = 1000;
/** Attempts to read a source record; with the pauses between them, about four minutes. */
const MAX_READS = 12;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/** Errors that another attempt may not meet. */
const RETRIABLE: ReadonlySet<ErrorCode> = new Set([
  Errors.KAFKA_STORAGE_ERROR,
  Errors.REQUEST_TIMED_OUT,
  Errors.NOT_LEADER_OR_FOLLOWER,
  // The topic was deleted a moment ago: the next attempt finds that out, or its successor.
  Errors.UNKNOWN_TOPIC_OR_PARTITION,
  Errors.COORDINATOR_NOT_AVAILABLE,
]);

/** What one share partition sent at once. */
interface Job {
  /** Records that are neither copied nor given up. */
  left: number;
  readonly resolve: (isOver: boolean) => void;
}

interface Letter extends DeadLetterRecord {
  readonly key: string;
  /** More than one when its share partition was loaded anew meanwhile: it is copied once for all of them. */
  readonly jobs: Job[];
  attempts: number;
  /** Attempts that could not read its source record. */
  failedReads: number;
}

type OutgoingBatch = DeadLetterBatch<Letter>;

export class DeadLetterQueue {
  readonly #options: DeadLetterQueueOptions;
  readonly #counters = { deadLettersCopied: 0, deadLettersLost: 0 };
  readonly #copied: Counter;
  readonly #lost: Counter;
  readonly #jobs = new Set<Job>();
  /** All that are neither copied nor given up, by key. */
  readonly #letters = new Map<string, Letter>();
  #waiting: Letter[] = [];
  #running: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(options: DeadLetterQueueOptions) {
    this.#options = options;
    // One for each batch that waits to be tried again.
    setMaxListeners(0, this.#closing.signal);
    this.#copied = options.meter.createCounter('diskless.share.dead_letters.copied', {
      unit: '{record}',
      description: 'Records copied to a dead-letter queue.',
    });
    this.#lost = options.meter.createCounter('diskless.share.dead_letters.lost', {
      unit: '{record}',
      description: 'Records archived without a copy in the dead-letter queue that their group names.',
    });
  }

  /** Counts since construction. */
  get counters(): { readonly deadLettersCopied: number; readonly deadLettersLost: number } {
    return this.#counters;
  }

  /**
   * Resolves with true when every record is in the dead-letter queue or given up, with false when the queue closed first:
   * then they stay ARCHIVING, for the next leader. Never rejects.
   */
  copy(groupId: string, topicIdPartition: TopicIdPartition, letters: readonly DeadLetter[]): Promise<boolean> {
    if (this.#closing.signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const job: Job = { left: 0, resolve };
      this.#jobs.add(job);
      for (const { first, last, deliveryCount, cause } of letters) {
        for (let offset = BigInt(first); offset <= last; offset++) {
          job.left++;
          this.#letterOf({ groupId, topicIdPartition, offset, deliveryCount, cause }).jobs.push(job);
        }
      }
      this.#start();
    });
  }

  /** The letter of a record: the one that is on its way, or a new one. */
  #letterOf(record: DeadLetterRecord): Letter {
    const key = `${partitionKey(record.topicIdPartition)}@${record.offset}:${record.groupId}`;
    const known = this.#letters.get(key);
    if (known) return known;
    const letter: Letter = { ...record, key, jobs: [], attempts: 0, failedReads: 0 };
    this.#letters.set(key, letter);
    this.#waiting.push(letter);
    return letter;
  }

  /** Takes nothing more, and leaves what is not copied to the next leader. The round under way still needs its parts. */
  stop(): void {
    this.#closing.abort(new Error('the dead-letter queue is closed'));
    for (const { resolve } of this.#jobs) resolve(false);
    this.#jobs.clear();
  }

  /** Resolves when the round under way has ended, after `stop`. */
  async ended(): Promise<void> {
    await this.#running;
  }

  #start(): void {
    if (this.#waiting.length === 0 || this.#closing.signal.aborted) return;
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      this.#start();
    });
  }

  /** Lets what happens in this turn gather first: locks of many share partitions end together. */
  async #run(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0 && !this.#closing.signal.aborted) {
      await this.#round(this.#waiting.splice(0, ROUND_RECORDS));
    }
  }

  async #round(round: readonly Letter[]): Promise<void> {
    const topics = await this.#orLater(round, () => this.#options.topics.of(round.map(({ groupId }) => groupId)));
    if (!topics) return;
    const addressed: Addressed<Letter>[] = [];
    for (const [groupId, topic] of topics) {
      const letters = round.filter((letter) => letter.groupId === groupId);
      if (topic instanceof NoDeadLetterTopic) this.#giveUp(letters, topic.message);
      else addressed.push(...letters.map((letter) => ({ letter, topic })));
    }
    const copying = addressed.filter(({ topic }) => topic.copyRecord).map(({ letter }) => letter);
    const letters = addressed.map(({ letter }) => letter);
    const source = await this.#orLater(letters, () => readSourceRecords(this.#options.source, wantedRecords(copying)));
    if (source) await this.#send(deadLetterBatches(this.#withSource(addressed, source), this.#options));
  }

  /** What `work` comes to; undefined when it failed, and the letters are tried again. */
  async #orLater<T>(letters: readonly Letter[], work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#tryAgain(letters, String(error));
      return undefined;
    }
  }

  /** Those that can go out now, with what was found. The others wait for the next round, or for a storage that can be read. */
  #withSource(addressed: readonly Addressed<Letter>[], source: SourceRecords): Addressed<Letter>[] {
    const unread: Letter[] = [];
    const failed: Letter[] = [];
    const ready: Addressed<Letter>[] = [];
    for (const one of addressed) {
      const { letter, topic } = one;
      const record = topic.copyRecord ? source.get(letter.topicIdPartition, letter.offset) : undefined;
      if (record === 'unread') unread.push(letter);
      else if (record === 'failed' && ++letter.failedReads < MAX_READS) failed.push(letter);
      else ready.push(typeof record === 'object' ? { ...one, content: record } : one);
    }
    this.#waiting.unshift(...unread);
    if (failed.length > 0) this.#tryAgain(failed, 'the source records could not be read');
    return ready;
  }

  /** Appends, a batch of each partition at a time. */
  async #send(batches: readonly OutgoingBatch[]): Promise<void> {
    for (let left = batches; left.length > 0; ) {
      const wave = new Map<string, OutgoingBatch>();
      const later: OutgoingBatch[] = [];
      for (const batch of left) {
        const key = partitionKey(batch.topicIdPartition);
        if (wave.has(key)) later.push(batch);
        else wave.set(key, batch);
      }
      await this.#append([...wave.values()]);
      left = later;
    }
  }

  async #append(wave: readonly OutgoingBatch[]): Promise<void> {
    const all = wave.flatMap(({ letters }) => letters);
    const results = await this.#orLater(all, () => this.#options.append(wave));
    results?.forEach(({ error, message }, index) => {
      const { letters } = wave[index]!;
      if (error === Errors.NONE) this.#finish(letters, 'copied');
      else if (RETRIABLE.has(error)) this.#tryAgain(letters, `${errorName(error)}: ${message}`);
      else this.#giveUp(letters, `${errorName(error)}: ${message}`);
    });
  }

  /** After a pause that grows with every attempt. */
  #tryAgain(letters: readonly Letter[], reason: string): void {
    if (letters.length === 0 || this.#closing.signal.aborted) return;
    const { time, random, logger } = this.#options;
    for (const letter of letters) letter.attempts++;
    const attempts = Math.min(...letters.map((letter) => letter.attempts));
    logger.warn({ records: letters.length, attempts, reason }, 'dead letters are not written yet');
    const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempts - 1)) * (0.5 + random.next() / 2);
    sleep(time, pauseMs, this.#closing.signal).then(
      () => {
        this.#waiting.push(...letters);
        this.#start();
      },
      () => {},
    );
  }

  #giveUp(letters: readonly Letter[], reason: string): void {
    for (const groupId of new Set(letters.map((letter) => letter.groupId))) {
      for (const wanted of wantedRecords(letters.filter((letter) => letter.groupId === groupId))) {
        this.#logLost(groupId, wanted, reason);
      }
    }
    this.#finish(letters, 'lost');
  }

  #logLost(groupId: string, { topicIdPartition, offsets }: WantedRecords, reason: string): void {
    const topic = this.#options.topicName(topicIdPartition) ?? topicIdPartition.topicId;
    const range = { records: offsets.length, firstOffset: String(offsets[0]), lastOffset: String(offsets.at(-1)) };
    const of = { groupId, topic, partition: topicIdPartition.partition, ...range };
    this.#options.logger.error({ ...of, reason }, 'records are archived without a copy in the dead-letter queue');
  }

  #finish(letters: readonly Letter[], as: 'copied' | 'lost'): void {
    this.#counters[as === 'copied' ? 'deadLettersCopied' : 'deadLettersLost'] += letters.length;
    (as === 'copied' ? this.#copied : this.#lost).add(letters.length);
    for (const { key, jobs } of letters) {
      this.#letters.delete(key);
      for (const job of jobs) {
        job.left--;
        if (job.left === 0 && this.#jobs.delete(job)) job.resolve(true);
      }
    }
  }
}

/** What is wanted of each partition, by rising offset. */
function wantedRecords(letters: readonly Letter[]): WantedRecords[] {
  const byPartition = new Map<string, { readonly topicIdPartition: TopicIdPartition; readonly offsets: Set<bigint> }>();
  for (const { topicIdPartition, offset } of letters) {
    const key = partitionKey(topicIdPartition);
    const wanted = byPartition.get(key) ?? { topicIdPartition, offsets: new Set() };
    byPartition.set(key, wanted);
    wanted.offsets.add(offset);
  }
  return [...byPartition.values()].map(({ topicIdPartition, offsets }) => {
    return { topicIdPartition, offsets: [...offsets].sort((a, b) => (a < b ? -1 : 1)) };
  });
}
