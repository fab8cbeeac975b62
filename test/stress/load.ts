/**
 * The load of a stress run: producers that append and tell the verifier what was acknowledged, consumers that read along
 * and check every record on the way. Everything in the process of the engines.
 */
import { randomInt, seededRandom } from '../../src/common/random.ts';
import { sleep, systemTime } from '../../src/common/time.ts';
import { type DisklessEngine, Errors, errorName, type TopicIdPartition } from '../../src/index.ts';
import { type BatchShape, batchOf, readBatches } from './content.ts';

/** What a producer tells the verifier about one append. */
export interface Outcome {
  readonly partition: number;
  readonly producer: number;
  readonly sequence: number;
  readonly records: number;
  /** `acknowledged` at an offset; `refused` for good; `in-doubt`: may be there or not, whole. */
  readonly outcome: 'acknowledged' | 'refused' | 'in-doubt';
  readonly baseOffset: string;
}

export interface LoadCounts {
  appendedRecords: number;
  appendedBytes: number;
  refused: number;
  inDoubt: number;
  consumedRecords: number;
  consumedBytes: number;
  wrongRecords: number;
  fetchErrors: number;
  /** Latencies of appends since they were last taken, milliseconds. */
  appendMs: number[];
  /** The first things that went wrong, for the reader. */
  readonly remarks: string[];
}

export interface Load {
  readonly partitions: readonly TopicIdPartition[];
  readonly shape: BatchShape;
  readonly counts: LoadCounts;
  readonly stop: AbortSignal;
  /** Appends of one producer on their way at a time. */
  readonly inFlight: number;
  tell(outcome: Outcome): void;
}

export function newCounts(): LoadCounts {
  return {
    appendedRecords: 0,
    appendedBytes: 0,
    refused: 0,
    inDoubt: 0,
    consumedRecords: 0,
    consumedBytes: 0,
    wrongRecords: 0,
    fetchErrors: 0,
    appendMs: [],
    remarks: [],
  };
}

/** Errors after which the batch may still have been committed. */
const DOUBTFUL: ReadonlySet<number> = new Set([Errors.REQUEST_TIMED_OUT]);

/** Appends until told to stop; returns when its last append has its outcome. */
export async function produce(engine: DisklessEngine, producer: number, load: Load): Promise<void> {
  const random = seededRandom(producer * 7919 + 1);
  let sequence = 0;
  const lane = async (): Promise<void> => {
    while (!load.stop.aborted) {
      const records = randomInt(random, 1, load.shape.records);
      const partition = randomInt(random, 0, load.partitions.length - 1);
      await appendOne(engine, load, { partition, producer, sequence: sequence++, records });
    }
  };
  await Promise.all(Array.from({ length: load.inFlight }, lane));
}

async function appendOne(
  engine: DisklessEngine,
  load: Load,
  id: Pick<Outcome, 'partition' | 'producer' | 'sequence' | 'records'>,
): Promise<void> {
  const { counts, partitions, shape } = load;
  const batch = batchOf(id.producer, id.sequence, { ...shape, records: id.records });
  const startMs = performance.now();
  const [result] = await engine.append([{ topicIdPartition: partitions[id.partition]!, records: batch }]);
  counts.appendMs.push(performance.now() - startMs);
  if (result!.error === Errors.NONE) {
    counts.appendedRecords += id.records;
    counts.appendedBytes += batch.length;
    load.tell({ ...id, outcome: 'acknowledged', baseOffset: String(result!.baseOffset) });
    return;
  }
  const inDoubt = DOUBTFUL.has(result!.error);
  counts[inDoubt ? 'inDoubt' : 'refused']++;
  remark(counts, `append: ${errorName(result!.error)} ${result!.message}`);
  load.tell({ ...id, outcome: inDoubt ? 'in-doubt' : 'refused', baseOffset: '-1' });
}

/** A reader that begins anew is there for its GETs; it must not take the producers' CPU. */
const REREAD_PAUSE_MS = 1_000;
const FETCH = { minBytes: 1, maxWaitMs: 500, maxBytes: 16 << 20, isolation: 'read_uncommitted' as const };

/** Reads every partition from its beginning, again and again when `rereads`, checking offsets and values. */
export async function consume(engine: DisklessEngine, load: Load, rereads: boolean): Promise<void> {
  const next = load.partitions.map(() => 0n);
  while (!load.stop.aborted) {
    const asked = load.partitions.map((topicIdPartition, i) => ({
      topicIdPartition,
      fetchOffset: next[i]!,
      maxBytes: 4 << 20,
    }));
    const { partitions, release } = await engine.fetch(FETCH, asked);
    let atEnd = false;
    try {
      let ended = true;
      for (const [index, data] of partitions.entries()) {
        if (data.error !== Errors.NONE) {
          load.counts.fetchErrors++;
          remark(load.counts, `fetch: ${errorName(data.error)}`);
          ended = false;
        } else next[index] = checkRecords(load, index, next[index]!, data.records);
        if (next[index]! < data.highWatermark) ended = false;
      }
      if (rereads && ended) next.fill(0n);
      atEnd = ended;
    } finally {
      release();
    }
    if (rereads && atEnd) await sleep(systemTime, REREAD_PAUSE_MS);
  }
}

/** @returns the offset after the last record */
function checkRecords(load: Load, partition: number, fetchOffset: bigint, views: readonly Uint8Array[]): bigint {
  let expected = fetchOffset;
  for (const view of views) load.counts.consumedBytes += view.byteLength;
  for (const record of readBatches(views, load.shape.valueBytes)) {
    if (record.offset < fetchOffset) continue;
    load.counts.consumedRecords++;
    if (record.right && record.offset === expected) expected++;
    else {
      load.counts.wrongRecords++;
      remark(load.counts, `partition ${partition} offset ${record.offset} (expected ${expected}) is wrong`);
      expected = record.offset + 1n;
    }
  }
  return expected;
}

function remark(counts: LoadCounts, text: string): void {
  if (counts.remarks.length < 20 && !counts.remarks.includes(text)) counts.remarks.push(text);
}
