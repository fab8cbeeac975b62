/** Topics, settings, producer id blocks and uploader epochs over PostgreSQL, with the list of topics kept in memory. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { Uuid } from '../../common/uuid.ts';
import { fromStored, toStored } from '../stored-text.ts';
import { applyConfigChanges, validateBlockSize, validatePartitionCount } from '../topic-rules.ts';
import type { CreateTopicRequest, TopicDescription } from '../topic-store.ts';
import type { Connections, Queryable, Row } from './connections.ts';

type Errored = { readonly error: ErrorCode };
type Configs = Readonly<Record<string, string>>;
type ConfigChanges = Readonly<Record<string, string | null>>;

function toTopic(row: Row): TopicDescription {
  const [topicId, name] = [row.topic_id as string, fromStored(row.name as string)];
  return { topicId, name, partitions: row.partitions as number, configs: row.configs as Configs };
}

export class PostgresTopics {
  readonly #connections: Connections;
  readonly #origin: string;
  #topics: readonly TopicDescription[] = [];
  /** The scope `broker`, which every commit needs. */
  #broker: Configs = {};
  #refreshing: Promise<void> | undefined;
  #nextRefresh: Promise<void> | undefined;

  constructor(connections: Connections, origin: string) {
    this.#connections = connections;
    this.#origin = origin;
  }

  /**
   * Reads everything again: at the start, and when somebody changed something. One after the other, so that an answer that
   * was long on its way never replaces a newer one; all who ask while one is under way share the next.
   */
  refresh(): Promise<void> {
    if (this.#refreshing) {
      this.#nextRefresh ??= this.#refreshing
        .catch(() => {})
        .then(() => {
          this.#nextRefresh = undefined;
          return this.refresh();
        });
      return this.#nextRefresh;
    }
    this.#refreshing = this.#readAll().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #readAll(): Promise<void> {
    const rows = await this.#connections.query({ name: 'all_topics', text: 'SELECT * FROM topics' });
    this.#topics = rows.map(toTopic).sort((a, b) => (a.name < b.name ? -1 : 1));
    this.#broker = await this.readConfigs('broker');
  }

  list(): readonly TopicDescription[] {
    return this.#topics;
  }
  get brokerConfigs(): Configs {
    return this.#broker;
  }

  /** A write that others must hear of; what it did is read back, so that the list is what the database has. */
  async #change<T>(kind: 'topics' | 'configs', body: (client: Queryable) => Promise<T>): Promise<T> {
    const result = await this.#connections.transaction(async (client) => {
      const done = await body(client);
      await client.query('INSERT INTO changes (origin, kind) VALUES ($1, $2)', [this.#origin, kind]);
      return done;
    });
    await this.refresh();
    return result;
  }

  create(requests: readonly CreateTopicRequest[]): Promise<Errored[]> {
    for (const { partitions } of requests) validatePartitionCount(partitions);
    return this.#change('topics', async (client) => {
      const results: Errored[] = [];
      for (const { topicId, name, partitions, configs } of requests) {
        const { rowCount } = await client.query('INSERT INTO topics VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', [
          topicId,
          toStored(name),
          partitions,
          JSON.stringify(configs),
        ]);
        if (rowCount === 1) await client.query('SELECT add_logs($1, 0, $2)', [topicId, partitions]);
        results.push({ error: rowCount === 1 ? Errors.NONE : Errors.TOPIC_ALREADY_EXISTS });
      }
      return results;
    });
  }

  createPartitions(requests: readonly { readonly topicId: Uuid; readonly partitions: number }[]): Promise<Errored[]> {
    for (const { partitions } of requests) validatePartitionCount(partitions);
    return this.#change('topics', async (client) => {
      const results: Errored[] = [];
      for (const { topicId, partitions } of requests) {
        const { rows } = await client.query('SELECT partitions FROM topics WHERE topic_id = $1 FOR UPDATE', [topicId]);
        const present = rows[0]?.partitions as number | undefined;
        if (present !== undefined && partitions > present) {
          await client.query('UPDATE topics SET partitions = $2 WHERE topic_id = $1', [topicId, partitions]);
          await client.query('SELECT add_logs($1, $2, $3)', [topicId, present, partitions]);
        }
        results.push({ error: growthError(present, partitions) });
      }
      return results;
    });
  }

  delete(topicIds: readonly Uuid[]): Promise<Errored[]> {
    return this.#change('topics', async (client) => {
      const results: Errored[] = [];
      for (const topicId of topicIds) {
        const { rows } = await client.query('SELECT delete_topic($1) AS deleted', [topicId]);
        results.push({ error: rows[0]!.deleted ? Errors.NONE : Errors.UNKNOWN_TOPIC_ID });
      }
      return results;
    });
  }

  alterConfigsOf(requests: readonly { readonly topicId: Uuid; readonly changes: ConfigChanges }[]): Promise<Errored[]> {
    return this.#change('topics', async (client) => {
      const results: Errored[] = [];
      for (const { topicId, changes } of requests) {
        const { rows } = await client.query('SELECT configs FROM topics WHERE topic_id = $1 FOR UPDATE', [topicId]);
        if (rows[0]) {
          const configs = applyConfigChanges(rows[0].configs as Configs, changes);
          await client.query('UPDATE topics SET configs = $2 WHERE topic_id = $1', [topicId, JSON.stringify(configs)]);
        }
        results.push({ error: rows[0] ? Errors.NONE : Errors.UNKNOWN_TOPIC_ID });
      }
      return results;
    });
  }

  async alterConfigs(scope: string, changes: ConfigChanges): Promise<void> {
    const stored = toStored(scope);
    await this.#change('configs', async (client) => {
      await client.query(`INSERT INTO configs VALUES ($1, '{}') ON CONFLICT DO NOTHING`, [stored]);
      const { rows } = await client.query('SELECT configs FROM configs WHERE scope = $1 FOR UPDATE', [stored]);
      const configs = applyConfigChanges(rows[0]!.configs as Configs, changes);
      await client.query('UPDATE configs SET configs = $2 WHERE scope = $1', [stored, JSON.stringify(configs)]);
    });
  }

  async listConfigScopes(prefix: string): Promise<string[]> {
    const rows = await this.#connections.query({
      text: "SELECT scope FROM configs WHERE starts_with(scope, $1) AND configs <> '{}'",
      values: [toStored(prefix)],
    });
    return rows.map(({ scope }) => fromStored(scope as string));
  }

  async readConfigs(scope: string): Promise<Configs> {
    const [row] = await this.#connections.query({
      name: 'read_configs',
      text: 'SELECT configs FROM configs WHERE scope = $1',
      values: [toStored(scope)],
    });
    return (row?.configs ?? {}) as Configs;
  }

  async allocateProducerIdBlock(size: number): Promise<{ firstProducerId: bigint; size: number }> {
    validateBlockSize(size);
    const [row] = await this.#connections.query({
      text: `INSERT INTO counters AS c VALUES ('next_producer_id', $1) ON CONFLICT (name) DO UPDATE SET value = c.value + $1
        RETURNING value`,
      values: [size],
    });
    return { firstProducerId: (row!.value as bigint) - BigInt(size), size };
  }

  async registerUploader(nodeId: number): Promise<{ epoch: number }> {
    const [row] = await this.#connections.query({
      text: `INSERT INTO uploaders AS u VALUES ($1, 1) ON CONFLICT (node_id) DO UPDATE SET epoch = u.epoch + 1 RETURNING epoch`,
      values: [nodeId],
    });
    return { epoch: Number(row!.epoch) };
  }
}

function growthError(present: number | undefined, wanted: number): ErrorCode {
  if (present === undefined) return Errors.UNKNOWN_TOPIC_OR_PARTITION;
  return wanted > present ? Errors.NONE : Errors.INVALID_PARTITIONS;
}
