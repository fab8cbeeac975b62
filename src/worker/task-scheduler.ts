/**
 * Between the callers and the kernels: runs a task inline while the turn's budget lasts, else it waits. Of what waits,
 * small tasks are for the main thread's next turns, large ones are gathered and handed to workers; what is too little for
 * a hand-over runs inline too. Each of the two queues is first in, first out; each promise gets its own task's result.
 *
 * Main thread; owned by the record pool.
 */
import { ApiError } from '../common/errors.ts';
import type { Time } from '../common/time.ts';
import {
  HAND_OVER_EARLY_US,
  HAND_OVER_MAX_US,
  HAND_OVER_MIN_US,
  HAND_OVER_PART_US,
  HAND_OVERS_PER_WORKER,
  LARGE_BUDGET_US,
  MEASURED_FROM_US,
  SMALL_BUDGET_US,
} from './hand-over-policy.ts';
import type { RecordTask, RecordTaskResult } from './messages.ts';
import { type Waiter, type WaitingTask, WaitingTasks } from './waiting-tasks.ts';
import type { WorkerThreads } from './worker-threads.ts';

export interface TaskSchedulerOptions {
  readonly runInline: (task: RecordTask) => RecordTaskResult;
  /** Undefined runs everything inline. */
  readonly threads: WorkerThreads | undefined;
  readonly queueMaxBytes: number;
  readonly time: Time;
}

export class TaskScheduler {
  readonly #options: TaskSchedulerOptions;
  readonly #handOversMax: number;
  readonly #small = new WaitingTasks(SMALL_BUDGET_US);
  readonly #large = new WaitingTasks(LARGE_BUDGET_US);
  #queuedBytes = 0;
  /** Tasks that wait or are in workers. Their bytes alone would not do: a task may have none. */
  #queuedTasks = 0;
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

  /**
   * The result when the task fits into this turn; undefined when it has to wait: `enqueue` it then. `isLarge`: whether it
   * may go to a worker. @throws ApiError KAFKA_STORAGE_ERROR when the pool is closed
   */
  runNow(task: RecordTask, costUs: number, isLarge: boolean): RecordTaskResult | undefined {
    if (this.#closed) throw new ApiError('KAFKA_STORAGE_ERROR', 'the record pool is closed');
    return this.#options.threads && !this.#fitsThisTurn(this.#queueOf(isLarge), costUs)
      ? undefined
      : this.#runInline(task, costUs);
  }

  /**
   * Takes what `runNow` did not. The waiter is told KAFKA_STORAGE_ERROR when the worker died.
   * @throws ApiError KAFKA_STORAGE_ERROR when the queue is full
   */
  enqueue(task: RecordTask, costUs: number, isLarge: boolean, waiter: Waiter): void {
    const { queueMaxBytes } = this.#options;
    if (this.#queuedBytes + task.size > queueMaxBytes) throw queueFull(this.#queuedBytes, queueMaxBytes);
    this.#queuedBytes += task.size;
    this.#queuedTasks++;
    this.#armTurn();
    this.#queueOf(isLarge).push({ task, costUs, waiter });
    if (this.#large.costUs >= HAND_OVER_EARLY_US && this.#mayHandOver) this.#send(this.#large.costUs / 2);
  }

  /** Waits for everything that was accepted, then ends the threads. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#queuedTasks > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
    if (this.#turn) clearImmediate(this.#turn);
    await this.#options.threads?.close();
  }

  get #mayHandOver(): boolean {
    return this.#handOvers < this.#handOversMax;
  }

  #queueOf(isLarge: boolean): WaitingTasks {
    return isLarge ? this.#large : this.#small;
  }

  /** Nothing may overtake what waits in its queue already. */
  #fitsThisTurn(queue: WaitingTasks, costUs: number): boolean {
    return queue.length === 0 && this.#spentUs + costUs <= queue.budgetUs;
  }

  #runInline(task: RecordTask, costUs: number): RecordTaskResult {
    const { threads, runInline, time } = this.#options;
    // Asked here too: the call alone, for each task, was a twentieth of a small one.
    if (threads && !this.#turn) this.#armTurn();
    if (costUs < MEASURED_FROM_US) {
      this.#spentUs += costUs;
      return runInline(task);
    }
    const beforeMs = time.monotonicMs();
    const result = runInline(task);
    this.#spentUs += Math.max(costUs, (time.monotonicMs() - beforeMs) * 1000);
    return result;
  }

  /** The next turn of the event loop has a budget of its own. */
  #armTurn(): void {
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#spentUs = 0;
      this.#handOver();
      this.#runWaiting(this.#small);
      // What is left is too little to hand over; unless every worker is taken, in which case it may yet grow.
      if (this.#mayHandOver) this.#runWaiting(this.#large);
      this.#armTurnForTheRest();
    });
  }

  /** While every worker is taken, large tasks wait for one of them to be done, not for the next turn. */
  #armTurnForTheRest(): void {
    if (this.#small.length > 0 || (this.#large.length > 0 && this.#mayHandOver)) this.#armTurn();
  }

  /** The main thread does what fits into this turn, and at least something when nothing was done yet. */
  #runWaiting(queue: WaitingTasks): void {
    while (queue.length > 0) {
      if (this.#spentUs > 0 && this.#spentUs + queue.first.costUs > queue.budgetUs) return;
      const { task, costUs, waiter } = queue.shift();
      const result = this.#runInline(task, costUs);
      this.#settled([task]);
      waiter.resolve(result);
    }
  }

  /** Hands over groups as long as there is enough for one and a worker to take it. */
  #handOver(): void {
    while (this.#large.costUs >= HAND_OVER_MIN_US && this.#mayHandOver) {
      // A part of what is left, so that the last hand-overs are small and all workers end at about the same time.
      const shareUs = this.#large.costUs / this.#handOversMax;
      this.#send(Math.min(HAND_OVER_MAX_US, Math.max(HAND_OVER_PART_US, shareUs)));
    }
  }

  #send(shareUs: number): void {
    const group = this.#large.take(shareUs);
    this.#handOvers++;
    const done = this.#options.threads!.run(group.map(({ task }) => task));
    done.then(
      (results) => this.#ended(group, ({ resolve }, i) => resolve(results[i]!)),
      (cause: unknown) => {
        const lost = new ApiError('KAFKA_STORAGE_ERROR', 'the record worker was lost; try again', { cause });
        this.#ended(group, ({ reject }) => reject(lost));
      },
    );
  }

  /** The worker gets its next hand-over first: what callers do with results may take long. */
  #ended(group: readonly WaitingTask[], tell: (waiter: Waiter, index: number) => void): void {
    this.#handOvers--;
    this.#handOver();
    this.#settled(group.map(({ task }) => task));
    group.forEach(({ waiter }, i) => {
      tell(waiter, i);
    });
    this.#armTurnForTheRest();
  }

  #settled(tasks: readonly RecordTask[]): void {
    this.#queuedTasks -= tasks.length;
    for (const { size } of tasks) this.#queuedBytes -= size;
    if (this.#queuedTasks > 0) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function queueFull(queuedBytes: number, limit: number): ApiError {
  return new ApiError(
    'KAFKA_STORAGE_ERROR',
    `the record workers have ${queuedBytes} bytes waiting, limit ${limit}; send less or try again later`,
  );
}
