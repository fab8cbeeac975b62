/** The scheduler by itself, with threads that answer when the test says so. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { type Deferred, deferred } from '../../src/common/lifecycle.ts';
import type { Time } from '../../src/common/time.ts';
import {
  HAND_OVER_MAX_US,
  HAND_OVER_MIN_US,
  HAND_OVERS_PER_WORKER,
  LARGE_BUDGET_US,
  SMALL_BUDGET_US,
} from '../../src/worker/hand-over-policy.ts';
import type { RecordTask, RecordTaskResult } from '../../src/worker/messages.ts';
import { TaskScheduler } from '../../src/worker/task-scheduler.ts';
import type { Waiter } from '../../src/worker/waiting-tasks.ts';

const taskOf = (address: number, size = 1): RecordTask => ({
  kind: 'find',
  address,
  size,
  timestamp: 0n,
  fromOffset: 0n,
});
const resultOf = (address: number): RecordTaskResult => ({
  kind: 'find',
  found: { offset: BigInt(address), timestamp: 0n },
});
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function setUp(inlineMs: (task: RecordTask) => number = () => 0) {
  let nowMs = 0;
  const inline: number[] = [];
  const groups: { tasks: readonly RecordTask[]; answer: Deferred<RecordTaskResult[]> }[] = [];
  const time = { monotonicMs: () => nowMs } as Time;
  const scheduler = new TaskScheduler({
    time,
    queueMaxBytes: 1000,
    runInline: (task) => {
      inline.push(task.address);
      nowMs += inlineMs(task);
      return resultOf(task.address);
    },
    threads: {
      workers: 1,
      run: (tasks) => {
        const answer = deferred<RecordTaskResult[]>();
        groups.push({ tasks, answer });
        return answer.promise;
      },
      close: async () => {},
    },
  });
  const finish = (): void => {
    for (const { tasks, answer } of groups.splice(0)) answer.resolve(tasks.map(({ address }) => resultOf(address)));
  };
  /** As the pool does: at once when it fits into the turn, else later. */
  const run = (task: RecordTask, costUs: number, isLarge: boolean): RecordTaskResult | Promise<RecordTaskResult> =>
    scheduler.runNow(task, costUs, isLarge) ??
    new Promise((resolve, reject) => scheduler.enqueue(task, costUs, isLarge, { resolve, reject }));
  return { scheduler, run, inline, groups, finish };
}

describe('task scheduler', () => {
  it('runs what fits into the turn at once, and the rest of the small tasks in the turns after it', async () => {
    const { run, inline } = setUp();
    const perTurn = SMALL_BUDGET_US / 2;
    const all = Array.from({ length: 2.5 * perTurn }, (_, i) => run(taskOf(i, 0), 2, false));
    expect(inline.length).toBe(perTurn);
    await nextTurn();
    expect(inline.length).toBe(2 * perTurn);
    await Promise.all(all);
    expect(inline).toEqual(inline.toSorted((a, b) => a - b));
    expect(inline.length).toBe(all.length);
  });

  it('hands large tasks over in groups, and gives each its own result', async () => {
    const { scheduler, run, groups, finish } = setUp();
    // Far more than a turn's budget and the hand-overs to one worker hold together.
    const held = LARGE_BUDGET_US + HAND_OVERS_PER_WORKER * HAND_OVER_MAX_US;
    const count = Math.ceil((2 * held) / (HAND_OVER_MIN_US / 2));
    const all = Array.from({ length: count }, (_, i) => run(taskOf(i), HAND_OVER_MIN_US / 2, true));
    expect(groups.length).toBe(HAND_OVERS_PER_WORKER);
    expect(groups.every(({ tasks }) => tasks.length > 1)).toBe(true);
    for (let i = 0; i < count; i++) {
      finish();
      await nextTurn();
    }
    expect(await Promise.all(all)).toEqual(all.map((_, i) => resultOf(i)));
    expect(scheduler.queuedBytes).toBe(0);
  });

  it('ends the turn after a task that took far longer than expected', async () => {
    const { run, inline } = setUp(() => 50);
    const all = Array.from({ length: 5 }, (_, i) => run(taskOf(i), 5, false));
    expect(inline).toEqual([0]);
    await nextTurn();
    expect(inline).toEqual([0, 1]);
    await Promise.all(all);
  });

  it('tells the callers of a lost worker to try again, and goes on', async () => {
    const { run, groups, finish } = setUp();
    const [, lost] = [run(taskOf(0), LARGE_BUDGET_US, true), run(taskOf(1), 5000, true)];
    groups.splice(0)[0]!.answer.reject(new Error('exited'));
    await expect(lost).rejects.toMatchObject({ code: 'KAFKA_STORAGE_ERROR', retriable: true });
    const next = run(taskOf(2), 5000, true);
    finish();
    expect(await next).toEqual(resultOf(2));
  });

  it('refuses more bytes than it may hold, and waits for the others at close', async () => {
    const { scheduler, run, finish } = setUp();
    const held = run(taskOf(1, 900), 5000, true);
    await expect(run(taskOf(2, 200), 5000, true)).rejects.toThrow(/900 bytes waiting, limit 1000/);
    let closed = false;
    const closing = scheduler.close().then(() => {
      closed = true;
    });
    await nextTurn();
    expect(closed).toBe(false);
    expect(() => run(taskOf(3), 1, false)).toThrow(/closed/);
    finish();
    await Promise.all([held, closing]);
  });

  it('waits at close for tasks without bytes as well', async () => {
    const { scheduler, run } = setUp(() => SMALL_BUDGET_US / 1000);
    run(taskOf(0), 5, false);
    const waiting = run(taskOf(1, 0), 5, false);
    await scheduler.close();
    expect(await waiting).toEqual(resultOf(1));
  });

  it('lets go of what is done, though something always waits', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    const { scheduler, groups } = setUp();
    const enqueue = (waiter: Waiter): void => scheduler.enqueue(taskOf(0), HAND_OVER_MAX_US, true, waiter);
    const newWaiter = (): Waiter => ({ resolve: () => {}, reject: () => {} });
    for (let i = 0; i < 9; i++) enqueue(newWaiter());
    const gone = ((): WeakRef<Waiter> => {
      const waiter = newWaiter();
      enqueue(waiter);
      return new WeakRef(waiter);
    })();
    for (let i = 0; i < 3000; i++) {
      enqueue(newWaiter());
      groups.shift()!.answer.resolve([resultOf(0)]);
      await nextTurn();
    }
    expect([scheduler.queuedBytes, groups.length]).toEqual([10, HAND_OVERS_PER_WORKER]);
    collectGarbage();
    expect(gone.deref()).toBeUndefined();
  });
});
