/**
 * Metadata: the topics, and this broker as the leader of every partition, for any broker serves any partition. A topic
 * asked for by name that does not exist is created, where client and broker allow it, and is there in the same answer.
 */
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { type Uuid, ZERO_UUID } from '../../common/uuid.ts';
import type { TopicDescription } from '../../coordinator/topic-store.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { metadata } from '../../protocol/messages/metadata.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import { authorizedOperations } from '../authorized-operations.ts';
import type { Broker } from '../broker.ts';
import { ledPartitions } from '../led-partitions.ts';
import { isInternalTopic } from '../topic-names.ts';

type MetadataRequest = RequestOf<typeof metadata>;
type MetadataResponse = ResponseOf<typeof metadata>;
type MetadataTopic = MetadataResponse['topics'][number];

/** A hostile or mistaken list of names creates no more than this at once. */
const MAX_CREATED_PER_REQUEST = 1_000;

export function metadataHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof metadata>({
    api: metadata,

    async handle(request, { apiVersion }) {
      const topics = await broker.topics.view();
      if (asksForAll(request, apiVersion)) {
        const all = topics.all.map((topic) => describe(broker, topic));
        return withOperations(request, respond(broker, all));
      }
      const created = await createMissing(broker, request, topics);
      const now = created.size === 0 ? topics : await broker.topics.view();
      const found = distinct(request)
        .map(({ name, topicId }) => lookUp(broker, now, created, name, topicId))
        .map((topic) => nameable(topic, apiVersion));
      return withOperations(request, respond(broker, found));
    },

    errorResponse: (error, request, { apiVersion }) => ({
      ...respond(
        broker,
        (request.topics ?? []).map(({ name, topicId }) => nameable(unknown(name, topicId, error), apiVersion)),
      ),
      errorCode: error,
    }),
  });
}

/** What the client may do to the topics that were found, and to the cluster. */
function withOperations(request: MetadataRequest, response: MetadataResponse): MetadataResponse {
  const { includeTopicAuthorizedOperations: ofTopics, includeClusterAuthorizedOperations: ofCluster } = request;
  const topicAuthorizedOperations = authorizedOperations('topic', ofTopics);
  const found = ({ errorCode }: MetadataTopic): boolean => errorCode === Errors.NONE;
  return {
    ...response,
    topics: response.topics.map((topic) =>
      ofTopics && found(topic) ? { ...topic, topicAuthorizedOperations } : topic,
    ),
    clusterAuthorizedOperations: authorizedOperations('cluster', ofCluster),
  };
}

function asksForAll({ topics }: MetadataRequest, apiVersion: number): boolean {
  return topics === null || (apiVersion === 0 && topics.length === 0);
}

type Asked = { readonly name: string | null; readonly topicId: Uuid };

/** What is asked for, once each. With an id, Java sends "" for the name and librdkafka null: either way the id counts. */
function distinct({ topics }: MetadataRequest): Asked[] {
  const asked = (topics ?? []).map(
    ({ name, topicId }): Asked => ({ name: topicId === ZERO_UUID ? name : null, topicId }),
  );
  return [...new Map(asked.map((topic) => [topic.name ?? topic.topicId, topic])).values()];
}

/** Names that were missing → what creating them gave. */
async function createMissing(broker: Broker, request: MetadataRequest, topics: TopicIndex) {
  const results = new Map<string, ErrorCode>();
  const { autoCreateTopicsEnable, numPartitions } = broker.settings;
  if (!autoCreateTopicsEnable || !request.allowAutoTopicCreation) return results;
  const missing = distinct(request)
    .map(({ name }) => name)
    .filter((name) => name !== null && !topics.byName(name) && !isInternalTopic(name));
  const names = missing.slice(0, MAX_CREATED_PER_REQUEST) as string[];
  if (names.length === 0) return results;
  const created = await broker.engine.createTopics(names.map((name) => ({ name, partitions: numPartitions })));
  names.forEach((name, index) => {
    results.set(name, created[index]!.error);
  });
  return results;
}

function lookUp(
  broker: Broker,
  topics: TopicIndex,
  created: ReadonlyMap<string, ErrorCode>,
  name: string | null,
  topicId: Uuid,
): MetadataTopic {
  const topic = name === null ? topics.byId(topicId) : topics.byName(name);
  if (topic) return describe(broker, topic);
  if (name === null) return unknown(name, topicId, Errors.UNKNOWN_TOPIC_ID);
  // Another broker may have created it meanwhile without this one having heard of it yet: ask again.
  const error = created.get(name) ?? Errors.UNKNOWN_TOPIC_OR_PARTITION;
  const known = error === Errors.NONE || error === Errors.TOPIC_ALREADY_EXISTS;
  return unknown(name, ZERO_UUID, known ? Errors.LEADER_NOT_AVAILABLE : error);
}

function unknown(name: string | null, topicId: Uuid, errorCode: ErrorCode): MetadataTopic {
  return { errorCode, name, topicId, partitions: [] };
}

/** Versions 10 and 11 ask by id, but have no way to answer without a name. */
function nameable(topic: MetadataTopic, apiVersion: number): MetadataTopic {
  return apiVersion >= 12 || topic.name !== null ? topic : { ...topic, name: '' };
}

function describe({ nodeId }: Broker, { name, topicId, partitions }: TopicDescription): MetadataTopic {
  return { errorCode: Errors.NONE, name, topicId, partitions: ledPartitions(nodeId, 0, partitions) };
}

function respond(broker: Broker, topics: readonly MetadataTopic[]): MetadataResponse {
  const { nodeId, rack, advertisedListener, coordinator } = broker;
  return {
    brokers: [{ nodeId, host: advertisedListener.host, port: advertisedListener.port, rack }],
    clusterId: coordinator.clusterId,
    controllerId: nodeId,
    topics,
  };
}
