/**
 * Hearing of what other brokers changed. NOTIFY carries no more than a number and whose it is, and comes in a transaction
 * of its own after the commit, coalesced: while one is on its way, further commits wait for the next. Whoever hears one of
 * somebody else's reads the `changes` table. A connection of its own listens; after every (re)connect `onProbe` is called,
 * since changes may have been missed.
 *
 * What was read is remembered as the snapshot that the read saw: what that one could not see is new. A number alone would
 * skip whoever commits late, and a transaction id alone would read everything again for as long as a transaction is open,
 * of whomever on that server. After a reconnection another server may answer, whose transaction ids are lower: the
 * snapshot is taken anew then, and what lies before it is probed for.
 *
 * A broker may die between its commit and its NOTIFY, or not know that it has committed. So the table is also read every
 * `READ_MS` without having been told to: nobody sleeps through a change for longer.
 */
import type { Client } from 'pg';
import type { Logger } from '../../common/logger.ts';
import type { Time, Timer } from '../../common/time.ts';
import type { Connections, Row } from './connections.ts';

export interface ForeignChange {
  readonly changeNumber: number;
  readonly kind: string;
  readonly topicIds: readonly string[];
  readonly partitions: readonly number[];
  readonly offsets: readonly bigint[];
}

export interface ChangeFeedOptions {
  readonly connections: Connections;
  readonly schema: string;
  /** Who this is; its own changes are not read back. */
  readonly origin: string;
  readonly time: Time;
  readonly logger: Logger;
  readonly onChange: (change: ForeignChange) => void | Promise<void>;
  readonly onProbe: () => void | Promise<void>;
  /** How long the server may go on with a statement whose answer nobody waits for any more. */
  readonly statementTimeoutMs: number;
}

const RECONNECT_FIRST_MS = 100;
const RECONNECT_LAST_MS = 5_000;
/** A half-open connection is found out by asking at times. */
const PING_MS = 10_000;
const READ_MS = 1_000;
const RENOTIFY_MS = 1_000;
const KEEP_CHANGES = '10 minutes';

