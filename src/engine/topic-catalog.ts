/**
 * The topics as this process knows them: a copy of the coordinator's, with configs parsed, renewed when the coordinator
 * says that they changed or when somebody asks for one that is not here. Main thread; opened and closed by the engine.
 */
import type { Logger } from '../common/logger.ts';
import { parseTopicConfig } from '../common/topic-config.ts';
import type { TopicTraffic } from '../common/topic-traffic.ts';
import type { Uuid } from '../common/uuid.ts';
import type { DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import type { TopicDescription } from '../coordinator/topic-store.ts';
import type { KnownTopic, TopicLookup } from '../produce/topic-lookup.ts';

export class TopicCatalog implements TopicLookup {
  readonly #coordinator: DisklessCoordinator;
  readonly #logger: Logger;
  readonly #traffic: TopicTraffic;
  readonly #unsubscribe: () => void;
  #topics: ReadonlyMap<Uuid, KnownTopic> = new Map();
  #listed: readonly TopicDescription[] | undefined;
  #refreshing: Promise<void> | undefined;
  /** Something changed since the refresh in flight began: its answer may be old already. */
  #stale = false;

  /** Subscribes before the first look, so that no change falls between. @throws CoordinatorError */
  static async open(coordinator: DisklessCoordinator, logger: Logger, traffic: TopicTraffic): Promise<TopicCatalog> {
    const catalog = new TopicCatalog(coordinator, logger, traffic);
    try {
      await catalog.refresh();
      return catalog;
    } catch (error) {
      catalog.close();
      throw error;
    }
  }

  private constructor(coordinator: DisklessCoordinator, logger: Logger, traffic: TopicTraffic) {
    this.#coordinator = coordinator;
    this.#logger = logger;
    this.#traffic = traffic;
    this.#unsubscribe = coordinator.onChange(({ kind }) => {
      if (kind === 'topics' || kind === 'probe') this.#changed();
    });
  }

  find(topicId: Uuid): KnownTopic | undefined {
    return this.#topics.get(topicId);
  }

  async refreshed(topicId: Uuid): Promise<KnownTopic | undefined> {
    await this.refresh();
    return this.find(topicId);
  }

  /** Resolves when the copy is at least as new as this call. Concurrent calls share a look. @throws CoordinatorError */
  async refresh(): Promise<void> {
    this.#stale = true;
    while (this.#stale) {
      this.#refreshing ??= this.#look().finally(() => {
        this.#refreshing = undefined;
      });
      await this.#refreshing;
    }
  }

  close(): void {
    this.#unsubscribe();
  }

  async #look(): Promise<void> {
    this.#stale = false;
    const topics = await this.#coordinator.listTopics();
    // Coordinators keep the list until it changes; parsing it anew for every unknown topic id would be a gift to abusers.
    if (topics === this.#listed) return;
    this.#listed = topics;
    this.#topics = new Map(topics.map((topic) => [topic.topicId, known(topic)]));
    this.#traffic.keep(this.#topics);
  }

  #changed(): void {
    this.refresh().catch((error: unknown) => {
      this.#logger.warn({ error: String(error) }, 'changed topics could not be read; they are read when asked for');
    });
  }
}

function known({ name, partitions, configs }: TopicDescription): KnownTopic {
  return { name, partitions, config: parseTopicConfig(configs) };
}
