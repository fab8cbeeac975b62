/**
 * Cross-checks what a coordinator says against what the storage holds: every coordinate must lie inside a run of its
 * partition in the footer of an object that exists and is as large as when it was committed, and the coordinates of a
 * partition must follow each other from before its log start offset to its high watermark. What no commit knows must at
 * least be a segment. Reads only. Memory is bounded; objects shared by many partitions may be read again.
 *
 * Other brokers may be at work meanwhile: log start offsets move, topics go, and their objects after them. What seems to
 * be wrong is looked at again before it is told.
 */
import { Errors } from '../common/errors.ts';
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
import { isObjectKey, type ObjectStorage, type ObjectSummary, StorageError } from '../storage/object-storage.ts';
import { SEGMENTS } from './lost-segments.ts';

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
/** Each costs two reads of the storage. */
const MAX_UNKNOWN_LOOKED_AT = 1_000;

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
  #unknownLookedAt = 0;

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

  async #page(
    topicIdPartition: TopicIdPartition,
    fetchOffset: bigint,
    maxBytes = PAGE_BYTES,
  ): Promise<FindBatchesResult> {
    const request = { partitions: [{ topicIdPartition, fetchOffset, maxBytes }], maxBytes };
    return (await this.#coordinator.findBatches(request))[0]!;
  }

  async #examinePartition(of: TopicIdPartition, name: string): Promise<void> {
    let { logStartOffset, highWatermark } = await this.#page(of, -1n);
    if (logStartOffset > highWatermark) this.#problem(`${name}: log start ${logStartOffset} is above ${highWatermark}`);
    let next = logStartOffset;
    while (next < highWatermark) {
      const page = await this.#page(of, next);
      if (page.error === Errors.UNKNOWN_TOPIC_OR_PARTITION) return;
      ({ logStartOffset, highWatermark } = page);
      if (logStartOffset > next) {
        next = logStartOffset;
        continue;
      }
      if (page.coordinates.length === 0) {
        this.#problem(`${name}: no coordinate holds offset ${next}, below the high watermark ${highWatermark}`);
        return;
      }
      for (const coordinate of page.coordinates) {
        this.#examinePlace(name, coordinate, next, next === logStartOffset);
        await this.#examineCoordinate(of, name, coordinate);
        next = coordinate.lastOffset + 1n;
      }
    }
    if (next > highWatermark)
      this.#problem(`${name}: coordinates end at ${next}, the high watermark is ${highWatermark}`);
  }

  /** A log may start inside a coordinate. */
  #examinePlace(
    name: string,
    { baseOffset, lastOffset }: BatchCoordinate,
    expected: bigint,
    isLogStart: boolean,
  ): void {
    const fits = isLogStart ? baseOffset <= expected && expected <= lastOffset : baseOffset === expected;
    if (!fits)
      this.#problem(`${name}: offset ${expected} is followed by a coordinate of ${baseOffset} to ${lastOffset}`);
  }

  async #examineCoordinate(of: TopicIdPartition, name: string, coordinate: BatchCoordinate): Promise<void> {
    this.#coordinates += 1;
    this.#liveBytes += coordinate.size;
    const footer = await this.#footer(coordinate.objectKey);
    const fault = coordinateFault(footer, of, coordinate);
    if (fault === undefined || !(await this.#isStillThere(of, coordinate))) return;
    this.#problem(`${name} offset ${coordinate.baseOffset}: object ${coordinate.objectKey} ${fault}`);
  }

  async #isStillThere(of: TopicIdPartition, { objectKey, position, lastOffset }: BatchCoordinate): Promise<boolean> {
    const [first] = (await this.#page(of, lastOffset, 1)).coordinates;
    return first?.objectKey === objectKey && first.position === position;
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
    // Of a coordinate whose object has no row in the database.
    if (typeof key !== 'string' || !isObjectKey(key)) return 'is none: no object can have that key';
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
    let some: ObjectSummary[] = [];
    const compare = async (): Promise<void> => {
      const files = await this.#coordinator.describeFiles(some.map(({ key }) => key));
      for (const [index, { key, sizeBytes }] of some.entries()) {
        const file = files[index];
        if (file?.state === 'uploaded' && file.sizeBytes !== sizeBytes)
          this.#problem(`object ${key} has ${sizeBytes} bytes, ${file.sizeBytes} were committed`);
        if (file) continue;
        unknownObjects += 1;
        await this.#examineUnknown(key);
      }
      some = [];
    };
    for await (const object of this.#storage.list({ prefix: SEGMENTS })) {
      objects += 1;
      objectBytes += object.sizeBytes;
      some.push(object);
      if (some.length === DESCRIBED_AT_ONCE) await compare();
    }
    await compare();
    return { objects, objectBytes, unknownObjects };
  }

  /** An upload that was not committed is none of the faults: its broker may have died, or be about to commit it. */
  async #examineUnknown(key: string): Promise<void> {
    if (this.#unknownLookedAt === MAX_UNKNOWN_LOOKED_AT) return;
    this.#unknownLookedAt += 1;
    const footer = await this.#footer(key);
    if (typeof footer === 'string' && (await this.#storage.head(key)))
      this.#problem(`object ${key} is not known to the coordinator and no segment of Shoal's: it ${footer}`);
  }
}

/** What is wrong with a coordinate, to be read after the name of its object. */
function coordinateFault(footer: Footer, of: TopicIdPartition, coordinate: BatchCoordinate): string | undefined {
  if (typeof footer === 'string') return footer;
  const { position, size, baseOffset, lastOffset, timestampType, maxTimestamp } = coordinate;
  const run = footer.get(partitionKey(of));
  const inside = run && position >= run.position && position + size <= run.position + run.size;
  if (!inside) return `has no run of it at position ${position} size ${size}`;
  const offsets = lastOffset - baseOffset + 1n;
  const isWhole = size === run.size;
  const records = BigInt(run.recordCount);
  if (offsets > records || (isWhole && offsets < records))
    return `has ${records} records of it in ${run.size} bytes, the coordinate ${offsets} offsets in ${size}`;
  if (timestampType === 0 && (maxTimestamp > run.maxTimestamp || (isWhole && maxTimestamp < run.maxTimestamp)))
    return `has records up to time ${run.maxTimestamp}, the coordinate up to ${maxTimestamp}`;
  return undefined;
}
