/**
 * The record pool: one shared memory, a kernel on the main thread, record workers in piscina, and the slabs between them.
 *
 * Main thread. `openRecordPool` constructs it, the engine closes it. A caller's slab must stay leased until its promise
 * settles; a promise of work that was in a worker which died settles only after that thread has exited, so no killed
 * thread can still write into bytes that were given back.
 */
import { availableParallelism } from 'node:os';
import { ApiError, Errors } from '../common/errors.ts';
import { once } from '../common/lifecycle.ts';
import { type Logger, silentLogger } from '../common/logger.ts';
import { systemTime, type Time } from '../common/time.ts';
import { type BatchVerdict, refuse } from '../record/batch-verdict.ts';
import { ATTRIBUTES, RECORD_COUNT, RECORDS } from '../record/kernel-layout.ts';
import { createKernelMemory, kernelModule, RecordKernel } from '../record/record-kernel.ts';
import type { ReadRecords, ReadRecordsOptions } from '../record/record-reader.ts';
import type { AssignedRun, AssignOffsetsOptions, ValidatedBatch, ValidationOptions } from '../record/validation.ts';
import { estimateUs, type FirstBatch, isWorthHandingOver } from './hand-over-policy.ts';
import type { RecordTask, RecordTaskResult } from './messages.ts';
import type { RecordPool, TimestampedOffset } from './record-pool.ts';
import { runTask } from './record-tasks.ts';
import { FRAGMENTATION_ALLOWANCE, SharedSlabPool } from './shared-slab-pool.ts';
import type { Slab } from './slab-pool.ts';
import { TaskScheduler } from './task-scheduler.ts';
import { openWorkerThreads } from './worker-threads.ts';

export interface RecordPoolOptions {
  /** Bytes that producers' records may take in all, from the door until the commit. @default 256 MiB */
  readonly appendCapacityBytes?: number;
  /** Bytes for GETs in flight and the local view. @default 512 MiB */
  readonly fetchCapacityBytes?: number;
  /** Record workers. 0 runs everything inline. @default one for each CPU, at most 8 */
  readonly workerThreads?: number;
  /** Bytes of record work that may wait or be in workers; more is refused with a retriable error. @default 512 MiB */
  readonly queueMaxBytes?: number;
  /** A task that takes longer in a worker counts as stuck: the worker is replaced. @default 10 s */
  readonly taskTimeoutMs?: number;
  /** The most plain bytes that a compressed batch may have. @default 32 MiB */
  readonly contentMaxBytes?: number;
  readonly time?: Time;
  readonly logger?: Logger;
}

const MiB = 1024 * 1024;

const DEFAULTS = {
  appendCapacityBytes: 256 * MiB,
  fetchCapacityBytes: 512 * MiB,
  queueMaxBytes: 512 * MiB,
  taskTimeoutMs: 10_000,
  contentMaxBytes: 32 * MiB,
} as const;

/**
 * Opens the pool: lays out the memory, compiles the kernel, starts the workers and waits until each has answered.
 * @throws RangeError for limits that do not fit together; ApiError KAFKA_STORAGE_ERROR when the workers do not start
 */
export async function openRecordPool(options: RecordPoolOptions = {}): Promise<RecordPool> {
  const settings = { ...DEFAULTS, time: systemTime, logger: silentLogger, ...options };
  const workers = settings.workerThreads ?? Math.min(8, availableParallelism());
  const { appendCapacityBytes, fetchCapacityBytes, contentMaxBytes } = settings;
  const memory = createKernelMemory({
    // A worker that is being killed keeps its region until its thread has exited; its successor takes another.
    regions: 1 + 2 * workers,
    contentBytes: contentMaxBytes,
    slabsBytes: Math.ceil((appendCapacityBytes + fetchCapacityBytes) * FRAGMENTATION_ALLOWANCE),
  });
  const module = kernelModule();
  const kernel = new RecordKernel(module, memory, 0);
  const slabs = new SharedSlabPool(
    { buffer: memory.memory.buffer, address: memory.slabsAddress, size: memory.slabsBytes },
    { append: appendCapacityBytes, fetch: fetchCapacityBytes },
  );
  const threads =
    workers === 0 ? undefined : await openWorkerThreads({ workers, data: { module, memory }, ...settings });
  const scheduler = new TaskScheduler({
    runInline: (task) => runTask(kernel, task),
    threads,
    queueMaxBytes: settings.queueMaxBytes,
    time: settings.time,
  });
  return new PiscinaRecordPool({ kernel, slabs, scheduler, logger: settings.logger });
}

interface Parts {
  readonly kernel: RecordKernel;
  readonly slabs: SharedSlabPool;
  readonly scheduler: TaskScheduler;
  readonly logger: Logger;
}

class PiscinaRecordPool implements RecordPool {
  readonly slabs: SharedSlabPool;
  readonly close: () => Promise<void>;
  readonly #kernel: RecordKernel;
  readonly #scheduler: TaskScheduler;
  readonly #logger: Logger;

  constructor({ kernel, slabs, scheduler, logger }: Parts) {
    this.#kernel = kernel;
    this.slabs = slabs;
    this.#scheduler = scheduler;
    this.#logger = logger;
    this.close = once(async () => {
      await this.#scheduler.close();
      this.slabs.assertAllReturned();
    });
  }

