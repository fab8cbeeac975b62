/**
 * The settings of share groups as this process knows them: read from the coordinator when a group is first asked for, and
 * again once they are older than a second, so that a change takes effect everywhere without anybody being told. Main
 * thread; belongs to the engine.
 */
import { groupScope } from '../common/group-config.ts';
import { parseShareGroupConfig, type ShareGroupConfig } from '../common/share-group-config.ts';
import type { Time } from '../common/time.ts';
import type { DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';

const MAX_AGE_MS = 1_000;

interface Known {
  config: ShareGroupConfig;
  readAtMs: number;
  reading: Promise<void> | undefined;
}

const DEFAULTS = parseShareGroupConfig({});

export class ShareConfigs {
  readonly #coordinator: DisklessCoordinator;
  readonly #time: Time;
  readonly #groups = new Map<string, Known>();

  constructor(coordinator: DisklessCoordinator, time: Time) {
    this.#coordinator = coordinator;
    this.#time = time;
  }

  /** The settings last read; the defaults for a group never asked for. */
  of(groupId: string): ShareGroupConfig {
    return this.#groups.get(groupId)?.config ?? DEFAULTS;
  }

  /** Resolves when the settings are at most a second old. @throws CoordinatorError */
  async refresh(groupId: string): Promise<void> {
    const known = this.#groups.get(groupId) ?? {
      config: DEFAULTS,
      readAtMs: Number.NEGATIVE_INFINITY,
      reading: undefined,
    };
    this.#groups.set(groupId, known);
    if (this.#time.monotonicMs() - known.readAtMs < MAX_AGE_MS) return;
    known.reading ??= this.#read(groupId, known).finally(() => {
      known.reading = undefined;
    });
    await known.reading;
  }

  async #read(groupId: string, known: Known): Promise<void> {
    known.config = parseShareGroupConfig(await this.#coordinator.readConfigs(groupScope(groupId)));
    known.readAtMs = this.#time.monotonicMs();
  }
}
