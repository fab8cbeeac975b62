/**
 * What runs inline and what goes to a worker: the one place that decides, from estimates of CPU time.
 *
 * A hand-over costs 60–90 µs of the two threads' time, as much as a CRC over a megabyte. So work goes to the workers in
 * groups worth several hundred microseconds; the main thread runs small work itself, but never more than a bounded amount
 * in one turn of its event loop.
 */
import { CODEC_MASK } from '../record/kernel-layout.ts';
import type { CompressionType } from '../record/validation.ts';
import type { RecordTask } from './messages.ts';

/** What the main thread may spend on record work in one turn of its event loop, microseconds. */
export const INLINE_BUDGET_US = 250;
/** The least work worth a hand-over. */
export const HAND_OVER_MIN_US = 400;
/** The most in one hand-over, unless a single task is larger: beyond it, waiting costs more than handing over again. */
export const HAND_OVER_MAX_US = 1500;
/** Hand-overs on their way to one worker: the one it runs, and one so that it need not wait for the main thread. */
export const HAND_OVERS_PER_WORKER = 2;

const FIXED_US = 2;
/** Plain bytes of compressed content are taken to be five times the compressed ones, decoded at 250 MB/s. */
const US_PER_COMPRESSED_BYTE = 0.02;
/** A topic with a codec of its own may have to compress again; a guess, since most producers send what the topic wants. */
const US_PER_RECOMPRESSED_BYTE = 0.01;
const KEEPS_CODEC: ReadonlySet<CompressionType> = new Set(['producer', 'uncompressed']);
const US_PER_RECORD_BYTE = 0.001;
const US_PER_CRC_BYTE = 0.0001;

/** Estimated CPU microseconds. `attributes` are those of the task's first batch. */
export function estimateUs(task: RecordTask, attributes: number): number {
  if (task.kind === 'assign') return FIXED_US + task.size * US_PER_CRC_BYTE;
  const compressed = (attributes & CODEC_MASK) !== 0;
  const readUs = task.size * (compressed ? US_PER_COMPRESSED_BYTE : US_PER_RECORD_BYTE);
  const recompresses = task.kind === 'validate' && !KEEPS_CODEC.has(task.options.compressionType);
  return FIXED_US + readUs + (recompresses ? task.size * US_PER_RECOMPRESSED_BYTE : 0);
}
