/** Coordinators over PostgreSQL for the suites: each storage is a schema of its own. */
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { openPostgresCoordinator } from '../../src/postgres.ts';
import type { CoordinatorHarness } from '../contract/diskless-coordinator.ts';
import { PostgresServer } from './postgres-server.ts';

/** A server for the file that calls this: the one that SHOAL_POSTGRES_URL names, or one of its own. */
export function usePostgres(): { readonly url: () => string; readonly server: () => PostgresServer } {
  const given = process.env.SHOAL_POSTGRES_URL;
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    if (!given) server = await PostgresServer.start();
  });
  afterAll(async () => server?.remove());
  return { url: () => given ?? server!.url, server: () => server! };
}

let schemas = 0;

export function newSchema(): string {
  schemas += 1;
  return `shoal_test_${process.pid}_${schemas}`;
}

/** What a statement answers, on a connection of its own. */
export async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

export function postgresHarness(url: () => string): CoordinatorHarness {
  return {
    name: 'postgres',
    survivesReopening: true,
    create: async () => {
      const schema = newSchema();
      return {
        open: (options) => openPostgresCoordinator({ ...options, connectionString: url(), schema }),
        remove: async () => {
          await query(url(), `SET client_min_messages = warning; DROP SCHEMA "${schema}" CASCADE`);
        },
      };
    },
  };
}
