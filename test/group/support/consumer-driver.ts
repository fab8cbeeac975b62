/** Drives a ConsumerGroup as the coordinator does, without a store: the clock and the topics move when a test says so. */
import { Errors } from '../../../src/common/errors.ts';
import { seededRandom } from '../../../src/common/random.ts';
import { randomUuid, type Uuid } from '../../../src/common/uuid.ts';
import type { StoredGroup } from '../../../src/coordinator/group-store.ts';
import type { TopicDescription } from '../../../src/coordinator/topic-store.ts';
import { ConsumerGroup } from '../../../src/group/consumer/consumer-group.ts';
import { readConsumerSnapshot } from '../../../src/group/consumer/consumer-group-snapshot.ts';
import type {
  ConsumerHeartbeatRequest,
  ConsumerHeartbeatResult,
} from '../../../src/group/consumer/consumer-requests.ts';
import {
  fromTopics,
  intersection,
  NO_PARTITIONS,
  type PartitionSet,
  sameSet,
  toTopics,
} from '../../../src/group/consumer/partition-set.ts';
import type { GroupContext } from '../../../src/group/group.ts';
import { type GroupSettings, groupSettings } from '../../../src/group/group-settings.ts';
import { TopicIndex } from '../../../src/group/topic-index.ts';
import { Pending } from './classic-driver.ts';

export class ConsumerDriver {
  group: ConsumerGroup;
  now = 0;
  readonly stored: StoredGroup[] = [];
  readonly context: GroupContext;
  topics: TopicIndex;
  #topicList: readonly TopicDescription[] = [];

  constructor(topics: Readonly<Record<string, number>>, settings: Partial<GroupSettings> = {}, seed = 1) {
    const random = seededRandom(seed);
    this.context = {
      settings: groupSettings(settings),
      groupConfig: () => ({ sessionTimeoutMs: 45_000, heartbeatIntervalMs: 5_000 }),
      shareGroupConfig: () => ({ sessionTimeoutMs: 45_000, heartbeatIntervalMs: 5_000 }),
      newMemberId: (prefix) => `${prefix}${randomUuid(random)}`,
      nowMs: () => 1_800_000_000_000 + this.now,
    };
    this.topics = TopicIndex.of([]);
    this.group = new ConsumerGroup('g', 0, this.topics, this.context);
    for (const [name, partitions] of Object.entries(topics)) this.setTopic(name, partitions);
  }

  /** Creates a topic, gives it partitions, or, with none, deletes it. */
  setTopic(name: string, partitions: number): void {
    const others = this.#topicList.filter((topic) => topic.name !== name);
    const topicId = topicIdOf(name);
    this.#topicList = partitions === 0 ? others : [...others, { topicId, name, partitions, configs: {} }];
    this.topics = TopicIndex.of(this.#topicList);
  }

  #settle(): void {
    const stored = this.group.takeStored();
    if (stored) this.stored.push(stored);
    this.group.outbox.deliver();
  }

  heartbeat(fields: Partial<ConsumerHeartbeatRequest>): ConsumerHeartbeatResult {
    const pending = new Pending<ConsumerHeartbeatResult>();
    this.group.useTopics(this.topics);
    this.group.consumerHeartbeat(heartbeatRequest(fields), pending, this.now);
    this.#settle();
    return pending.value;
  }

  advance(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const next = this.group.deadlines.earliestMs;
      if (next === undefined || next > until) break;
      this.now = Math.max(this.now, next);
      this.group.advance(this.now);
      this.#settle();
    }
    this.now = until;
  }

  restart(): void {
    const last = this.stored.at(-1);
    if (!last) this.group = new ConsumerGroup('g', 0, this.topics, this.context);
    else this.group = ConsumerGroup.restore('g', readConsumerSnapshot(last.state), this.topics, this.context, this.now);
  }
}

