/** Topics, settings, producer id blocks and uploader epochs in SQLite. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { Uuid } from '../../common/uuid.ts';
import { fromStored, toStored } from '../stored-text.ts';
import { applyConfigChanges, validateBlockSize, validatePartitionCount } from '../topic-rules.ts';
import type { CreateTopicRequest, TopicDescription } from '../topic-store.ts';
import type { SqlDatabase, SqlRow } from './driver.ts';

type Errored = { readonly error: ErrorCode };
type Configs = Readonly<Record<string, string>>;
type ConfigChanges = Readonly<Record<string, string | null>>;

function toTopic(row: SqlRow): TopicDescription {
  const [topicId, name] = [row.topic_id as string, fromStored(row.name as string)];
  return { topicId, name, partitions: Number(row.partitions), configs: JSON.parse(row.configs as string) as Configs };
}

/** Settings kept in memory; beyond it all are dropped and read again as needed. */
const MAX_CACHED_SCOPES = 10_000;

export class TopicTable {
  readonly #database: SqlDatabase;
  /** Settings by scope, read at every commit; emptied by `forget`. */
  readonly #configs = new Map<string, Configs>();
  /** Topics as last read, for retention and existence checks; emptied by `forget`. */
  readonly #topics = new Map<Uuid, TopicDescription>();

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  forget(): void {
    this.#configs.clear();
    this.#topics.clear();
  }

  all(): TopicDescription[] {
    return this.#database.sql('SELECT * FROM topics').all().map(toTopic);
  }

  get(topicId: Uuid): TopicDescription | undefined {
    const cached = this.#topics.get(topicId);
    if (cached) return cached;
    const row = this.#database.sql('SELECT * FROM topics WHERE topic_id = ?').get(topicId);
    if (!row) return undefined;
    const topic = toTopic(row);
    this.#topics.set(topicId, topic);
    return topic;
  }

  /** The new topic, or undefined when its name or id is taken. @throws CoordinatorError `invalid` */
  create({ topicId, name, partitions, configs }: CreateTopicRequest): TopicDescription | undefined {
    validatePartitionCount(partitions);
    const taken = this.#database
      .sql('SELECT 1 FROM topics WHERE topic_id = ? OR name = ?')
      .get(topicId, toStored(name));
    if (taken) return undefined;
    const topic: TopicDescription = { topicId, name, partitions, configs: { ...configs } };
    this.#database
      .sql('INSERT INTO topics (topic_id, name, partitions, configs) VALUES (?, ?, ?, ?)')
      .run(topicId, toStored(name), partitions, JSON.stringify(configs));
    this.#topics.set(topicId, topic);
    return topic;
  }

  update(topic: TopicDescription): void {
    this.#database
      .sql('UPDATE topics SET partitions = ?, configs = ? WHERE topic_id = ?')
      .run(topic.partitions, JSON.stringify(topic.configs), topic.topicId);
    this.#topics.set(topic.topicId, topic);
  }

  delete(topicId: Uuid): Errored {
    if (!this.get(topicId)) return { error: Errors.UNKNOWN_TOPIC_ID };
    this.#topics.delete(topicId);
    this.#database.sql('DELETE FROM topics WHERE topic_id = ?').run(topicId);
    this.#database.sql('DELETE FROM group_offsets WHERE topic_id = ?').run(topicId);
    this.#database.sql('DELETE FROM share_states WHERE topic_id = ?').run(topicId);
    this.#database.sql('UPDATE logs SET topic_id = NULL, trim = 2 WHERE topic_id = ?').run(topicId);
    return { error: Errors.NONE };
  }

  readConfigs(scope: string): Configs {
    let configs = this.#configs.get(scope);
    if (!configs) {
      const row = this.#database.sql('SELECT configs FROM configs WHERE scope = ?').get(toStored(scope));
      configs = row ? (JSON.parse(row.configs as string) as Configs) : {};
      // Clients ask for the configs of groups by any name.
      if (this.#configs.size >= MAX_CACHED_SCOPES) this.#configs.clear();
      this.#configs.set(scope, configs);
    }
    return configs;
  }

  listConfigScopes(prefix: string): string[] {
    const rows = this.#database
      .sql("SELECT scope FROM configs WHERE substr(scope, 1, length(?1)) = ?1 AND configs <> '{}'")
      .all(toStored(prefix));
    return rows.map(({ scope }) => fromStored(scope as string));
  }

  alterConfigs(scope: string, changes: ConfigChanges): void {
    const configs = applyConfigChanges(this.readConfigs(scope), changes);
    this.#database.sql('INSERT OR REPLACE INTO configs VALUES (?, ?)').run(toStored(scope), JSON.stringify(configs));
    this.#configs.set(scope, configs);
  }

  allocateProducerIdBlock(size: number): { firstProducerId: bigint; size: number } {
    validateBlockSize(size);
    const row = this.#database
      .sql(
        `INSERT INTO counters VALUES ('next_producer_id', ?1) ON CONFLICT DO UPDATE SET value = value + ?1 RETURNING value`,
      )
      .get(size)!;
    return { firstProducerId: (row.value as bigint) - BigInt(size), size };
  }

  registerUploader(nodeId: number): { epoch: number } {
    const row = this.#database
      .sql('INSERT INTO uploaders VALUES (?, 1) ON CONFLICT DO UPDATE SET epoch = epoch + 1 RETURNING epoch')
      .get(nodeId)!;
    return { epoch: Number(row.epoch) };
  }
}
