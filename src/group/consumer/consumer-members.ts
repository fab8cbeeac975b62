/** The members of one consumer group, who owns which partition, and what each is subscribed to among existing topics. */
import type { PartitionKey } from '../../common/topic-id-partition.ts';
import type { Uuid } from '../../common/uuid.ts';
import { subscriptionHash } from '../subscription-hash.ts';
import type { TopicIndex } from '../topic-index.ts';
import type { ConsumerMember } from './consumer-member.ts';
import { compileTopicRegex } from './topic-regex.ts';

export class ConsumerMembers {
  readonly #byId = new Map<string, ConsumerMember>();
  /** group.instance.id → member id. */
  readonly #staticIds = new Map<string, string>();
  /** Who owns a partition: it is assigned to them, or they have yet to give it up. */
  readonly #owners = new Map<PartitionKey, string>();
  /** Topic ids by member, which is a value, and by the topics they were looked up in. */
  #subscribed = new WeakMap<ConsumerMember, ReadonlySet<Uuid>>();
  /** Names by regular expression, likewise. */
  #matching = new Map<string, readonly string[]>();
  #topics: TopicIndex;

  constructor(topics: TopicIndex) {
    this.#topics = topics;
  }

  get size(): number {
    return this.#byId.size;
  }

  get topics(): TopicIndex {
    return this.#topics;
  }

  /** True when these are other topics than before: subscriptions may now mean something else. */
  useTopics(topics: TopicIndex): boolean {
    if (topics === this.#topics) return false;
    this.#topics = topics;
    this.#subscribed = new WeakMap();
    this.#matching = new Map();
    return true;
  }

  [Symbol.iterator](): IterableIterator<ConsumerMember> {
    return this.#byId.values();
  }

  get(memberId: string): ConsumerMember | undefined {
    return this.#byId.get(memberId);
  }

  static(instanceId: string): ConsumerMember | undefined {
    const memberId = this.#staticIds.get(instanceId);
    return memberId === undefined ? undefined : this.#byId.get(memberId);
  }

  /** Adds a member or puts it in the place of what it was. */
  put(member: ConsumerMember): void {
    const before = this.#byId.get(member.memberId);
    if (before === member) return;
    if (before) this.#release(before);
    this.#byId.set(member.memberId, member);
    if (member.instanceId !== null) this.#staticIds.set(member.instanceId, member.memberId);
    for (const key of member.assigned) this.#owners.set(key, member.memberId);
    for (const key of member.pendingRevocation) this.#owners.set(key, member.memberId);
  }

  remove(member: ConsumerMember): void {
    this.#release(member);
    this.#byId.delete(member.memberId);
    if (member.instanceId !== null) this.#staticIds.delete(member.instanceId);
  }

  #release(member: ConsumerMember): void {
    for (const key of member.assigned) this.#owners.delete(key);
    for (const key of member.pendingRevocation) this.#owners.delete(key);
  }

  ownerOf(key: PartitionKey): string | undefined {
    return this.#owners.get(key);
  }

  /** The ids of the existing topics that a member is subscribed to, by name or by regular expression. */
  subscribedTopicIds(member: ConsumerMember): ReadonlySet<Uuid> {
    let ids = this.#subscribed.get(member);
    if (!ids) {
      const names = [...member.subscribedTopicNames, ...this.#matches(member.subscribedTopicRegex)];
      ids = new Set(names.flatMap((name) => this.#topics.byName(name)?.topicId ?? []));
      this.#subscribed.set(member, ids);
    }
    return ids;
  }

  #matches(regex: string): readonly string[] {
    if (regex === '') return [];
    let names = this.#matching.get(regex);
    if (!names) {
      const matches = compileTopicRegex(regex);
      names = matches ? this.#topics.names.filter(matches) : [];
      this.#matching.set(regex, names);
    }
    return names;
  }

  /** Changes when a subscribed topic comes, goes or gets partitions. */
  metadataHash(): string {
    const ids = new Set<Uuid>();
    for (const member of this) for (const topicId of this.subscribedTopicIds(member)) ids.add(topicId);
    return subscriptionHash(ids, this.#topics);
  }

  partitionsOf(topicId: Uuid): number {
    return this.#topics.byId(topicId)?.partitions ?? 0;
  }
}
