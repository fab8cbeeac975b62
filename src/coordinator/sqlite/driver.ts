/**
 * The one importer of SQLite: `node:sqlite` where the running Node has a usable one, else `@photostructure/sqlite`, which
 * has the same API. Integers are always read as BigInt, since offsets exceed what a number holds. Runs in the SQLite worker.
 */
import { createRequire } from 'node:module';

export type SqlValue = null | number | bigint | string | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

export interface SqlStatement {
  run(...values: SqlValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
}

interface DriverStatement extends SqlStatement {
  setReadBigInts(enabled: boolean): void;
}

interface DriverDatabase {
  exec(sql: string): void;
  prepare(sql: string): DriverStatement;
  close(): void;
}

interface DriverModule {
  readonly DatabaseSync: new (path: string, options?: { readOnly?: boolean }) => DriverDatabase;
}

function loadDriver(): DriverModule {
  const builtin = process.getBuiltinModule?.('node:sqlite') as DriverModule | undefined;
  return builtin && takesUris(builtin) ? builtin : createRequire(import.meta.url)('@photostructure/sqlite');
}

/** Node before 22.15 takes `file:` for the beginning of a name; `open-database.ts` needs its parameters. */
function takesUris({ DatabaseSync }: DriverModule): boolean {
  try {
    new DatabaseSync('file:shoal?mode=memory', { readOnly: true }).close();
    return true;
  } catch {
    return false;
  }
}

/** SQLite's own result code of an error, without its extension; undefined for an error that is not SQLite's. */
export function sqliteResultCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : undefined;
}

export class SqlDatabase {
  readonly #database: DriverDatabase;
  readonly #statements = new Map<string, DriverStatement>();

  constructor(path: string, options: { readonly readOnly?: boolean } = {}) {
    const { DatabaseSync } = loadDriver();
    this.#database = new DatabaseSync(path, options);
  }

  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** The prepared statement of this text, prepared once. */
  sql(text: string): SqlStatement {
    let statement = this.#statements.get(text);
    if (!statement) {
      statement = this.#database.prepare(text);
      statement.setReadBigInts(true);
      this.#statements.set(text, statement);
    }
    return statement;
  }

  close(): void {
    this.#statements.clear();
    this.#database.close();
  }
}