  validate(records: Uint8Array, options: ValidationOptions): Promise<{ batch: ValidatedBatch; slab?: Slab }> {
    const address = this.#kernel.addressOf(records);
    return this.#run({ kind: 'validate', address, size: records.length, options }, (result) =>
      result.kind === 'validate' ? this.#withBytes(records, result.verdict) : { batch: undecided(result) },
    );
  }

  assignOffsets(run: Uint8Array, options: AssignOffsetsOptions): Promise<AssignedRun> {
    const address = this.#kernel.addressOf(run);
    return this.#run({ kind: 'assign', address, size: run.length, options }, (result) => {
      if (result.kind === 'assign') return result.run;
      const { baseOffset } = options;
      return {
        error: Errors.CORRUPT_MESSAGE,
        message: reasonOf(result),
        goodBytes: 0,
        batches: 0,
        nextOffset: baseOffset,
      };
    });
  }

  offsetForTimestamp(run: Uint8Array, timestamp: bigint, fromOffset = 0n): Promise<TimestampedOffset | undefined> {
    const address = this.#kernel.addressOf(run);
    return this.#run({ kind: 'find', address, size: run.length, timestamp, fromOffset }, (result) => {
      if (result.kind === 'find') return result.found;
      throw new ApiError('CORRUPT_MESSAGE', reasonOf(result));
    });
  }

  readRecords(run: Uint8Array, options: ReadRecordsOptions): Promise<ReadRecords> {
    const address = this.#kernel.addressOf(run);
    return this.#run({ kind: 'read', address, size: run.length, options }, (result) => {
      if (result.kind === 'read') return result.read;
      throw new ApiError('CORRUPT_MESSAGE', reasonOf(result));
    });
  }

  /** One promise for each task and nothing else that lives as long: a burst has thousands, which GC would copy. */
  #run<T>(task: RecordTask, convert: (result: RecordTaskResult) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const first = this.#firstBatch(task);
      const costUs = estimateUs(task, first);
      const isLarge = isWorthHandingOver(task, costUs, first);
      const result = this.#scheduler.runNow(task, costUs, isLarge);
      if (result) {
        resolve(this.#converted(task, result, convert));
        return;
      }
      this.#scheduler.enqueue(task, costUs, isLarge, {
        resolve: (late) => {
          try {
            resolve(this.#converted(task, late, convert));
          } catch (error) {
            reject(error);
          }
        },
        reject,
      });
    });
  }

  #converted<T>(task: RecordTask, result: RecordTaskResult, convert: (result: RecordTaskResult) => T): T {
    if (result.kind === 'failed') this.#logger.error({ task: task.kind, size: task.size }, result.message);
    return convert(result);
  }

  #firstBatch({ address, size }: RecordTask): FirstBatch {
    if (size < RECORDS) return { attributes: 0, recordCount: 0 };
    const { view } = this.#kernel;
    return { attributes: view.getUint16(address + ATTRIBUTES), recordCount: view.getInt32(address + RECORD_COUNT) };
  }

  /** A rebuilt batch came as an array of its own; it moves into a slab, as every other byte of records does. */
  #withBytes(records: Uint8Array, verdict: BatchVerdict): { batch: ValidatedBatch; slab?: Slab } {
    const { sizeBytes, rebuilt } = verdict;
    if (!rebuilt) return { batch: batchOf(verdict, records.subarray(0, sizeBytes)) };
    const slab = this.slabs.lease(rebuilt.length, 'append');
    if (!slab) {
      throw new ApiError(
        'KAFKA_STORAGE_ERROR',
        `no room for a rebuilt batch of ${rebuilt.length} bytes: the append account is full; try again`,
      );
    }
    slab.bytes.set(rebuilt);
    return { batch: batchOf(verdict, slab.bytes), slab };
  }
}

/** Field by field: leaving two out of a spread costs a microsecond. */
function batchOf(verdict: BatchVerdict, bytes: Uint8Array): ValidatedBatch {
  return {
    error: verdict.error,
    message: verdict.message,
    recordIndex: verdict.recordIndex,
    recordErrors: verdict.recordErrors,
    bytes,
    attributes: verdict.attributes,
    lastOffsetDelta: verdict.lastOffsetDelta,
    recordCount: verdict.recordCount,
    maxTimestamp: verdict.maxTimestamp,
    offsetOfMaxTimestampDelta: verdict.offsetOfMaxTimestampDelta,
    producerId: verdict.producerId,
    producerEpoch: verdict.producerEpoch,
    baseSequence: verdict.baseSequence,
    crc: verdict.crc,
  };
}

const reasonOf = (result: RecordTaskResult): string => (result.kind === 'failed' ? result.message : 'no verdict');

/** What a producer is told when the kernel itself failed over its bytes. Never UNKNOWN_SERVER_ERROR. */
function undecided(result: RecordTaskResult): ValidatedBatch {
  return batchOf(refuse('CORRUPT_MESSAGE', `the batch cannot be read: ${reasonOf(result)}`), new Uint8Array(0));
}
