/** Coordinators of several brokers on one database, some of them through a proxy; made anew for each test. */
import { afterEach, beforeEach } from 'vitest';
import type { DisklessCoordinator } from '../../src/coordinator/diskless-coordinator.ts';
import { openPostgresCoordinator, type PostgresCoordinatorOptions } from '../../src/postgres.ts';
import { newSchema } from './postgres-harness.ts';
import type { PostgresServer } from './postgres-server.ts';
import { TcpProxy } from './tcp-proxy.ts';

export interface Brokers {
  readonly schema: string;
  readonly proxy: TcpProxy;
  /** Connects to the database itself, unless told otherwise. It is closed after the test. */
  open(more?: Partial<PostgresCoordinatorOptions>): Promise<DisklessCoordinator>;
  /** Closes what was opened so far. */
  closeAll(): Promise<unknown>;
  /** A connection string that leads through the proxy. */
  throughProxy(): string;
}

/** To be called inside a `describe`: what is opened belongs to its tests. */
export function useBrokers(server: () => PostgresServer): Brokers {
  let schema: string;
  let proxy: TcpProxy;
  const opened: DisklessCoordinator[] = [];
  const closeAll = (): Promise<unknown> => Promise.all(opened.splice(0).map((coordinator) => coordinator.close()));
  beforeEach(async () => {
    schema = newSchema();
    proxy = await TcpProxy.listen(server().port);
  });
  afterEach(async () => {
    proxy.silent = false;
    await closeAll();
    await proxy.close();
  });
  return {
    get schema() {
      return schema;
    },
    get proxy() {
      return proxy;
    },
    async open(more = {}) {
      const coordinator = await openPostgresCoordinator({ connectionString: server().url, schema, ...more });
      opened.push(coordinator);
      return coordinator;
    },
    closeAll,
    throughProxy: () => `postgres://postgres@127.0.0.1:${proxy.port}/postgres`,
  };
}
