/**
 * Whether a host should get traffic (`ready`), and whether its process should be restarted (`live`). It is there before
 * the parts that it looks at, so that a host that is still starting can say so. Main thread; holds nothing open.
 *
 * Ready asks the coordinator and the storage, at most once in `REUSE_MS` however often it is asked itself.
 */
import { messageOf } from '../common/message-of.ts';
import type { Time } from '../common/time.ts';
import type { DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import type { DisklessEngine } from '../engine/diskless-engine.ts';

const PROBE_DEADLINE_MS = 5_000;
const REUSE_MS = 1_000;

/** What a host is made of, once it is. */
export interface HealthParts {
  readonly engine: DisklessEngine;
  readonly coordinator: DisklessCoordinator;
  /** Reads something small from the object storage, or finds that it is not there. */
  readonly probeStorage: (signal: AbortSignal) => Promise<unknown>;
}

export interface HealthReport {
  readonly ok: boolean;
  /** One line for each thing that was looked at: `coordinator: ok`. */
  readonly lines: readonly string[];
}

export class HostHealth {
  readonly #time: Time;
  #phase: 'starting' | 'running' | 'stopping' = 'starting';
  #parts: HealthParts | undefined;
  #probed: { readonly report: Promise<HealthReport>; readonly atMs: number } | undefined;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Clients are served from now on. */
  started(parts: HealthParts): void {
    this.#parts = parts;
    this.#phase = 'running';
  }

  /** Clients are being sent away. */
  stopping(): void {
    this.#phase = 'stopping';
  }

  /** Not ok once the engine has failed for good: only a new process helps. */
  live(): HealthReport {
    const failure = this.#parts?.engine.failure;
    return reportOf([['engine', failure?.message]]);
  }

  async ready(): Promise<HealthReport> {
    const parts = this.#parts;
    if (!parts || this.#phase !== 'running') return reportOf([['host', `it is ${this.#phase}`]]);
    const nowMs = this.#time.monotonicMs();
    if (!this.#probed || nowMs - this.#probed.atMs >= REUSE_MS) {
      this.#probed = { report: this.#probe(parts), atMs: nowMs };
    }
    return this.#probed.report;
  }

  async #probe({ engine, coordinator, probeStorage }: HealthParts): Promise<HealthReport> {
    const problem =
      engine.status === 'open' ? engine.appendOutage : (engine.failure?.message ?? `it is ${engine.status}`);
    const checks = await Promise.all([
      this.#check('coordinator', () => coordinator.readConfigs('broker')),
      this.#check('storage', probeStorage),
    ]);
    return reportOf([['engine', problem], ...checks]);
  }

  async #check(name: string, ask: (signal: AbortSignal) => Promise<unknown>): Promise<Check> {
    const deadline = new AbortController();
    const late = new Promise<never>((_, reject) => {
      deadline.signal.addEventListener('abort', () => reject(new Error(`no answer within ${PROBE_DEADLINE_MS} ms`)));
    });
    const timer = this.#time.setTimer(PROBE_DEADLINE_MS, () => deadline.abort());
    try {
      await Promise.race([ask(deadline.signal), late]);
      return [name, undefined];
    } catch (error) {
      return [name, messageOf(error)];
    } finally {
      timer.cancel();
    }
  }
}

type Check = readonly [name: string, problem: string | undefined];

function reportOf(checks: readonly Check[]): HealthReport {
  return {
    ok: checks.every(([, problem]) => problem === undefined),
    lines: checks.map(([name, problem]) => `${name}: ${problem ?? 'ok'}`),
  };
}