export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  #client: Client | undefined;
  #closed = false;
  #attempts = 0;
  #reconnect: Timer | undefined;
  #ping: Timer | undefined;
  #nextRead: Timer | undefined;
  #renotify: Timer | undefined;
  #reading: Promise<void> | undefined;
  #readAgain = false;
  #notifying: Promise<void> | undefined;
  #notifyAgain = false;
  /** The snapshot of the last read. */
  #seen = '';
  /** Until then this process's own changes are read too; by the monotonic clock. */
  #ownUntilMs = -1;
  #probeDue = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
  }

  /** Listens from now on. @throws the first connection's error */
  async open(): Promise<void> {
    await this.#connect();
  }

  get #channel(): string {
    return `shoal_${this.#options.schema}`;
  }

  async #connect(): Promise<void> {
    const client = await this.#options.connections.dedicated();
    const lost = (): void => this.#onLost(client);
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ payload }) => {
      if (!payload?.endsWith(this.#options.origin)) this.#read();
    });
    try {
      await client.connect();
      this.#seen = String((await client.query('SELECT pg_current_snapshot()::text AS seen')).rows[0].seen);
      await client.query(`LISTEN "${this.#channel}"`);
    } catch (error) {
      client.end().catch(() => {});
      throw error;
    }
    if (this.#closed) {
      await client.end();
      return;
    }
    this.#client = client;
    this.#attempts = 0;
    this.#armPing();
    this.#armRead();
  }

  #armRead(): void {
    this.#nextRead?.cancel();
    this.#nextRead = this.#options.time.setTimer(READ_MS, () => {
      if (!this.#client) return;
      this.#read();
      this.#armRead();
    });
  }

  #armPing(): void {
    this.#ping = this.#options.time.setTimer(PING_MS, () => {
      const client = this.#client;
      if (!client) return;
      client.query('SELECT 1').then(
        () => this.#armPing(),
        () => this.#onLost(client),
      );
    });
  }

  #onLost(client: Client): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = undefined;
    this.#ping?.cancel();
    this.#nextRead?.cancel();
    client.end().catch(() => {});
    this.#scheduleReconnect();
  }

  #scheduleReconnect(): void {
    if (this.#closed) return;
    const delayMs = Math.min(RECONNECT_FIRST_MS * 2 ** this.#attempts, RECONNECT_LAST_MS);
    this.#attempts += 1;
    this.#reconnect?.cancel();
    this.#reconnect = this.#options.time.setTimer(delayMs, () => {
      this.#reconnect = undefined;
      this.#ended = this.#tryAgain();
    });
  }

  async #tryAgain(): Promise<void> {
    try {
      await this.#connect();
      this.#read();
      await this.#options.onProbe();
    } catch (error) {
      this.#options.logger.warn(
        { error: String(error) },
        'listening for changes of other brokers failed and will be repeated',
      );
      if (this.#client) this.#onLost(this.#client);
      else this.#scheduleReconnect();
    }
  }

  /** Tells the others, soon, that something changed. */
  notify(): void {
    this.#notifyAgain = true;
    this.#notifying ??= this.#notifyWhileDue();
  }

  async #notifyWhileDue(): Promise<void> {
    while (this.#notifyAgain) {
      this.#notifyAgain = false;
      try {
        // What it tells of is durable already: it need not wait for a disk itself.
        await this.#options.connections.query({
          name: 'notify_changes',
          text: `SELECT set_config('synchronous_commit', 'off', true),
            pg_notify($1, coalesce(max(change_number), 0)::text || ' ' || $2) FROM changes`,
          values: [this.#channel, this.#options.origin],
        });
      } catch (error) {
        if (this.#closed) break;
        this.#options.logger.warn(
          { error: String(error) },
          'telling other brokers of a change failed and will be repeated',
        );
        this.#renotify ??= this.#options.time.setTimer(RENOTIFY_MS, () => {
          this.#renotify = undefined;
          this.notify();
        });
      }
    }
    this.#notifying = undefined;
  }

  #read(): void {
    this.#readAgain = true;
    this.#reading ??= this.#readWhileDue();
  }

  async #readWhileDue(): Promise<void> {
    while (this.#readAgain && !this.#closed) {
      this.#readAgain = false;
      try {
        await this.#readOnce();
      } catch (error) {
        if (this.#closed) break;
        this.#options.logger.warn({ error: String(error) }, 'reading the changes of other brokers failed');
        // Reconnecting reads again and probes, and goes on trying for as long as that fails.
        if (this.#client) this.#onLost(this.#client);
      }
    }
    this.#reading = undefined;
  }

  async #readOnce(): Promise<void> {
    const { connections, origin, time, onChange, onProbe } = this.#options;
    const probe = this.#probeDue;
    const but = time.monotonicMs() < this.#ownUntilMs ? null : origin;
    // Not prepared: how few of the rows are new shows only with the snapshot at hand.
    const rows = await connections.query({
      text: `SELECT pg_current_snapshot()::text AS seen, c.* FROM (SELECT 1) one LEFT JOIN changes c
        ON (c.xid >= pg_snapshot_xmax($1::pg_snapshot) OR c.xid = ANY (ARRAY(SELECT pg_snapshot_xip($1::pg_snapshot))))
          AND c.origin IS DISTINCT FROM $2 ORDER BY c.change_number`,
      values: [this.#seen, but],
    });
    this.#seen = rows[0]!.seen as string;
    for (const row of rows) if (row.change_number !== null) await onChange(toChange(row));
    if (!probe) return;
    this.#probeDue = false;
    await onProbe();
  }

  /**
   * The answer to a write of this process was lost. What it changed, if it did, has told nobody here: those who wait are
   * probed as soon as the database answers, and what commits later is read as if it were another's.
   */
  doubt(): void {
    const { time, statementTimeoutMs } = this.#options;
    this.#ownUntilMs = time.monotonicMs() + statementTimeoutMs + READ_MS;
    this.#probeDue = true;
    this.#read();
  }

  /** Old changes are of no use to anyone: whoever was away that long is probed. */
  async forgetOldChanges(): Promise<void> {
    await this.#options.connections.query({
      text: `DELETE FROM changes WHERE made_at < now() - interval '${KEEP_CHANGES}'`,
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#reconnect?.cancel();
    this.#ping?.cancel();
    this.#nextRead?.cancel();
    this.#renotify?.cancel();
    await Promise.all([this.#notifying, this.#reading, this.#ended]);
    await this.#client?.end().catch(() => {});
  }
}

function toChange(row: Row): ForeignChange {
  return {
    changeNumber: Number(row.change_number),
    kind: row.kind as string,
    topicIds: (row.topic_ids ?? []) as string[],
    partitions: (row.partitions ?? []) as number[],
    offsets: (row.offsets ?? []) as bigint[],
  };
}
