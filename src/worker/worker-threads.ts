/**
 * The worker threads: piscina, watched for tasks that never end, with regions given back when a thread has exited.
 *
 * Main thread; owned by the record pool. piscina itself replaces a thread that died. A stuck one is ended here, and its
 * hand-over fails once it has exited, never before: until then it may still write. (A thread that failed by itself has
 * stopped running the kernel when its error arrives.)
 */
import { fileURLToPath } from 'node:url';
import type { Worker } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { ApiError } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { Time, Timer } from '../common/time.ts';
import { HAND_OVERS_PER_WORKER } from './hand-over-policy.ts';
import type { RecordTask, RecordTaskResult, RecordWorkerData } from './messages.ts';
import { type PackedResults, packTasks, unpackResults } from './packed-hand-over.ts';
import { RegionClaims } from './region-claims.ts';

export interface WorkerThreadsOptions {
  readonly workers: number;
  readonly data: RecordWorkerData;
  readonly taskTimeoutMs: number;
  readonly time: Time;
  readonly logger: Logger;
}

export interface WorkerThreads {
  readonly workers: number;
  /** Runs a hand-over in one thread. Rejects when the thread died under it. */
  run(tasks: readonly RecordTask[]): Promise<RecordTaskResult[]>;
  /** Waits for what runs, then ends the threads. */
  close(): Promise<void>;
}

/** @throws ApiError KAFKA_STORAGE_ERROR when a worker does not start */
export async function openWorkerThreads(options: WorkerThreadsOptions): Promise<WorkerThreads> {
  const piscina = new Piscina({
    filename: fileURLToPath(import.meta.resolve('#record-worker')),
    name: 'runTasks',
    minThreads: options.workers,
    maxThreads: options.workers,
    concurrentTasksPerWorker: HAND_OVERS_PER_WORKER,
    idleTimeout: Number.POSITIVE_INFINITY,
    recordTiming: false,
    workerData: options.data,
    // piscina tries require() before import(). Node 20 ends the whole process when a thread is terminated while it
    // requires an ES module (a fatal error in ModuleWrap::InstantiateSync); importing one is safe. The process's own flags
    // are left out: some, like --expose-gc, are refused for a thread.
    execArgv: ['--no-experimental-require-module'],
  });
  const threads = new PiscinaThreads(piscina, options);
  try {
    // As many as the threads can hold at once, so that every one of them has answered.
    const empty = Array.from({ length: options.workers * HAND_OVERS_PER_WORKER }, () => threads.run([]));
    await Promise.all(empty);
  } catch (cause) {
    await piscina.destroy();
    throw new ApiError('KAFKA_STORAGE_ERROR', 'the record workers do not start', { cause });
  }
  return threads;
}

class PiscinaThreads implements WorkerThreads {
  readonly workers: number;
  readonly #piscina: Piscina;
  readonly #options: WorkerThreadsOptions;
  readonly #claims: RegionClaims;
  readonly #watched = new WeakSet<Worker>();
  /** Thread id → busy counter at the last look, and when it was first seen. */
  readonly #busySince = new Map<number, { counter: number; sinceMs: number }>();
  readonly #view: DataView;
  #watchdog: Timer | undefined;
  #running = 0;

  constructor(piscina: Piscina, options: WorkerThreadsOptions) {
    this.#piscina = piscina;
    this.#options = options;
    this.workers = options.workers;
    this.#claims = new RegionClaims(options.data.memory);
    this.#view = new DataView(options.data.memory.memory.buffer);
    this.#watchExits();
    piscina.on('workerCreate', () => this.#watchExits());
    // Without a listener a failure between hand-overs would end the process; with one, piscina replaces the thread.
    piscina.on('error', (error: Error) => {
      options.logger.error({ err: error }, 'a record worker failed');
      this.#failWithoutThreads();
    });
  }

  async run(tasks: readonly RecordTask[]): Promise<RecordTaskResult[]> {
    this.#running++;
    this.#watchExits();
    this.#armWatchdog();
    try {
      return unpackResults(tasks, (await this.#piscina.run(packTasks(tasks))) as PackedResults, this.#view);
    } finally {
      this.#running--;
    }
  }

  async close(): Promise<void> {
    this.#watchdog?.cancel();
    await this.#piscina.close();
  }

  /** A thread's id reads −1 once it has exited, so it is kept from the start. */
  #watchExits(): void {
    for (const thread of this.#piscina.threads) {
      if (this.#watched.has(thread)) continue;
      this.#watched.add(thread);
      const id = thread.threadId;
      thread.once('exit', () => {
        this.#claims.release(id);
        this.#busySince.delete(id);
      });
    }
  }

  #armWatchdog(): void {
    this.#watchdog ??= this.#options.time.setTimer(this.#options.taskTimeoutMs / 4, () => {
      this.#watchdog = undefined;
      this.#watchExits();
      for (const thread of this.#piscina.threads) this.#look(thread);
      this.#failWithoutThreads();
      if (this.#running > 0) this.#armWatchdog();
    });
  }

  /**
   * piscina does not replace a thread that ended while it started; only the next hand-over makes it try again. That one
   * never comes when all that there may be wait already: they fail, so that it does.
   */
  #failWithoutThreads(): void {
    if (this.#piscina.threads.length === 0) void this.#piscina.destroy();
  }

  /** Ends a thread whose busy counter has not moved for as long as a task may take. */
  #look(thread: Worker): void {
    const { taskTimeoutMs, time, logger } = this.#options;
    const id = thread.threadId;
    const counter = this.#claims.busyCounter(id);
    const seen = this.#busySince.get(id);
    if (counter === undefined || seen?.counter !== counter) {
      if (counter === undefined) this.#busySince.delete(id);
      else this.#busySince.set(id, { counter, sinceMs: time.monotonicMs() });
      return;
    }
    if (time.monotonicMs() - seen.sinceMs < taskTimeoutMs) return;
    logger.error({ threadId: id, taskTimeoutMs }, 'a record worker is stuck and is replaced');
    void thread.terminate();
  }
}
