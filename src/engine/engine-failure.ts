/**
 * Whether an engine has failed for good, and why: a segment whose outcome nobody can find out, or a coordinator that will
 * never answer again. The first reason counts. Main thread; the engine closes it.
 */
import type { Logger } from '../common/logger.ts';
import type { DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';

export class EngineFailure {
  readonly #failed = new AbortController();
  readonly #coordinatorFailed: AbortSignal | undefined;
  readonly #logger: Logger;
  readonly #onCoordinator = (): void => this.fail(this.#coordinatorFailed!.reason as Error);

  constructor(coordinator: DisklessCoordinator, logger: Logger) {
    this.#logger = logger;
    this.#coordinatorFailed = coordinator.failed;
    this.#coordinatorFailed?.addEventListener('abort', this.#onCoordinator, { once: true });
  }

  /** Aborts with the reason. */
  get signal(): AbortSignal {
    return this.#failed.signal;
  }

  get error(): Error | undefined {
    return this.signal.aborted ? (this.signal.reason as Error) : undefined;
  }

  fail(error: Error): void {
    if (this.signal.aborted) return;
    this.#logger.error({ reason: error.message }, 'the engine accepts no more appends');
    this.#failed.abort(error);
  }

  close(): void {
    this.#coordinatorFailed?.removeEventListener('abort', this.#onCoordinator);
  }
}
