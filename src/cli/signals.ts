/** SIGINT and SIGTERM: the first one asks to stop, a second one to abort. */

export interface StopSignals {
  /** Resolves with the first signal. */
  readonly stop: Promise<void>;
  /** Leaves signals to their defaults again. */
  close(): void;
}

/**
 * Ctrl-C under `npm start` arrives twice, from the terminal and passed on by npm; what follows this closely is the same
 * one.
 */
const SAME_SIGNAL_MS = 200;

export function onStopSignals(nowMs: () => number, abort: () => void): StopSignals {
  let firstMs: number | undefined;
  let stopNow!: () => void;
  const stop = new Promise<void>((resolve) => {
    stopNow = resolve;
  });
  const onSignal = (): void => {
    if (firstMs !== undefined && nowMs() - firstMs > SAME_SIGNAL_MS) abort();
    firstMs ??= nowMs();
    stopNow();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    stop,
    close() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
