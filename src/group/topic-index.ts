/** Topics by name and by id, built once per list that the engine hands out. */
import type { TopicIdPartition } from '../common/topic-id-partition.ts';
import type { Uuid } from '../common/uuid.ts';
import type { TopicDescription } from '../coordinator/topic-store.ts';

export class TopicIndex {
  static readonly #byList = new WeakMap<readonly TopicDescription[], TopicIndex>();
  /** All of them, by name. */
  readonly all: readonly TopicDescription[];
  readonly #byName: ReadonlyMap<string, TopicDescription>;
  readonly #byId: ReadonlyMap<Uuid, TopicDescription>;

  private constructor(topics: readonly TopicDescription[]) {
    this.all = topics;
    this.#byName = new Map(topics.map((topic) => [topic.name, topic]));
    this.#byId = new Map(topics.map((topic) => [topic.topicId, topic]));
  }

  /** The same list, as long as no topic changes, gives the same index. */
  static of(topics: readonly TopicDescription[]): TopicIndex {
    let index = TopicIndex.#byList.get(topics);
    if (!index) {
      index = new TopicIndex(topics);
      TopicIndex.#byList.set(topics, index);
    }
    return index;
  }

  /** In the order of the list. */
  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  byName(name: string): TopicDescription | undefined {
    return this.#byName.get(name);
  }

  byId(topicId: Uuid): TopicDescription | undefined {
    return this.#byId.get(topicId);
  }

  /** undefined when there is no such topic, or it has no such partition. */
  partition(topic: TopicDescription | undefined, partition: number): TopicIdPartition | undefined {
    if (!topic || partition < 0 || partition >= topic.partitions) return undefined;
    return { topicId: topic.topicId, partition };
  }
}
