/**
 * Cross-checks what a coordinator says against what the storage holds: every coordinate must lie inside a run of its
 * partition in the footer of an object that exists, and the coordinates of a partition must follow each other from before
 * its log start offset to its high watermark. Reads only. Memory is bounded; objects shared by many partitions may be
 * read again.
 */
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import { partitionKey } from '../common/topic-id-partition.ts';
import type { BatchCoordinate, DisklessCoordinator, FindBatchesResult } from '../coordinator/diskless-coordinator.ts';
import { segmentChecksums } from '../produce/segment-checksums.ts';
import {
  decodeSegmentFooter,
  footerSize,
  SEGMENT_TRAILER_BYTES,
  SegmentFormatError,
  type SegmentRun,
} from '../produce/segment-format.ts';
import { type ObjectStorage, StorageError } from '../storage/object-storage.ts';

export interface Examination {
  readonly topics: number;
  readonly partitions: number;
  readonly coordinates: number;
  /** Bytes that coordinates refer to. */
  readonly liveBytes: number;
  readonly objects: number;
  readonly objectBytes: number;
  /** Objects that no commit knows yet: uploads under way, or orphans that the search will find. */
  readonly unknownObjects: number;
  /** One line each, the first ones. */
  readonly problems: readonly string[];
  readonly problemCount: number;
}

const MAX_PROBLEMS = 100;
const MAX_CACHED_FOOTERS = 10_000;
const PAGE_BYTES = 256 << 20;
const DESCRIBED_AT_ONCE = 1_000;

/** An object's runs by partition, or what is wrong with it. */
type Footer = ReadonlyMap<string, SegmentRun> | string;

export class Examiner {
  readonly #coordinator: DisklessCoordinator;
  readonly #storage: ObjectStorage;
  readonly #checksums = segmentChecksums();
  readonly #footers = new Map<string, Promise<Footer>>();
  readonly #problems: string[] = [];
  #problemCount = 0;
  #coordinates = 0;
  #liveBytes = 0;

  constructor(coordinator: DisklessCoordinator, storage: ObjectStorage) {
    this.#coordinator = coordinator;
    this.#storage = storage;
  }

  async run(): Promise<Examination> {
    const topics = await this.#coordinator.listTopics();
    let partitions = 0;
    for (const { topicId, name, partitions: count } of topics) {
      for (let partition = 0; partition < count; partition += 1) {
        await this.#examinePartition({ topicId, partition }, `${name}-${partition}`);
        partitions += 1;
      }
    }
    const objects = await this.#examineObjects();
    return {
      topics: topics.length,
      partitions,
      coordinates: this.#coordinates,
      liveBytes: this.#liveBytes,
      ...objects,
      problems: this.#problems,
      problemCount: this.#problemCount,
    };
  }

  #problem(text: string): void {
    this.#problemCount += 1;
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push(text);
  }

  async #page(topicIdPartition: TopicIdPartition, fetchOffset: bigint): Promise<FindBatchesResult> {
    const request = { partitions: [{ topicIdPartition, fetchOffset, maxBytes: PAGE_BYTES }], maxBytes: PAGE_BYTES };
    return (await this.#coordinator.findBatches(request))[0]!;
  }

  async #examinePartition(of: TopicIdPartition, name: string): Promise<void> {
    const { logStartOffset, highWatermark } = await this.#page(of, -1n);
    if (logStartOffset > highWatermark) this.#problem(`${name}: log start ${logStartOffset} is above ${highWatermark}`);
    let next = logStartOffset;
    while (next < highWatermark) {
      const { coordinates } = await this.#page(of, next);
      if (coordinates.length === 0) {
        this.#problem(`${name}: no coordinate holds offset ${next}, below the high watermark ${highWatermark}`);
        return;
      }
      for (const coordinate of coordinates) {
        const { baseOffset, lastOffset } = coordinate;
        const fits = next === logStartOffset ? baseOffset <= next && next <= lastOffset : baseOffset === next;
        if (!fits)
          this.#problem(`${name}: offset ${next} is followed by a coordinate of ${baseOffset} to ${lastOffset}`);
        await this.#examineCoordinate(of, name, coordinate);
        next = lastOffset + 1n;
      }
    }
    if (next > highWatermark)
      this.#problem(`${name}: coordinates end at ${next}, the high watermark is ${highWatermark}`);
  }

  async #examineCoordinate(of: TopicIdPartition, name: string, coordinate: BatchCoordinate): Promise<void> {
    const { objectKey, position, size, baseOffset } = coordinate;
    this.#coordinates += 1;
    this.#liveBytes += size;
    const footer = await this.#footer(objectKey);
    const where = `${name} offset ${baseOffset}: object ${objectKey}`;
    if (typeof footer === 'string') {
      this.#problem(`${where} ${footer}`);
      return;
    }
    const run = footer.get(partitionKey(of));
    const inside = run && position >= run.position && position + size <= run.position + run.size;
    if (!inside) this.#problem(`${where} has no run of it at position ${position} size ${size}`);
  }

  #footer(objectKey: string): Promise<Footer> {
    const known = this.#footers.get(objectKey);
    if (known) return known;
    if (this.#footers.size >= MAX_CACHED_FOOTERS) this.#footers.clear();
    const reading = this.#readFooter(objectKey);
    this.#footers.set(objectKey, reading);
    return reading;
  }

  async #readFooter(key: string): Promise<Footer> {
    try {
      const object = await this.#storage.head(key);
      if (!object) return 'does not exist';
      const { sizeBytes } = object;
      if (sizeBytes <= SEGMENT_TRAILER_BYTES) return `has only ${sizeBytes} bytes`;
      const tail = (size: number) => this.#storage.getRange(key, { position: sizeBytes - size, size });
      const size = footerSize(await tail(SEGMENT_TRAILER_BYTES), sizeBytes);
      const { runs } = decodeSegmentFooter(await tail(size), sizeBytes, this.#checksums);
      return new Map(runs.map((run) => [partitionKey(run.topicIdPartition), run]));
    } catch (error) {
      if (error instanceof SegmentFormatError) return `is damaged: ${error.message}`;
      if (error instanceof StorageError) return `cannot be read: ${error.message}`;
      throw error;
    }
  }

  /** What the storage holds beyond what coordinates refer to. */
  async #examineObjects(): Promise<{ objects: number; objectBytes: number; unknownObjects: number }> {
    let [objects, objectBytes, unknownObjects] = [0, 0, 0];
    let keys: string[] = [];
    const describe = async (): Promise<void> => {
      const files = await this.#coordinator.describeFiles(keys);
      unknownObjects += files.filter((file) => file === undefined).length;
      keys = [];
    };
    for await (const { key, sizeBytes } of this.#storage.list()) {
      objects += 1;
      objectBytes += sizeBytes;
      keys.push(key);
      if (keys.length === DESCRIBED_AT_ONCE) await describe();
    }
    await describe();
    return { objects, objectBytes, unknownObjects };
  }
}
