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

/** The records wanted of one coordinate. */
interface CoordinateRead extends WantedRecords {
  readonly coordinate: BatchCoordinate;
}

/** Records by partition and offset. */
export class SourceRecords {
  readonly #records = new Map<PartitionKey, Map<bigint, SourceRecord>>();

  set(of: TopicIdPartition, offset: bigint, record: SourceRecord): void {
    const key = partitionKey(of);
    const records = this.#records.get(key) ?? new Map<bigint, SourceRecord>();
    this.#records.set(key, records.set(offset, record));
  }

  setAll({ topicIdPartition, offsets }: WantedRecords, record: SourceRecord): void {
    for (const offset of offsets) this.set(topicIdPartition, offset, record);
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
  const runs = reads.map((read) =>
    parts.fetchService.readCoordinate(read.topicIdPartition, read.coordinate).catch(() => undefined),
  );
  let leftBytes = MAX_CONTENT_BYTES;
  for (const [index, read] of reads.entries()) {
    const run = await runs[index]!;
    if (run) leftBytes -= await extract(parts.recordPool, run.bytes, read, leftBytes, found);
    else found.setAll(read, 'failed');
    run?.slab.release();
  }
  return found;
}

/** Records that no coordinate holds: retention or DeleteRecords took them. */
function noteGone(wanted: readonly WantedRecords[], located: readonly CoordinateRead[], found: SourceRecords): void {
  for (const one of wanted) found.setAll(one, 'gone');
  for (const one of located) found.setAll(one, 'unread');
}

/** Copies records out of a run, and returns how many bytes they are. Never throws: the other runs must be released. */
async function extract(
  recordPool: RecordPool,
  run: Uint8Array,
  read: CoordinateRead,
  maxBytes: number,
  found: SourceRecords,
): Promise<number> {
  const { topicIdPartition, offsets } = read;
  try {
    const room = { maxBytes, maxRecordBytes: MAX_CONTENT_BYTES };
    const { records, offsetsRead } = await recordPool.readRecords(run, { offsets, ...room });
    found.setAll({ topicIdPartition, offsets: offsets.slice(0, offsetsRead) }, 'gone');
    for (const record of records) found.set(topicIdPartition, record.offset, record);
    return records.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
  } catch (error) {
    const isCorrupt = error instanceof ApiError && error.errorCode === Errors.CORRUPT_MESSAGE;
    found.setAll(read, isCorrupt ? 'gone' : 'failed');
    return 0;
  }
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
