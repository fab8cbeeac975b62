/**
 * Between the callers and the kernels: runs a task inline while the turn's budget lasts, else gathers it with others and
 * hands the group to a worker. Tasks start in the order in which they came; each promise gets its own task's result.
 *
 * Main thread; owned by the record pool.
 */
import { ApiError } from '../common/errors.ts';
import { HAND_OVER_MAX_US, HAND_OVER_MIN_US, HAND_OVERS_PER_WORKER, INLINE_BUDGET_US } from './hand-over-policy.ts';
import type { RecordTask, RecordTaskResult } from './messages.ts';
import type { WorkerThreads } from './worker-threads.ts';

interface WaitingTask {
  readonly task: RecordTask;
  readonly costUs: number;
  resolve(result: RecordTaskResult): void;
  reject(error: ApiError): void;
}

export interface TaskSchedulerOptions {
  readonly runInline: (task: RecordTask) => RecordTaskResult;
  /** Undefined runs everything inline. */
  readonly threads: WorkerThreads | undefined;
  readonly queueMaxBytes: number;
}

export class TaskScheduler {
  readonly #options: TaskSchedulerOptions;
  readonly #handOversMax: number;
  #waiting: WaitingTask[] = [];
  #waitingUs = 0;
  #queuedBytes = 0;
  #handOvers = 0;
  #spentUs = 0;
  #turn: NodeJS.Immediate | undefined;
  #idle: (() => void)[] = [];
  #closed = false;

  constructor(options: TaskSchedulerOptions) {
    this.#options = options;
    this.#handOversMax = (options.threads?.workers ?? 0) * HAND_OVERS_PER_WORKER;
  }

  /** Bytes of tasks that wait or are in workers. */
  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  /** @throws ApiError (as a rejection) KAFKA_STORAGE_ERROR: the queue is full, the pool closed, or the worker died. */
  run(task: RecordTask, costUs: number): Promise<RecordTaskResult> {
    if (this.#closed) return Promise.reject(new ApiError('KAFKA_STORAGE_ERROR', 'the record pool is closed'));
    if (!this.#options.threads || this.#fitsThisTurn(costUs)) return Promise.resolve(this.#runInline(task, costUs));
    const { queueMaxBytes } = this.#options;
    if (this.#queuedBytes + task.size > queueMaxBytes)
      return Promise.reject(queueFull(this.#queuedBytes, queueMaxBytes));
    this.#queuedBytes += task.size;
    this.#waitingUs += costUs;
    this.#armTurn();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ task, costUs, resolve, reject });
      if (this.#waitingUs >= HAND_OVER_MAX_US) this.#handOver();
    });
  }

  /** Waits for everything that was accepted, then ends the threads. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#queuedBytes > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    if (this.#turn) clearImmediate(this.#turn);
    await this.#options.threads?.close();
  }

  /** Nothing may overtake what waits already. */
  #fitsThisTurn(costUs: number): boolean {
    return this.#waiting.length === 0 && this.#spentUs + costUs <= INLINE_BUDGET_US;
  }

  #runInline(task: RecordTask, costUs: number): RecordTaskResult {
    this.#spentUs += costUs;
    this.#armTurn();
    return this.#options.runInline(task);
  }

  #armTurn(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#spentUs = 0;
      this.#handOver();
      this.#runFittingInline();
      if (this.#waiting.length > 0 && this.#handOvers < this.#handOversMax) this.#armTurn();
    });
  }

  /** Too little for a hand-over, and no worker will free up to take it along: the main thread does it, budget by budget. */
  #runFittingInline(): void {
    while (this.#waiting.length > 0 && this.#handOvers < this.#handOversMax) {
      const { task, costUs, resolve } = this.#waiting[0]!;
      if (this.#spentUs > 0 && this.#spentUs + costUs > INLINE_BUDGET_US) return;
      this.#take(1);
      const result = this.#runInline(task, costUs);
      this.#settled([task]);
      resolve(result);
    }
  }

  /** Hands over groups as long as there is enough for one and a worker to take it. */
  #handOver(): void {
    while (this.#waitingUs >= HAND_OVER_MIN_US && this.#handOvers < this.#handOversMax) {
      const free = this.#handOversMax - this.#handOvers;
      const shareUs = Math.min(HAND_OVER_MAX_US, Math.max(HAND_OVER_MIN_US, this.#waitingUs / free));
      let count = 0;
      for (let costUs = 0; count < this.#waiting.length && costUs < shareUs; count++)
        costUs += this.#waiting[count]!.costUs;
      void this.#send(this.#take(count));
    }
  }

  async #send(group: WaitingTask[]): Promise<void> {
    this.#handOvers++;
    const tasks = group.map(({ task }) => task);
    try {
      const results = await this.#options.threads!.run(tasks);
      group.forEach(({ resolve }, i) => {
        resolve(results[i]!);
      });
    } catch (error) {
      const lost = new ApiError('KAFKA_STORAGE_ERROR', 'the record worker was lost; try again', { cause: error });
      for (const { reject } of group) reject(lost);
    }
    this.#handOvers--;
    this.#settled(tasks);
    this.#handOver();
    if (this.#waiting.length > 0) this.#armTurn();
  }

  #take(count: number): WaitingTask[] {
    const group = this.#waiting.splice(0, count);
    for (const { costUs } of group) this.#waitingUs -= costUs;
    if (this.#waiting.length === 0) this.#waitingUs = 0;
    return group;
  }

  #settled(tasks: readonly RecordTask[]): void {
    for (const { size } of tasks) this.#queuedBytes -= size;
    if (this.#queuedBytes > 0 || this.#waiting.length > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function queueFull(queuedBytes: number, limit: number): ApiError {
  return new ApiError(
    'KAFKA_STORAGE_ERROR',
    `the record workers have ${queuedBytes} bytes waiting, limit ${limit}; send less or try again later`,
  );
}
