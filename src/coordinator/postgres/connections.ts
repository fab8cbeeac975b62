/**
 * Connections to PostgreSQL: a pool with deadlines, what an error means to the caller, and which errors may be repeated.
 * A connection on which anything but a plain SQL error happened is thrown away. Main thread; `close` ends the pool.
 */
import { Socket } from 'node:net';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import type { Client, ClientConfig, Pool, PoolClient, PoolConfig } from 'pg';
import { sleep, type Time } from '../../common/time.ts';
import { CoordinatorError } from '../diskless-coordinator.ts';
import { checkConnectionString, takeOptions } from './connection-string.ts';

export type Row = Record<string, unknown>;

export interface Query {
  /** The prepared statement's name; without it the text is sent each time. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
  /** How long the client waits, milliseconds, where that is not the connection's own deadline. */
  readonly query_timeout?: number;
}

/** One connection, inside a transaction or not. */
export interface Queryable {
  query(query: string | Query, values?: readonly unknown[]): Promise<{ rows: Row[]; rowCount: number | null }>;
}

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database?sslmode=verify-full`. */
  readonly connectionString: string;
  /** TLS settings of node:tls, where those of the connection string do not suffice. */
  readonly ssl?: boolean | TlsOptions;
  readonly schema: string;
  readonly maxConnections: number;
  /** Deadlines: to get a connection, and for a statement on the server; the client waits a little longer. */
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

const INT8 = 20;
const INT8_ARRAY = 1016;
const INT4_ARRAY = 1007;
const BOOL_ARRAY = 1000;
/** A serialization failure and a deadlock: the only errors after which the transaction is certainly undone and worth repeating. */
const REPEATABLE = new Set(['40001', '40P01']);
const ATTEMPTS = 6;
const FIRST_PAUSE_MS = 5;
/** How much longer than the server the client waits, to hear the server's own verdict if there is one. */
const CLIENT_GRACE_MS = 2_000;

/** Arrays of numbers and booleans hold neither quotes nor, here, nulls; the client's own parser looks at each character. */
function parseArray<T>(parseItem: (text: string) => T): (text: string) => T[] {
  return (text) => (text === '{}' ? [] : text.slice(1, -1).split(',').map(parseItem));
}

type Parser = (text: string) => unknown;

const PARSERS: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [INT8, BigInt],
  [INT8_ARRAY, parseArray(BigInt)],
  [INT4_ARRAY, parseArray(Number)],
  [BOOL_ARRAY, parseArray((text) => text === 't')],
]);

/** The client's own parsers, but that bigint columns are BigInt. */
async function typeParsers(): Promise<PoolConfig['types']> {
  const { default: pg } = await import('pg');
  const getTypeParser = (oid: number, format?: 'text' | 'binary'): Parser => {
    const own = format === 'binary' ? undefined : PARSERS.get(oid);
    return own ?? (pg.types.getTypeParser(oid, format as 'text') as Parser);
  };
  return { getTypeParser } as PoolConfig['types'];
}

async function clientConfig(settings: ConnectionOptions): Promise<ClientConfig> {
  const { ssl, schema, connectTimeoutMs, statementTimeoutMs } = settings;
  const { connectionString, options } = takeOptions(settings.connectionString);
  return {
    connectionString,
    ...(ssl === undefined ? {} : { ssl }),
    application_name: 'shoal',
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: statementTimeoutMs + CLIENT_GRACE_MS,
    // Settings of the session, whatever role and database say: a commit that was answered is durable, and a statement
    // that waited for a lock sees what was committed meanwhile.
    options: `${options}-c synchronous_commit=on -c default_transaction_isolation=read\\ committed -c search_path=${schema} -c statement_timeout=${statementTimeoutMs} -c idle_in_transaction_session_timeout=${statementTimeoutMs + CLIENT_GRACE_MS}`,
    types: (await typeParsers()) as NonNullable<ClientConfig['types']>,
  };
}

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** The server ends the connection with these: it shuts down, somebody had it ended, or it was idle for too long. */
const LAST_WORDS = /^(57P|08|25P03)/;

/** Whether the connection can be used again: after a deadline or a broken line its state is unknown. */
function leavesUsable(error: unknown): boolean {
  const state = sqlState(error);
  return error instanceof CoordinatorError || (state !== undefined && !LAST_WORDS.test(state));
}

/** What went wrong, in the coordinator's terms. Messages name no password. */
export function toCoordinatorError(error: unknown): CoordinatorError {
  if (error instanceof CoordinatorError) return error;
  const message = error instanceof Error ? error.message || error.constructor.name : String(error);
  if (/client password must be a/.test(message))
    return new CoordinatorError('unavailable', `PostgreSQL: ${NEEDS_PASSWORD}`);
  if (sqlState(error) === '53100') return new CoordinatorError('no-space', `PostgreSQL's disk is full: ${message}`);
  if (isRefusedForGood(sqlState(error))) return new CoordinatorError('invalid', `PostgreSQL: ${message}`);
  return new CoordinatorError('unavailable', `PostgreSQL: ${message}${adviceOn(error)}`, { cause: error });
}

