/**
 * A broker's share side without its log: the real share service and persister over a memory coordinator, reading from a
 * log that has record batches wherever it is read. Time moves when it is told to, and counts the timers armed at it.
 */
import { Errors } from '../../src/common/errors.ts';
import { seededRandom } from '../../src/common/random.ts';
import type { Time, Timer } from '../../src/common/time.ts';
import { partitionKey, type TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { randomUuid, type Uuid } from '../../src/common/uuid.ts';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import { type Persister, StoredSharePersister } from '../../src/share/persister.ts';
import type { ShareAcknowledgementBatch, ShareFetchPartitionData } from '../../src/share/share-fetch-request.ts';
import type { SharePartitionConfig } from '../../src/share/share-partition.ts';
import type { ShareLogReader } from '../../src/share/share-read.ts';
import { ShareService } from '../../src/share/share-service.ts';

export const GROUP = 'workers';
const HEADER_BYTES = 61;

export class CountingTime implements Time {
  armed = 0;
  #nowMs = 0;
  readonly #callbacks = new Map<Timer, { readonly dueMs: number; readonly callback: () => void }>();

  nowMs = (): number => this.#nowMs;
  monotonicMs = (): number => this.#nowMs;

  setTimer(delayMs: number, callback: () => void): Timer {
    const timer: Timer = { cancel: () => void (this.#callbacks.delete(timer) && this.armed--) };
    this.#callbacks.set(timer, { dueMs: this.#nowMs + delayMs, callback });
    this.armed++;
    return timer;
  }

  /** Moves on, then runs what is due, a turn of the event loop for each. */
  async advance(ms: number): Promise<void> {
    this.#nowMs += ms;
    for (;;) {
      const due = [...this.#callbacks].find(([, { dueMs }]) => dueMs <= this.#nowMs);
      if (!due) return;
      due[0].cancel();
      due[1].callback();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Headers of `batches` log batches of `records` each from the offset asked for on. No record is ever looked at. */
function endlessLog(batches: number, records: number): ShareLogReader {
  const headers = Buffer.alloc(batches * HEADER_BYTES);
  for (let at = 0; at < headers.length; at += HEADER_BYTES) {
    headers.writeInt32BE(HEADER_BYTES - 12, at + 8);
    headers.writeInt32BE(records - 1, at + 23);
  }
  const view = new DataView(headers.buffer, headers.byteOffset);
  const from = (fetchOffset: bigint): Buffer => {
    const first = Number(fetchOffset) - (Number(fetchOffset) % records);
    for (let i = 0; i < batches; i++) {
      const base = first + i * records;
      view.setUint32(i * HEADER_BYTES, base / 2 ** 32);
      view.setUint32(i * HEADER_BYTES + 4, base);
    }
    return headers;
  };
  return {
    fetch: async (_, partitions) => ({
      partitions: partitions.map(({ fetchOffset }) => {
        return { error: Errors.NONE, records: [from(fetchOffset)], abortedTransactions: [] };
      }),
      release: () => {},
    }),
  };
}

export interface ShareHostOptions {
  readonly partitions: number;
  /** What a read returns: so many log batches of so many records. */
  readonly batches: number;
  readonly records: number;
  readonly persister?: Persister;
  /** @default 5 */
  readonly maxDeliveryCount?: number;
  /** Where members want what they get cut. @default 500 */
  readonly batchSize?: number;
}

/** A share service with a member, in a session of its own, for each share partition. */
export class ShareHost {
  readonly time = new CountingTime();
  readonly service: ShareService;
  readonly members: readonly BenchMember[];
  readonly #coordinator: InMemoryDisklessCoordinator;
  readonly #topicId: Uuid;

  constructor(options: ShareHostOptions) {
    const { time } = this;
    const random = seededRandom(7);
    const config: SharePartitionConfig = {
      maxInFlightRecords: 2000,
      maxDeliveryCount: options.maxDeliveryCount ?? 5,
      lockTimeoutMs: 30_000,
      renewEnabled: true,
      deadLetters: false,
      isolation: 'read_uncommitted',
    };
    const beginning = async () => ({ error: Errors.NONE, offset: 0 });
    this.#coordinator = new InMemoryDisklessCoordinator({ time, random });
    this.service = new ShareService({
      persister: options.persister ?? new StoredSharePersister(this.#coordinator),
      time,
      random,
      reader: endlessLog(options.batches, options.records),
      maxShareSessions: options.partitions,
      fetchMaxBytes: 2 ** 30,
      configOf: () => config,
      checkPartition: async () => Errors.NONE,
      resetOffset: beginning,
      earliestOffset: beginning,
      copyDeadLetters: async () => true,
    });
    const topicId = randomUuid(random);
    this.#topicId = topicId;
    this.members = Array.from(
      { length: options.partitions },
      (_, partition) => new BenchMember(this.service, { topicId, partition }, options.batchSize ?? 500),
    );
  }

  /** Makes the topic, whose partitions keep states, and lets every member take part: its share partition is loaded. */
  async open(): Promise<this> {
    const topic = { topicId: this.#topicId, name: 'work', partitions: this.members.length, configs: {} };
    await this.#coordinator.createTopics([topic]);
    for (const member of this.members) await member.take(0);
    return this;
  }

  close(): void {
    this.service.close();
  }
}

/** What a member says of records, by their range. */
export type Acknowledge = (first: bigint, last: bigint) => readonly ShareAcknowledgementBatch[];

export class BenchMember {
  readonly #service: ShareService;
  readonly #of: TopicIdPartition;
  readonly #id: string;
  readonly #batchSize: number;
  /** What it holds, the oldest first. */
  readonly #held: { readonly first: bigint; readonly last: bigint }[] = [];
  #sessionEpoch = 0;

  constructor(service: ShareService, of: TopicIdPartition, batchSize: number) {
    this.#service = service;
    this.#of = of;
    this.#batchSize = batchSize;
    this.#id = partitionKey(of).slice(-30);
  }

  /** One ShareFetch that acquires records, and acknowledges the oldest ones held on its way. Returns how many it got. */
  async take(maxRecords: number, acknowledge?: Acknowledge): Promise<number> {
    const oldest = acknowledge && this.#held.shift();
    const acknowledgements = oldest ? acknowledge!(oldest.first, oldest.last) : [];
    const isAsked = this.#sessionEpoch === 0 || acknowledgements.length > 0;
    const result = await this.#service.shareFetch({
      groupId: GROUP,
      memberId: this.#id,
      sessionEpoch: this.#sessionEpoch++,
      apiVersion: 2,
      isRenewAck: false,
      partitions: isAsked ? [{ topicIdPartition: this.#of, acknowledgements }] : [],
      forgotten: [],
      maxWaitMs: 0,
      minBytes: 0,
      maxBytes: 2 ** 20,
      maxRecords,
      batchSize: this.#batchSize,
      acquireMode: 'batch_optimized',
    });
    return this.#hold(result.partitions[0], maxRecords > 0);
  }

  #hold(data: ShareFetchPartitionData | undefined, expectsRecords: boolean): number {
    const errors = [data?.error ?? Errors.NONE, data?.acknowledgeError ?? Errors.NONE];
    if (errors.some((error) => error !== Errors.NONE)) throw new Error(`a share fetch answered ${errors}`);
    const acquired = data?.acquiredRecords ?? [];
    if (expectsRecords && acquired.length === 0) throw new Error('a share fetch acquired nothing');
    let count = 0n;
    for (const { firstOffset, lastOffset } of acquired) count += lastOffset - firstOffset + 1n;
    const first = acquired[0];
    if (first) this.#held.push({ first: first.firstOffset, last: acquired[acquired.length - 1]!.lastOffset });
    return Number(count);
  }

  /** Takes until it holds `records`, in portions. */
  async fill(records: number, portion: number): Promise<void> {
    for (let held = 0; held < records; ) held += await this.take(portion);
  }
}
