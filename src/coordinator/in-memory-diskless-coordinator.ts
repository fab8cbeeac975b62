/**
 * The Diskless Coordinator in memory: for tests and for embedders that want no disk, and the reference that SQLite and
 * PostgreSQL are compared with. Runs on the caller's thread; nothing survives `close`.
 */
import { type Random, systemRandom } from '../common/random.ts';
import { systemTime, type Time } from '../common/time.ts';
import { randomUuid } from '../common/uuid.ts';
import type { CoordinatorSettings } from './coordinator-store.ts';
import { InMemoryStore } from './in-memory/in-memory-store.ts';
import { StoreCoordinator } from './store-coordinator.ts';

export interface InMemoryCoordinatorOptions extends CoordinatorSettings {
  readonly time?: Time;
  readonly random?: Random;
}

export class InMemoryDisklessCoordinator extends StoreCoordinator {
  constructor(options: InMemoryCoordinatorOptions = {}) {
    const time = options.time ?? systemTime;
    const store = new InMemoryStore(() => time.nowMs(), options);
    super({
      description: 'memory',
      clusterId: randomUuid(options.random ?? systemRandom),
      topics: [],
      changeNumber: 0,
      transport: {
        call: async (operation, args) => {
          const run = store[operation] as (...args: unknown[]) => never;
          const result = run.apply(store, args);
          const changes = store.takeChanges();
          if (changes) this.applyChanges(changes);
          return result;
        },
        close: async () => {},
      },
    });
  }
}
