/**
 * A fetch service over real parts in memory, and a writer that commits segments as another broker, or this process, does.
 */
import type { Meter } from '../../src/common/metrics.ts';
import { type Random, seededRandom } from '../../src/common/random.ts';
import { systemTime, type Time } from '../../src/common/time.ts';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { TopicTraffic } from '../../src/common/topic-traffic.ts';
import { randomUuid, uuidToHex } from '../../src/common/uuid.ts';
import type { CommitBatch, CommitFileResult, DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import { InMemoryDisklessCoordinator } from '../../src/coordinator/in-memory-diskless-coordinator.ts';
import type { FetchParams, FetchResult } from '../../src/fetch/fetch-request.ts';
import { type FetchService, openFetchService } from '../../src/fetch/fetch-service.ts';
import type { FetchSettings } from '../../src/fetch/fetch-settings.ts';
import { InMemoryObjectStorage } from '../../src/storage/in-memory-object-storage.ts';
import type { GetOptions, ObjectStorage } from '../../src/storage/object-storage.ts';
import { openRecordPool } from '../../src/worker/piscina-record-pool.ts';
import type { RecordPool } from '../../src/worker/record-pool.ts';
import type { RewrittenRun } from '../../src/worker/rewritten-run.ts';
import { intercept } from '../support/intercept.ts';
import { plainBatch } from '../support/record-batches.ts';

const MIB = 1024 * 1024;

export interface FixtureOptions {
  readonly time?: Time;
  readonly fetchCapacityBytes?: number;
  readonly settings?: Partial<FetchSettings>;
  /** Stands before every GET; throw to fail it. */
  readonly beforeGet?: (
    objectKey: string,
    range: { position: number; size: number },
    signal: AbortSignal | undefined,
  ) => Promise<void> | void;
  /** Looks at, or damages, the bytes of a GET before the service gets them. */
  readonly afterGet?: (objectKey: string, position: number, bytes: Uint8Array) => void;
  readonly meter?: Meter;
  readonly coordinator?: (real: DisklessCoordinator) => DisklessCoordinator;
}

/** What to write: for each partition, its batches as they lie in the segment. */
export type SegmentContent = readonly (readonly [TopicIdPartition, readonly Buffer[]])[];

export class FetchFixture {
  readonly service: FetchService;
  readonly storage: ObjectStorage;
  readonly coordinator: DisklessCoordinator;
  readonly recordPool: RecordPool;
  readonly random: Random = seededRandom(7);
  readonly #time: Time;
  readonly gets: { objectKey: string; position: number; size: number }[] = [];
  /** Calls of findBatches. */
  finds = 0;
  #segments = 0;
  #uploaderEpoch = 0;

  static async open(options: FixtureOptions = {}): Promise<FetchFixture> {
    const { fetchCapacityBytes = 64 * MIB } = options;
    const recordPool = await openRecordPool({ workerThreads: 0, appendCapacityBytes: 64 * MIB, fetchCapacityBytes });
    const fixture = new FetchFixture(options, recordPool);
    fixture.#uploaderEpoch = (await fixture.coordinator.registerUploader(1)).epoch;
    return fixture;
  }

  private constructor(options: FixtureOptions, recordPool: RecordPool) {
    const time = options.time ?? systemTime;
    this.#time = time;
    this.recordPool = recordPool;
    const memory = new InMemoryObjectStorage({ time });
    this.storage = intercept<ObjectStorage>(memory, {
      getRange: async (objectKey, range, getOptions?: GetOptions) => {
        this.gets.push({ objectKey, ...range });
        await options.beforeGet?.(objectKey, range, getOptions?.signal);
        const bytes = await memory.getRange(objectKey, range, getOptions);
        options.afterGet?.(objectKey, range.position, bytes);
        return bytes;
      },
    });
    const real: DisklessCoordinator = new InMemoryDisklessCoordinator({ time, random: this.random });
    const counted = intercept<DisklessCoordinator>(real, {
      findBatches: (request) => {
        this.finds++;
        return real.findBatches(request);
      },
    });
    this.coordinator = options.coordinator?.(counted) ?? counted;
    this.service = openFetchService({
      objectStorage: this.storage,
      coordinator: this.coordinator,
      recordPool,
      traffic: new TopicTraffic(),
      time,
      ...(options.meter && { meter: options.meter }),
      settings: { fetchReadaheadMaxBytes: 0, ...options.settings },
    });
  }

  /** Creates a topic and returns its partitions. */
  async createTopic(partitions: number): Promise<TopicIdPartition[]> {
    const topicId = randomUuid(this.random);
    const name = `topic-${topicId}`;
    await this.coordinator.createTopics([{ topicId, name, partitions, configs: {} }]);
    return Array.from({ length: partitions }, (_, partition) => ({ topicId, partition }));
  }

  /** Puts and commits one segment as another broker does. Returns its key and the commit's result. */
  async write(content: SegmentContent): Promise<{ objectKey: string; result: CommitFileResult }> {
    const { objectKey, body, batches } = this.#segment(content);
    await this.storage.put(objectKey, body);
    const result = await this.coordinator.commitFile(this.#request(objectKey, body, batches));
    return { objectKey, result };
  }

  /** Puts and commits one segment as this process' append path does, its bytes handed to the local view. */
  async writeOwn(content: SegmentContent): Promise<{ objectKey: string; result: CommitFileResult }> {
    const { objectKey, body, batches } = this.#segment(content);
    await this.storage.put(objectKey, body);
    this.service.onCommitting(objectKey);
    const result = await this.coordinator.commitFile(this.#request(objectKey, body, batches));
    const runs: RewrittenRun[] = [];
    for (const [index, batch] of batches.entries()) {
      const { baseOffset, logAppendTimeMs } = result.batches[index]!;
      runs.push(await this.rewritten(batch.topicIdPartition, body[index + 1]!, baseOffset, logAppendTimeMs));
    }
    this.service.onCommitted(runs);
    this.service.onCommitSettled(objectKey);
    return { objectKey, result };
  }

  /** A batch as the append path hands it over after its commit. */
  async rewritten(
    topicIdPartition: TopicIdPartition,
    batch: Uint8Array,
    baseOffset: bigint,
    logAppendTimeMs = -1n,
  ): Promise<RewrittenRun> {
    const slab = this.recordPool.slabs.lease(batch.length, 'append')!;
    slab.bytes.set(batch);
    const lastOffset = baseOffset + BigInt(Buffer.from(batch).readInt32BE(23));
    await this.recordPool.assignOffsets(slab.bytes, { baseOffset, lastOffset, leaderEpoch: 0, logAppendTimeMs });
    return { topicIdPartition, baseOffset, lastOffset, bytes: slab.bytes, slab };
  }

  /** The commit of an object that holds one batch behind its version byte. */
  commitRequest(objectKey: string, topicIdPartition: TopicIdPartition, batch: Buffer) {
    const { body, batches } = this.#segment([[topicIdPartition, [batch]]]);
    return this.#request(objectKey, body, batches);
  }

  #segment(content: SegmentContent): { objectKey: string; body: Uint8Array[]; batches: CommitBatch[] } {
    const batches: CommitBatch[] = [];
    const body: Uint8Array[] = [Uint8Array.of(0)];
    let position = 1;
    for (const [topicIdPartition, contents] of content) {
      for (const bytes of contents) {
        batches.push({
          topicIdPartition,
          position,
          size: bytes.length,
          lastOffsetDelta: bytes.readInt32BE(23),
          maxTimestamp: bytes.readBigInt64BE(35),
          offsetOfMaxTimestampDelta: 0,
          timestampType: ((bytes.readInt16BE(21) >> 3) & 1) as 0 | 1,
          producerId: -1n,
          producerEpoch: -1,
          baseSequence: -1,
        });
        body.push(bytes);
        position += bytes.length;
      }
    }
    return { objectKey: `segments/${uuidToHex(randomUuid(this.random))}`, body, batches };
  }

  #request(objectKey: string, body: readonly Uint8Array[], batches: CommitBatch[]) {
    return {
      objectKey,
      formatVersion: 0,
      sizeBytes: body.reduce((sum, part) => sum + part.length, 0),
      uploaderId: 1,
      uploaderEpoch: this.#uploaderEpoch,
      segmentSequence: this.#segments++,
      createdMs: this.#time.nowMs(),
      batches,
    };
  }

  /** Fetches from some offsets; by default everything there is, at once. */
  fetch(
    offsets: readonly (readonly [TopicIdPartition, bigint, number?])[],
    params: Partial<FetchParams> = {},
    signal?: AbortSignal,
  ): Promise<FetchResult> {
    return this.service.fetch(
      { minBytes: 1, maxWaitMs: 0, maxBytes: 8 * MIB, isolation: 'read_uncommitted', ...params },
      offsets.map(([topicIdPartition, fetchOffset, maxBytes = 8 * MIB]) => ({
        topicIdPartition,
        fetchOffset,
        maxBytes,
      })),
      signal ? { signal } : {},
    );
  }

  /** Closes everything, in the engine's order. The pool asserts that every slab came back. */
  async close(): Promise<void> {
    await this.service.close();
    await this.recordPool.close();
    await this.coordinator.close();
    await this.storage.close();
  }
}

/** A batch of `size` bytes in all (at least 80), of one record. */
export function batchOfSize(size: number): Buffer {
  const overhead = plainBatch(1, 0).length;
  let batch = plainBatch(1, size - overhead);
  batch = plainBatch(1, size - overhead - (batch.length - size));
  return batch;
}

/** Base and last offset of every batch in some records. */
export function offsetsOf(records: readonly Uint8Array[]): [base: bigint, last: bigint][] {
  const bytes = Buffer.concat(records);
  const offsets: [bigint, bigint][] = [];
  for (let at = 0; at < bytes.length; at += 12 + bytes.readInt32BE(at + 8)) {
    const base = bytes.readBigInt64BE(at);
    offsets.push([base, base + BigInt(bytes.readInt32BE(at + 23))]);
  }
  return offsets;
}

export function bytesOf(records: readonly Uint8Array[]): number {
  return records.reduce((sum, part) => sum + part.length, 0);
}