/** The database cannot keep a value (class 22, such as a NUL in a config) or has no room for it in an index; it will not later. */
function isRefusedForGood(state: string | undefined): boolean {
  return state !== undefined && (state.startsWith('22') || state === '54000');
}

const NEEDS_PASSWORD = 'the server asks for a password; set PGPASSWORD, or put one into the URL';

const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there; start it, or correct host and port',
  ENOTFOUND: 'there is no such host',
  '28P01': 'correct user and password (PGPASSWORD, or in the URL)',
  '28000': 'let this user in (pg_hba.conf), or name another',
  '3D000': 'create the database, or name another',
};

function adviceOn(error: unknown): string {
  const advice = ADVICE[String((error as { code?: unknown } | null)?.code)];
  return advice === undefined ? '' : `; ${advice}`;
}

function tracked(socket: Socket, sockets: Set<Socket>): Socket {
  sockets.add(socket);
  return socket.once('close', () => sockets.delete(socket));
}

export class Connections {
  readonly #pool: Pool;
  readonly #options: ConnectionOptions;
  readonly #time: Time;
  readonly #inFlight = new Set<Promise<unknown>>();
  readonly #sockets: Set<Socket>;
  #closed = false;

  private constructor(pool: Pool, sockets: Set<Socket>, options: ConnectionOptions, time: Time) {
    this.#pool = pool;
    this.#sockets = sockets;
    this.#options = options;
    this.#time = time;
  }

  static async create(options: ConnectionOptions, time: Time): Promise<Connections> {
    checkConnectionString(options.connectionString);
    const { default: pg } = await import('pg');
    const sockets = new Set<Socket>();
    const pool = new pg.Pool({
      ...(await clientConfig(options)),
      max: options.maxConnections,
      idleTimeoutMillis: 30_000,
      stream: () => tracked(new Socket(), sockets),
    });
    // A connection that ends while idle is simply gone from the pool; one that ends at work fails what waits for it, and
    // its own event must find a listener too.
    pool.on('error', () => {});
    pool.on('connect', (client) => client.on('error', () => {}));
    return new Connections(pool, sockets, options, time);
  }

  /** A connection of its own outside the pool, for LISTEN. */
  async dedicated(): Promise<Client> {
    const { default: pg } = await import('pg');
    return new pg.Client({
      ...(await clientConfig(this.#options)),
      stream: () => tracked(new Socket(), this.#sockets),
    });
  }

  /** One statement, repeated where that is certain to do no harm. @throws CoordinatorError */
  query(query: Query): Promise<Row[]> {
    return this.#tracked(this.#repeatable(async (client) => (await client.query(query)).rows));
  }

  /** Statements in one transaction; the whole of it is repeated after a deadlock. @throws CoordinatorError */
  transaction<T>(body: (client: Queryable) => Promise<T>): Promise<T> {
    const attempt = async (client: Queryable): Promise<T> => {
      await client.query('BEGIN');
      try {
        const result = await body(client);
        await client.query('COMMIT');
        return result;
      } catch (error) {
        if (leavesUsable(error)) await client.query('ROLLBACK');
        throw error;
      }
    };
    return this.#tracked(this.#repeatable(attempt));
  }

  #tracked<T>(operation: Promise<T>): Promise<T> {
    this.#inFlight.add(operation);
    const done = (): void => {
      this.#inFlight.delete(operation);
    };
    operation.then(done, done);
    return operation;
  }

  async #repeatable<T>(body: (client: Queryable) => Promise<T>): Promise<T> {
    if (this.#closed) throw new CoordinatorError('closed', 'the coordinator is closed');
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#withClient(body);
      } catch (error) {
        const repeat = REPEATABLE.has(sqlState(error) ?? '') && attempt < ATTEMPTS;
        if (!repeat) throw toCoordinatorError(error);
        await sleep(this.#time, FIRST_PAUSE_MS * 2 ** attempt);
      }
    }
  }

  async #withClient<T>(body: (client: Queryable) => Promise<T>): Promise<T> {
    const client: PoolClient = await this.#pool.connect();
    let broken = true;
    try {
      const result = await body(client as unknown as Queryable);
      broken = false;
      return result;
    } catch (error) {
      broken = !leavesUsable(error);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  /** Resolves when what was in flight has ended. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#inFlight);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.settle();
    await this.#pool.end();
    // The client forgets, and leaves open, connections whose log-in it gave up; the server ends them after a minute.
    for (const socket of this.#sockets) socket.destroy();
  }
}
