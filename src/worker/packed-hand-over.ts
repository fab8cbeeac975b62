/**
 * How a hand-over crosses threads. Structured clone takes 1 to 2 µs for each object, on either side; a verdict and its task
 * would cost 4 µs, a twentieth of checking a 64 KiB batch. So numbers travel in one array, and what repeats travels once:
 * the options, which all batches of a request share. The verdict over a sound batch is not sent at all but for two numbers:
 * its header, in the memory that both threads see, says the rest. Only results out of the ordinary travel as objects.
 *
 * Pure functions, on either thread. The batches are not touched from before the hand-over until its results are unpacked.
 */
import { unreachable } from '../common/assert.ts';
import { Errors } from '../common/errors.ts';
import { type BatchVerdict, soundVerdict } from '../record/batch-verdict.ts';
import type { RecordTask, RecordTaskResult } from './messages.ts';

/** What a task is to do, without where its bytes lie. */
type Job = RecordTask extends infer T ? (T extends RecordTask ? Omit<T, 'address' | 'size'> : never) : never;

export interface PackedTasks {
  /** Three numbers for each task: address, size, index into `jobs`. */
  readonly places: Float64Array;
  readonly jobs: readonly Job[];
}

export interface PackedResults {
  /** Two numbers for each sound batch left where it lies: its size, and its `offsetOfMaxTimestampDelta`. */
  readonly sound: Int32Array;
  /** Everything else, with its index. */
  readonly exceptions: readonly (readonly [index: number, result: RecordTaskResult])[];
}

const NUMBERS_PER_TASK = 3;
const NUMBERS_PER_RESULT = 2;

export function packTasks(tasks: readonly RecordTask[]): PackedTasks {
  const places = new Float64Array(tasks.length * NUMBERS_PER_TASK);
  const jobs: Job[] = [];
  const jobOfOptions = new Map<object, number>();
  let at = 0;
  for (const task of tasks) {
    const key = task.kind === 'find' ? task : task.options;
    let job = jobOfOptions.get(key);
    if (job === undefined) {
      const { address: _address, size: _size, ...rest } = task;
      job = jobs.push(rest) - 1;
      jobOfOptions.set(key, job);
    }
    places[at++] = task.address;
    places[at++] = task.size;
    places[at++] = job;
  }
  return { places, jobs };
}

/** Runs each task, in the worker. */
export function runPacked({ places, jobs }: PackedTasks, run: (task: RecordTask) => RecordTaskResult): PackedResults {
  const count = places.length / NUMBERS_PER_TASK;
  const sound = new Int32Array(count * NUMBERS_PER_RESULT);
  const exceptions: [number, RecordTaskResult][] = [];
  for (let i = 0; i < count; i++) {
    const at = i * NUMBERS_PER_TASK;
    const result = run(placed(jobs[places[at + 2]!]!, places[at]!, places[at + 1]!));
    if (isSoundInPlace(result)) {
      sound[i * NUMBERS_PER_RESULT] = result.verdict.sizeBytes;
      sound[i * NUMBERS_PER_RESULT + 1] = result.verdict.offsetOfMaxTimestampDelta;
    } else exceptions.push([i, result]);
  }
  return { sound, exceptions };
}

/** Field by field: spreading an object that was cloned across threads costs a microsecond. */
function placed(job: Job, address: number, size: number): RecordTask {
  switch (job.kind) {
    case 'validate':
      return { kind: 'validate', address, size, options: job.options };
    case 'assign':
      return { kind: 'assign', address, size, options: job.options };
    case 'find':
      return { kind: 'find', address, size, timestamp: job.timestamp, fromOffset: job.fromOffset };
    case 'read':
      return { kind: 'read', address, size, options: job.options };
    default:
      return unreachable(job);
  }
}

function isSoundInPlace(
  result: RecordTaskResult,
): result is { readonly kind: 'validate'; readonly verdict: BatchVerdict } {
  return result.kind === 'validate' && result.verdict.error === Errors.NONE && result.verdict.rebuilt === undefined;
}

/** `view`: over the memory in which the tasks' addresses lie. */
export function unpackResults(
  tasks: readonly RecordTask[],
  { sound, exceptions }: PackedResults,
  view: DataView,
): RecordTaskResult[] {
  const results: RecordTaskResult[] = new Array(tasks.length);
  for (const [index, result] of exceptions) results[index] = result;
  tasks.forEach(({ address }, i) => {
    if (results[i] !== undefined) return;
    const at = i * NUMBERS_PER_RESULT;
    results[i] = { kind: 'validate', verdict: soundVerdict(view, address, sound[at + 1]!, sound[at]!) };
  });
  return results;
}
