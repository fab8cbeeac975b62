/** A broker over a data folder (local directory and SQLite) for tests of groups: it can go down and come back. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteCoordinator } from '../../src/coordinator/sqlite-diskless-coordinator.ts';
import { openEngine } from '../../src/engine/engine.ts';
import type { GroupSettings } from '../../src/group/group-settings.ts';
import { type KafkaServer, startKafkaServer } from '../../src/server/kafka-server.ts';
import { LocalDirectoryObjectStorage } from '../../src/storage/local-directory-object-storage.ts';
import { quickSettings } from '../support/engine-fixture.ts';

interface Parts {
  readonly server: KafkaServer;
  /** Drains, or cuts everything off. */
  stop(abruptly: boolean): Promise<void>;
}

async function start(folder: string, port: number, group: Partial<GroupSettings>): Promise<Parts> {
  const objectStorage = await LocalDirectoryObjectStorage.open(join(folder, 'objects'));
  const coordinator = await openSqliteCoordinator({ path: join(folder, 'coordinator.db') });
  const engine = await openEngine({ objectStorage, coordinator }, quickSettings);
  const listen = { host: '127.0.0.1', port };
  const server = await startKafkaServer(engine, { coordinator, listen, settings: { group } });
  return {
    server,
    async stop(abruptly) {
      await (abruptly ? server.destroy() : server.close());
      await (abruptly ? engine.destroy() : engine.close());
      await coordinator.close();
      await objectStorage.close();
    },
  };
}

export class GroupBroker {
  readonly #folder: string;
  readonly #settings: Partial<GroupSettings>;
  #parts: Parts;

  static async open(settings: Partial<GroupSettings> = {}): Promise<GroupBroker> {
    const folder = await mkdtemp(join(tmpdir(), 'shoal-groups-'));
    return new GroupBroker(folder, settings, await start(folder, 0, settings));
  }

  private constructor(folder: string, settings: Partial<GroupSettings>, parts: Parts) {
    this.#folder = folder;
    this.#settings = settings;
    this.#parts = parts;
  }

  get port(): number {
    return this.#parts.server.listener.port;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Goes down without draining and comes back at the same address over the same data. */
  async restart(): Promise<void> {
    const { port } = this;
    await this.#parts.stop(true);
    this.#parts = await start(this.#folder, port, this.#settings);
  }

  async close(): Promise<void> {
    await this.#parts.stop(false);
    await rm(this.#folder, { recursive: true });
  }
}
