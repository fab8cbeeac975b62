/** Time, injected everywhere: no module but this one reads a clock or arms a timer. */

/** An armed timer; cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void;
}

export interface Time {
  /** Wall clock, milliseconds since the epoch. It may step; never order events by it. */
  nowMs(): number;
  /** Milliseconds from a clock that never goes back; for durations and deadlines. */
  monotonicMs(): number;
  /** Calls `callback` once, no sooner than `delayMs` from now. Does not keep the process alive by itself. */
  setTimer(delayMs: number, callback: () => void): Timer;
}

export const systemTime: Time = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(delayMs, callback) {
    // Node clamps longer delays to 1 ms; a timer that far away may as well fire and be armed again by its owner.
    const handle = setTimeout(callback, Math.min(delayMs, 2 ** 31 - 1));
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `delayMs`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(time: Time, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(signal!.reason);
    };
    const timer = time.setTimer(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
