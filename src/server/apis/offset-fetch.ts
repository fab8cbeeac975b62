/** OffsetFetch: the offsets that groups have committed; −1 where there is none. */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { partitionKey, type TopicIdPartition } from '../../common/topic-id-partition.ts';
import { type Uuid, ZERO_UUID } from '../../common/uuid.ts';
import type { CommittedOffset } from '../../coordinator/group-store.ts';
import type { TopicDescription } from '../../coordinator/topic-store.ts';
import type { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { offsetFetch } from '../../protocol/messages/offset-fetch.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { byTopic } from '../by-topic.ts';

/** Versions from which several groups are asked for at once. */
const BATCHED_FROM = 8;
/** From here on topics are named by id (KIP-848). */
const TOPIC_ID_FROM = 10;
/** Below this an error of the group has no place of its own, and stands with each partition. */
const GROUP_ERROR_FROM = 2;

type Request = RequestOf<typeof offsetFetch>;
type Response = ResponseOf<typeof offsetFetch>;

interface GroupRequest {
  readonly groupId: string;
  readonly memberId: string | null;
  readonly memberEpoch: number;
  readonly topics: readonly TopicRequest[] | null;
}

interface TopicRequest {
  readonly name: string;
  readonly topicId: Uuid;
  readonly partitionIndexes: readonly number[];
}

interface PartitionAnswer {
  readonly partitionIndex: number;
  readonly committedOffset: bigint;
  readonly committedLeaderEpoch: number;
  readonly metadata: string;
  readonly errorCode: ErrorCode;
}

interface GroupAnswer {
  readonly groupId: string;
  readonly errorCode: ErrorCode;
  readonly topics: readonly { name: string; topicId: Uuid; partitions: readonly PartitionAnswer[] }[];
}

function answer(partitionIndex: number, errorCode: ErrorCode, committed?: CommittedOffset): PartitionAnswer {
  return {
    partitionIndex,
    committedOffset: committed?.offset ?? -1n,
    committedLeaderEpoch: committed?.leaderEpoch ?? -1,
    metadata: committed?.metadata ?? '',
    errorCode,
  };
}

/** A request with its topics found; those that the broker does not know have no description. */
class OffsetLookup {
  readonly #topics: TopicIndex;
  readonly #byId: boolean;

  constructor(topics: TopicIndex, apiVersion: number) {
    this.#topics = topics;
    this.#byId = apiVersion >= TOPIC_ID_FROM;
  }

  find({ name, topicId }: TopicRequest): TopicDescription | undefined {
    return this.#byId ? this.#topics.byId(topicId) : this.#topics.byName(name);
  }

  partitions(requested: readonly TopicRequest[]): TopicIdPartition[] {
    return requested.flatMap((topic) => {
      const found = this.find(topic);
      return topic.partitionIndexes.flatMap((partition) => this.#topics.partition(found, partition) ?? []);
    });
  }

  /** What was asked for, in request order. A topic that is not known has no offsets; by id, it is an error. */
  answerRequested(requested: readonly TopicRequest[], offsets: readonly CommittedOffset[]): GroupAnswer['topics'] {
    const byKey = new Map(offsets.map((offset) => [partitionKey(offset.topicIdPartition), offset]));
    return requested.map((topic) => {
      const found = this.find(topic);
      const error = this.#byId && !found ? Errors.UNKNOWN_TOPIC_ID : Errors.NONE;
      const partitions = topic.partitionIndexes.map((partition) =>
        answer(partition, error, found && byKey.get(partitionKey({ topicId: found.topicId, partition }))),
      );
      return { name: topic.name, topicId: topic.topicId, partitions };
    });
  }

  /** Everything that the group has. Offsets of a topic that was deleted this moment are left out. */
  answerAll(offsets: readonly CommittedOffset[]): GroupAnswer['topics'] {
    const answers = byTopic(offsets, (offset) => answer(offset.topicIdPartition.partition, Errors.NONE, offset));
    return answers.flatMap(({ topicId, partitions }) => {
      const topic = this.#topics.byId(topicId);
      return topic ? [{ name: topic.name, topicId, partitions }] : [];
    });
  }
}

function refused(group: GroupRequest, errorCode: ErrorCode, apiVersion: number): GroupAnswer {
  const withEach = apiVersion < GROUP_ERROR_FROM ? (group.topics ?? []) : [];
  const topics = withEach.map(({ name, topicId, partitionIndexes }) => ({
    name,
    topicId,
    partitions: partitionIndexes.map((partition) => answer(partition, errorCode)),
  }));
  return { groupId: group.groupId, errorCode, topics };
}

function groupsOf(request: Request, apiVersion: number): readonly GroupRequest[] {
  if (apiVersion >= BATCHED_FROM) return request.groups;
  const topics = request.topics?.map((topic) => ({ ...topic, topicId: ZERO_UUID })) ?? null;
  return [{ groupId: request.groupId, memberId: null, memberEpoch: -1, topics }];
}

function respond(answers: readonly GroupAnswer[], apiVersion: number): Response {
  if (apiVersion >= BATCHED_FROM) return { groups: answers };
  const [only] = answers;
  return { topics: only!.topics, errorCode: only!.errorCode };
}

export function offsetFetchHandler(broker: Broker, groups: GroupCoordinator): ApiHandler {
  async function fetchGroup(group: GroupRequest, lookup: OffsetLookup, apiVersion: number): Promise<GroupAnswer> {
    const { groupId, memberId, memberEpoch } = group;
    const partitions = group.topics === null ? undefined : lookup.partitions(group.topics);
    const { error, offsets } = await groups.offsets.fetch({ groupId, memberId, memberEpoch, partitions });
    if (error !== Errors.NONE) return refused(group, error, apiVersion);
    const topics = group.topics === null ? lookup.answerAll(offsets) : lookup.answerRequested(group.topics, offsets);
    return { groupId, errorCode: error, topics };
  }
  return apiHandler({
    api: offsetFetch,
    async handle(request, { apiVersion }) {
      const lookup = new OffsetLookup(await broker.topics.view(), apiVersion);
      const asked = groupsOf(request, apiVersion);
      return respond(await Promise.all(asked.map((group) => fetchGroup(group, lookup, apiVersion))), apiVersion);
    },
    errorResponse: (error, request, { apiVersion }) =>
      respond(
        groupsOf(request, apiVersion).map((group) => refused(group, error, apiVersion)),
        apiVersion,
      ),
  });
}
