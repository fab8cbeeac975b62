/**
 * A queue of record tasks that had to wait, with the sum of its costs; first in, first out. Main thread; owned by the task
 * scheduler.
 */
import type { ApiError } from '../common/errors.ts';
import type { RecordTask, RecordTaskResult } from './messages.ts';

/** Whom a task's result is for, when it had to wait; one of the two is called, once. */
export interface Waiter {
  resolve(result: RecordTaskResult): void;
  reject(error: ApiError): void;
}

export interface WaitingTask {
  readonly task: RecordTask;
  readonly costUs: number;
  readonly waiter: Waiter;
}

/** Tasks that are gone are let go of when there are as many, and as many as still wait. */
const GONE_MAX = 1024;

export class WaitingTasks {
  /** How far into a turn's time the main thread runs tasks of this queue. */
  readonly budgetUs: number;
  #tasks: WaitingTask[] = [];
  /** Index of the first; those before it are gone. */
  #head = 0;
  #costUs = 0;

  constructor(budgetUs: number) {
    this.budgetUs = budgetUs;
  }

  get length(): number {
    return this.#tasks.length - this.#head;
  }

  get costUs(): number {
    return this.#costUs;
  }

  get first(): WaitingTask {
    return this.#tasks[this.#head]!;
  }

  push(task: WaitingTask): void {
    this.#tasks.push(task);
    this.#costUs += task.costUs;
  }

  shift(): WaitingTask {
    const task = this.first;
    this.#head++;
    this.#costUs -= task.costUs;
    if (this.length === 0) this.#costUs = 0;
    // Under load the queue may never be empty; and slicing for every task would copy the queue each time.
    if (this.length === 0 || (this.#head >= GONE_MAX && this.#head >= this.length)) {
      this.#tasks = this.#tasks.slice(this.#head);
      this.#head = 0;
    }
    return task;
  }

  /** Tasks from the front until they cost `shareUs`; at least one. */
  take(shareUs: number): WaitingTask[] {
    const taken: WaitingTask[] = [];
    for (let costUs = 0; this.length > 0 && costUs < shareUs; costUs += taken.at(-1)!.costUs) taken.push(this.shift());
    return taken;
  }
}
