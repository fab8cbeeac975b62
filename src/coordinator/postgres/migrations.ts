/**
 * Numbered migrations of the PostgreSQL coordinator: forward only, all that are due in the caller's transaction, under an advisory lock,
 * so that brokers which start together do it once. A released migration is never edited; a change of functions alone is one too.
 */
import { CoordinatorError } from '../diskless-coordinator.ts';
import { COMMIT_FUNCTION } from './commit-function.ts';
import type { Queryable } from './connections.ts';
import { KEEPING_FUNCTIONS } from './keeping-functions.ts';
import { LOOKUP_FUNCTIONS } from './lookup-functions.ts';
import { COMMITS_BY_LOG, FORGOTTEN_FILES, TABLES } from './tables.ts';

/** A migration may rewrite a large table; the deadlines of a session, meant for commits, would make that impossible for ever. */
const MIGRATION_TIMEOUT_MS = 3_600_000;

/** The last two bring functions only: lookups by time, and share state of partitions that are gone. */
const MIGRATIONS: readonly string[] = [TABLES, COMMITS_BY_LOG, FORGOTTEN_FILES, '', ''];

/** Functions are no data: each version brings its own, all of them. */
const FUNCTIONS = COMMIT_FUNCTION + LOOKUP_FUNCTIONS + KEEPING_FUNCTIONS;

const DROP_FUNCTIONS = `
  DO $$ DECLARE f regprocedure; BEGIN
    FOR f IN SELECT oid::regprocedure FROM pg_proc WHERE pronamespace = current_schema()::regnamespace LOOP
      EXECUTE 'DROP FUNCTION ' || f;
    END LOOP;
  END $$;
`;

export interface MigrationOptions {
  readonly schema: string;
  /** Whether a schema that is missing or of an earlier version is made this code's; it is refused otherwise. */
  readonly mayMigrate: boolean;
}

/**
 * To be run inside a transaction.
 * @throws CoordinatorError `unavailable` for a schema of another version that must be left alone; nothing is changed then
 */
export async function migrate(client: Queryable, { schema, mayMigrate }: MigrationOptions): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 1))', [schema]);
  await useSchema(client, schema);
  await client.query('CREATE TABLE IF NOT EXISTS schema_version (version int NOT NULL)');
  const { rows } = await client.query('SELECT version FROM schema_version');
  const found = Number(rows[0]?.version ?? 0);
  if (found > MIGRATIONS.length) throw newer(schema, found);
  if (found === MIGRATIONS.length) return;
  if (!mayMigrate) throw older(schema, found);
  await client.query(`SET LOCAL statement_timeout = ${MIGRATION_TIMEOUT_MS}`);
  for (const text of MIGRATIONS.slice(found)) await client.query({ text, query_timeout: MIGRATION_TIMEOUT_MS });
  await client.query(DROP_FUNCTIONS);
  await client.query(FUNCTIONS);
  await client.query('DELETE FROM schema_version');
  await client.query('INSERT INTO schema_version VALUES ($1)', [MIGRATIONS.length]);
}

/** @throws CoordinatorError `unavailable` for a schema that is not used by the session or in use by others */
async function useSchema(client: Queryable, schema: string): Promise<void> {
  const { rows: found } = await client.query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]);
  // Asked first, since to create one takes a right that whoever was given a schema need not have.
  if (found.length === 0) await client.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  const { rows } = await client.query(
    `SELECT current_schema() AS current, to_regclass('schema_version') IS NULL AND (
       EXISTS (SELECT 1 FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
       OR EXISTS (SELECT 1 FROM pg_proc WHERE pronamespace = current_schema()::regnamespace)) AS foreign`,
  );
  if (rows[0]!.current !== schema) {
    throw new CoordinatorError(
      'unavailable',
      `schema "${schema}" is not the one that the session works in, "${rows[0]!.current}" is; connect without a pooler that drops the settings of sessions`,
    );
  }
  if (rows[0]!.foreign) {
    throw new CoordinatorError('unavailable', `schema "${schema}" holds other things than Shoal's; name another`);
  }
}

function older(schema: string, found: number): CoordinatorError {
  return new CoordinatorError(
    'unavailable',
    found === 0
      ? `it has no schema "${schema}" of Shoal's; name the database that a broker works on`
      : `schema "${schema}" has version ${found}; a broker of this Shoal brings it to ${MIGRATIONS.length} when it starts`,
  );
}

function newer(schema: string, found: number): CoordinatorError {
  const known = MIGRATIONS.length;
  return new CoordinatorError(
    'unavailable',
    `schema "${schema}" has version ${found}, this Shoal knows up to ${known}; run the newer Shoal that wrote it`,
  );
}
