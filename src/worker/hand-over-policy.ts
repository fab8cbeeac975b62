/**
 * What runs inline and what goes to a worker: the one place that decides, from estimates of CPU time.
 *
 * A hand-over costs 60–90 µs of the two threads' time, as much as a CRC over a megabyte, and every task in it 1 to 2 µs of
 * promises and copies, as much as validating 6 KiB. So small tasks always run on the main thread, larger ones go to the
 * workers in groups worth several hundred microseconds, and the main thread never spends more than a bounded time
 * on records in one turn of its event loop.
 */
import { CODEC_MASK } from '../record/kernel-layout.ts';
import type { CompressionType } from '../record/validation.ts';
import type { RecordTask } from './messages.ts';

/** Below this a task is done on the main thread: handing it over gains nothing. */
const WORTH_HANDING_OVER_US = 30;
/**
 * The same for what is not compressed, a batch of 1 MB: checking it is bound by memory, which threads share, so that
 * two workers were slower in every mix measured. Beyond it the main thread would be held up too long.
 */
const WORTH_HANDING_OVER_PLAIN_US = 300;
/** What the main thread may spend on such small tasks in one turn of its event loop, microseconds. */
export const SMALL_BUDGET_US = 4000;
/**
 * And up to where in a turn it takes on larger ones, which a worker could do: enough for one 64 KiB batch of most codecs. In
 * a burst it is time in which the workers have nothing yet.
 */
export const LARGE_BUDGET_US = 100;
/** The least work worth a hand-over. */
export const HAND_OVER_MIN_US = 300;
/** The least in a hand-over when there is more: a burst ends with parts of this size, so that all workers end together. */
export const HAND_OVER_PART_US = 600;
/** What has to wait before a hand-over is made in the midst of a turn, which may yet bring more. */
export const HAND_OVER_EARLY_US = 2000;
/** The most in one hand-over, unless a single task is larger: beyond it, waiting costs more than handing over again. */
export const HAND_OVER_MAX_US = 6000;
/**
 * Hand-overs on their way to one worker: the one it runs, and two so that it need not wait for the main thread, since a
 * worker that finds several answers them together.
 */
export const HAND_OVERS_PER_WORKER = 3;

// Measured on one thread of an AMD EPYC (Zen 3): 16 KiB of 100-byte records in 5.1 µs, 1 KiB in 0.9 µs, a CRC over 1 MiB
// in 55 µs, 64 KiB of JSON in 12 to 15 KiB of zstd, gzip or lz4 in 30 to 70 µs.
const FIXED_US = 0.6;
const US_PER_COMPRESSED_BYTE = 0.0045;
/** A topic with a codec of its own may have to compress again; a guess, since most producers send what the topic wants. */
const US_PER_RECOMPRESSED_BYTE = 0.01;
/** From this level on, gzip and zstd take ten times as long and more. */
const HIGH_LEVEL = 7;
const HIGH_LEVEL_FACTOR = 10;
const KEEPS_CODEC: ReadonlySet<CompressionType> = new Set(['producer', 'uncompressed']);
const US_PER_RECORD_BYTE = 0.0003;
const US_PER_CRC_BYTE = 0.00006;
const US_PER_RECORD = 0.02;
/**
 * More records than this for each byte are not believed: most such claims are refused unread, and a hand-over of its own
 * for each would cost a hundred times that.
 */
const RECORDS_PER_BYTE_MAX = 8;

/**
 * From this estimate on an inline task is charged what it took, not what was expected, and every compressed batch is: a
 * hundred bytes can hide a megabyte, and the turn's budget must end after a few such ones. Below it, reading the clock
 * costs too much.
 */
export const MEASURED_FROM_US = 3;

/** What the estimate looks at in a task's first batch. */
export interface FirstBatch {
  readonly attributes: number;
  /** As its header claims. */
  readonly recordCount: number;
}

/** Whether a task of that estimate may wait for a worker, or is the main thread's in any case. */
export function isWorthHandingOver(task: RecordTask, costUs: number, { attributes }: FirstBatch): boolean {
  return costUs >= (isPlain(task, attributes) ? WORTH_HANDING_OVER_PLAIN_US : WORTH_HANDING_OVER_US);
}

/** Estimated CPU microseconds. */
export function estimateUs(task: RecordTask, { attributes, recordCount }: FirstBatch): number {
  if (task.kind === 'assign') return FIXED_US + task.size * US_PER_CRC_BYTE;
  if (isPlain(task, attributes)) return FIXED_US + task.size * US_PER_RECORD_BYTE;
  const records = Math.min(Math.max(0, recordCount), task.size * RECORDS_PER_BYTE_MAX);
  const readUs = task.size * US_PER_COMPRESSED_BYTE + records * US_PER_RECORD;
  return Math.max(MEASURED_FROM_US, FIXED_US + readUs + recompressionUs(task));
}

function recompressionUs(task: RecordTask): number {
  if (task.kind !== 'validate' || !recompresses(task)) return 0;
  const isHigh = (task.options.compressionLevel ?? 0) >= HIGH_LEVEL;
  return task.size * US_PER_RECOMPRESSED_BYTE * (isHigh ? HIGH_LEVEL_FACTOR : 1);
}

/** Nothing to decompress and nothing to compress. */
function isPlain(task: RecordTask, attributes: number): boolean {
  return task.kind === 'assign' || ((attributes & CODEC_MASK) === 0 && !recompresses(task));
}

function recompresses(task: RecordTask): boolean {
  return task.kind === 'validate' && !KEEPS_CODEC.has(task.options.compressionType);
}
