/**
 * How a hand-over crosses threads. Structured clone takes 1 to 2 µs for each object, on either side; a verdict and its task
 * would cost 4 µs, a twentieth of checking a 64 KiB batch. So numbers travel in one buffer, and what repeats travels once:
 * the options, which all batches of a request share. Only results out of the ordinary travel as objects.
 *
 * Pure functions, on either thread. Both sides are the same build on the same machine: native byte order is fine.
 */
import { Errors } from '../common/errors.ts';
import type { BatchVerdict } from '../record/batch-validator.ts';
import type { RecordTask, RecordTaskResult } from './messages.ts';

/** What a task is to do, without where its bytes lie. */
type Job = RecordTask extends infer T ? (T extends RecordTask ? Omit<T, 'address' | 'size'> : never) : never;

export interface PackedTasks {
  /** Three numbers for each task: address, size, index into `jobs`. */
  readonly places: Float64Array;
  readonly jobs: readonly Job[];
}

export interface PackedResults {
  readonly count: number;
  /** `VERDICT_BYTES` for each result; zeros where the result is among the exceptions. */
  readonly verdicts: ArrayBuffer;
  /** Everything that is not a sound batch left where it lies, with its index. */
  readonly exceptions: readonly (readonly [index: number, result: RecordTaskResult])[];
}

const NUMBERS_PER_TASK = 3;

export function packTasks(tasks: readonly RecordTask[]): PackedTasks {
  const places = new Float64Array(tasks.length * NUMBERS_PER_TASK);
  const jobs: Job[] = [];
  const jobOfOptions = new Map<object, number>();
  tasks.forEach((task, i) => {
    const key = task.kind === 'find' ? task : task.options;
    let job = jobOfOptions.get(key);
    if (job === undefined) {
      const { address: _address, size: _size, ...rest } = task;
      job = jobs.push(rest) - 1;
      jobOfOptions.set(key, job);
    }
    places.set([task.address, task.size, job], i * NUMBERS_PER_TASK);
  });
  return { places, jobs };
}

export function unpackTasks({ places, jobs }: PackedTasks): RecordTask[] {
  const tasks: RecordTask[] = [];
  for (let i = 0; i < places.length; i += NUMBERS_PER_TASK) {
    tasks.push({ ...jobs[places[i + 2]!]!, address: places[i]!, size: places[i + 1]! });
  }
  return tasks;
}

// A verdict: 64-bit max timestamp and producer id, then 32-bit fields.
const MAX_TIMESTAMP = 0;
const PRODUCER_ID = 8;
const SIZE_BYTES = 16;
const CRC = 20;
const RECORD_COUNT = 24;
const LAST_OFFSET_DELTA = 28;
const OFFSET_OF_MAX_TIMESTAMP_DELTA = 32;
const BASE_SEQUENCE = 36;
const PRODUCER_EPOCH = 40;
const ATTRIBUTES = 44;
const VERDICT_BYTES = 48;

export function packResults(results: readonly RecordTaskResult[]): PackedResults {
  const verdicts = new ArrayBuffer(results.length * VERDICT_BYTES);
  const view = new DataView(verdicts);
  const exceptions: [number, RecordTaskResult][] = [];
  results.forEach((result, i) => {
    if (isOrdinary(result)) packVerdict(view, i * VERDICT_BYTES, result.verdict);
    else exceptions.push([i, result]);
  });
  return { count: results.length, verdicts, exceptions };
}

/** A sound batch that stays where it lies: all that its verdict says are numbers. */
function isOrdinary(result: RecordTaskResult): result is RecordTaskResult & { readonly kind: 'validate' } {
  return result.kind === 'validate' && result.verdict.error === Errors.NONE && result.verdict.rebuilt === undefined;
}

function packVerdict(view: DataView, at: number, verdict: BatchVerdict): void {
  view.setBigInt64(at + MAX_TIMESTAMP, verdict.maxTimestamp);
  view.setBigInt64(at + PRODUCER_ID, verdict.producerId);
  view.setUint32(at + SIZE_BYTES, verdict.sizeBytes);
  view.setUint32(at + CRC, verdict.crc);
  view.setInt32(at + RECORD_COUNT, verdict.recordCount);
  view.setInt32(at + LAST_OFFSET_DELTA, verdict.lastOffsetDelta);
  view.setInt32(at + OFFSET_OF_MAX_TIMESTAMP_DELTA, verdict.offsetOfMaxTimestampDelta);
  view.setInt32(at + BASE_SEQUENCE, verdict.baseSequence);
  view.setInt32(at + PRODUCER_EPOCH, verdict.producerEpoch);
  view.setInt32(at + ATTRIBUTES, verdict.attributes);
}

export function unpackResults({ count, verdicts, exceptions }: PackedResults): RecordTaskResult[] {
  const view = new DataView(verdicts);
  const results: RecordTaskResult[] = new Array(count);
  for (const [index, result] of exceptions) results[index] = result;
  for (let i = 0; i < count; i++) results[i] ??= { kind: 'validate', verdict: unpackVerdict(view, i * VERDICT_BYTES) };
  return results;
}

function unpackVerdict(view: DataView, at: number): BatchVerdict {
  return {
    error: Errors.NONE,
    message: '',
    recordIndex: -1,
    sizeBytes: view.getUint32(at + SIZE_BYTES),
    rebuilt: undefined,
    attributes: view.getInt32(at + ATTRIBUTES),
    lastOffsetDelta: view.getInt32(at + LAST_OFFSET_DELTA),
    recordCount: view.getInt32(at + RECORD_COUNT),
    maxTimestamp: view.getBigInt64(at + MAX_TIMESTAMP),
    offsetOfMaxTimestampDelta: view.getInt32(at + OFFSET_OF_MAX_TIMESTAMP_DELTA),
    producerId: view.getBigInt64(at + PRODUCER_ID),
    producerEpoch: view.getInt32(at + PRODUCER_EPOCH),
    baseSequence: view.getInt32(at + BASE_SEQUENCE),
    crc: view.getUint32(at + CRC),
  };
}
