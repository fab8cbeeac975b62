/**
 * Reads the source records of dead letters back: the coordinates of all of them are looked up first, then read together,
 * so that the fetch scheduler plans their GETs as one, whatever batches, partitions and objects they lie in. Main thread;
 * holds nothing between calls.
 */
import { ApiError, Errors } from '../common/errors.ts';
import { type PartitionKey, partitionKey, type TopicIdPartition } from '../common/topic-id-partition.ts';
import type { BatchCoordinate, DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import type { FetchService } from '../fetch/fetch-service.ts';
import type { RecordContent } from '../record/record-reader.ts';
import type { RecordPool } from '../worker/record-pool.ts';
import { answered } from './coordinator-failure.ts';

export interface DeadLetterSourceParts {
  readonly coordinator: DisklessCoordinator;
  readonly fetchService: FetchService;
  readonly recordPool: RecordPool;
}

/** Records of one partition that are wanted: offsets by rising offset, none twice. */
export interface WantedRecords {
  readonly topicIdPartition: TopicIdPartition;
  readonly offsets: readonly bigint[];
}

/**
 * `failed`: it could not be read now. `gone`: it is not there any more, or larger than a whole read may be. `unread`: there
 * was no room for it in this read.
 */
export type SourceRecord = RecordContent | 'failed' | 'gone' | 'unread';

/** Batches held at a time, and keys and values copied out of them: what one read may take of memory. */
const MAX_BATCH_BYTES = 32 * 1024 * 1024;
const MAX_CONTENT_BYTES = 8 * 1024 * 1024;

/** A coordinate and the offsets wanted of it. */
interface CoordinateRead {
  readonly topicIdPartition: TopicIdPartition;
  readonly coordinate: BatchCoordinate;
  readonly offsets: bigint[];
}

/** Records by partition and offset. */
export class SourceRecords {
  readonly #records = new Map<PartitionKey, Map<bigint, SourceRecord>>();

  set(of: TopicIdPartition, offset: bigint, record: SourceRecord): void {
    const key = partitionKey(of);
    const records = this.#records.get(key) ?? new Map<bigint, SourceRecord>();
    this.#records.set(key, records.set(offset, record));
  }

  get(of: TopicIdPartition, offset: bigint): SourceRecord | undefined {
    return this.#records.get(partitionKey(of))?.get(offset);
  }
}

/**
 * As many of the records as there is room for, at least one. A coordinate that cannot be read costs only its own records.
 * @throws ApiError when the coordinator does not answer
 */
export async function readSourceRecords(
  parts: DeadLetterSourceParts,
  wanted: readonly WantedRecords[],
): Promise<SourceRecords> {
  const found = new SourceRecords();
  const located = await findCoordinates(parts.coordinator, wanted);
  noteGone(wanted, located, found);
  const reads = withinBudget(located);
  // All are asked for in one turn of the event loop: that is what the scheduler plans together.
  const runs = reads.map((read) => settled(parts.fetchService.readCoordinate(read.topicIdPartition, read.coordinate)));
  let leftBytes = MAX_CONTENT_BYTES;
  for (const [index, read] of reads.entries()) {
    const run = await runs[index]!;
    if (!run) {
      for (const offset of read.offsets) found.set(read.topicIdPartition, offset, 'failed');
      continue;
    }
    try {
      leftBytes -= await extract(parts.recordPool, run.bytes, read, leftBytes, found);
    } finally {
      run.slab.release();
    }
  }
  return found;
}

/** Records that no coordinate holds: retention or DeleteRecords took them. */
function noteGone(wanted: readonly WantedRecords[], located: readonly CoordinateRead[], found: SourceRecords): void {
  for (const { topicIdPartition, offsets } of wanted)
    for (const offset of offsets) found.set(topicIdPartition, offset, 'gone');
  for (const { topicIdPartition, offsets } of located)
    for (const offset of offsets) found.set(topicIdPartition, offset, 'unread');
}

async function settled<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/** Copies records out of a run, and returns how many bytes they are. */
async function extract(
  recordPool: RecordPool,
  run: Uint8Array,
  { topicIdPartition, offsets }: CoordinateRead,
  maxBytes: number,
  found: SourceRecords,
): Promise<number> {
  let bytes = 0;
  try {
    const room = { maxBytes, maxRecordBytes: MAX_CONTENT_BYTES };
    const { records, offsetsRead } = await recordPool.readRecords(run, { offsets, ...room });
    for (const offset of offsets.slice(0, offsetsRead)) found.set(topicIdPartition, offset, 'gone');
    for (const record of records) {
      found.set(topicIdPartition, record.offset, record);
      bytes += (record.key?.length ?? 0) + (record.value?.length ?? 0);
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    for (const offset of offsets) found.set(topicIdPartition, offset, 'gone');
  }
  return bytes;
}

/** Where the wanted records of one partition lie, as far as that is known. */
class Lookup {
  readonly topicIdPartition: TopicIdPartition;
  readonly reads: CoordinateRead[] = [];
  readonly #open: Set<bigint>;

  constructor({ topicIdPartition, offsets }: WantedRecords) {
    this.topicIdPartition = topicIdPartition;
    this.#open = new Set(offsets);
  }

  /** One offset of each run of neighbours, most of which lie in one coordinate. */
  get asks(): bigint[] {
    return [...this.#open].filter((offset) => !this.#open.has(offset - 1n));
  }

  /** The coordinate that holds an offset; undefined when none does. */
  answer(offset: bigint, coordinate: BatchCoordinate | undefined): void {
    // A coordinate found before may hold it too.
    if (!this.#open.delete(offset) || !coordinate) return;
    const isInside = (one: bigint): boolean => coordinate.baseOffset <= one && one <= coordinate.lastOffset;
    const others = [...this.#open].filter(isInside);
    for (const other of others) this.#open.delete(other);
    const offsets = [offset, ...others].sort((a, b) => (a < b ? -1 : 1));
    this.reads.push({ topicIdPartition: this.topicIdPartition, coordinate, offsets });
  }
}

/** The coordinates that hold the records, each once; what no read is for is gone. */
async function findCoordinates(
  coordinator: DisklessCoordinator,
  wanted: readonly WantedRecords[],
): Promise<CoordinateRead[]> {
  const lookups = wanted.map((one) => new Lookup(one));
  for (;;) {
    const asked = lookups.flatMap((lookup) => lookup.asks.map((fetchOffset) => ({ lookup, fetchOffset })));
    if (asked.length === 0) return lookups.flatMap(({ reads }) => reads);
    // A limit of one byte gives the one coordinate that holds the offset.
    const partitions = asked.map(({ lookup, fetchOffset }) => {
      return { topicIdPartition: lookup.topicIdPartition, fetchOffset, maxBytes: 1 };
    });
    const results = await answered(coordinator.findBatches({ partitions, maxBytes: Number.MAX_SAFE_INTEGER }));
    results.forEach(({ error, coordinates }, index) => {
      const { lookup, fetchOffset } = asked[index]!;
      lookup.answer(fetchOffset, error === Errors.NONE ? coordinates[0] : undefined);
    });
  }
}

/** The first of them, for whose batches there is memory; one in any case. */
function withinBudget(reads: readonly CoordinateRead[]): readonly CoordinateRead[] {
  let bytes = 0;
  const end = reads.findIndex(({ coordinate }) => {
    bytes += coordinate.size;
    return bytes > MAX_BATCH_BYTES;
  });
  return end < 0 ? reads : reads.slice(0, Math.max(1, end));
}