/** The id that a topic of this name always gets here: 22 characters that are a Uuid. */
export function topicIdOf(name: string): Uuid {
  return Buffer.from(name.padEnd(16, '.').slice(0, 16)).toString('base64url');
}

export function heartbeatRequest(fields: Partial<ConsumerHeartbeatRequest>): ConsumerHeartbeatRequest {
  return {
    groupId: 'g',
    memberId: '',
    memberEpoch: 0,
    instanceId: null,
    rackId: null,
    rebalanceTimeoutMs: -1,
    subscribedTopicNames: null,
    subscribedTopicRegex: null,
    serverAssignor: null,
    topicPartitions: null,
    clientId: 'client',
    clientHost: '127.0.0.1',
    ...fields,
  };
}

/** A member with a client's logic: reports what it owns, gives up what it is told to, takes what it gets. */
export class ConsumerClient {
  readonly #driver: ConsumerDriver;
  readonly instanceId: string | null;
  readonly memberId: string;
  subscription: Partial<ConsumerHeartbeatRequest>;
  epoch = 0;
  owned: PartitionSet = NO_PARTITIONS;
  #assignment: PartitionSet = NO_PARTITIONS;
  #revoking = false;
  lastError = Errors.NONE as number;
  #reported: PartitionSet | undefined;
  #subscriptionSent = false;

  constructor(
    driver: ConsumerDriver,
    memberId: string,
    subscription: Partial<ConsumerHeartbeatRequest>,
    instanceId: string | null = null,
  ) {
    this.#driver = driver;
    this.memberId = memberId;
    this.subscription = subscription;
    this.instanceId = instanceId;
  }

  /** It has what it was told to have, in the group's epoch. */
  get settled(): boolean {
    return this.epoch === this.#driver.group.epoch && sameSet(this.owned, this.#assignment);
  }

  subscribe(subscription: Partial<ConsumerHeartbeatRequest>): void {
    this.subscription = subscription;
    this.#subscriptionSent = false;
  }

  /** One heartbeat. When `lost`, the answer does not arrive. */
  step(lost = false): void {
    this.#reconcile();
    const joining = this.epoch === 0;
    const changed = joining || lost || this.#reported !== this.owned || !this.#subscriptionSent;
    const result = this.#driver.heartbeat({
      memberId: this.memberId,
      memberEpoch: this.epoch,
      instanceId: this.instanceId,
      ...(changed ? { ...this.subscription, rebalanceTimeoutMs: 30_000, topicPartitions: toTopics(this.owned) } : {}),
    });
    if (lost) {
      // Not knowing what happened, a client reports everything with its next heartbeat.
      this.#reported = undefined;
      this.#subscriptionSent = false;
      return;
    }
    this.#reported = this.owned;
    this.#subscriptionSent = true;
    this.#onResult(result);
  }

  #onResult(result: ConsumerHeartbeatResult): void {
    this.lastError = result.error;
    if (result.error !== Errors.NONE) {
      this.crash();
      return;
    }
    this.epoch = result.memberEpoch;
    if (result.assignment) this.#assignment = fromTopics(result.assignment);
  }

  /** Giving up takes a while (an application commits first): one more heartbeat goes out before it is done. */
  #reconcile(): void {
    const kept = intersection(this.owned, this.#assignment);
    if (sameSet(kept, this.owned)) {
      if (!sameSet(this.owned, this.#assignment)) this.owned = this.#assignment;
      return;
    }
    if (this.#revoking) this.owned = kept;
    this.#revoking = !this.#revoking;
  }

  leave(): void {
    this.#driver.heartbeat({ memberId: this.memberId, memberEpoch: -1, instanceId: this.instanceId });
    this.crash();
  }

  /** Abandons everything and joins anew. */
  crash(): void {
    this.epoch = 0;
    this.owned = NO_PARTITIONS;
    this.#assignment = NO_PARTITIONS;
    this.#revoking = false;
    this.#reported = undefined;
  }
}
