/** DeleteTopics: by name, or from version 6 on by name or id. */
import { standingTwice } from '../../common/duplicates.ts';
import { type ErrorCode, Errors } from '../../common/errors.ts';
import { type Uuid, ZERO_UUID } from '../../common/uuid.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { deleteTopics } from '../../protocol/messages/delete-topics.ts';
import { withinTimeout } from '../admin-timeout.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { errorMessage } from '../error-message.ts';

type DeleteTopicsRequest = RequestOf<typeof deleteTopics>;
type DeletableTopicResult = ResponseOf<typeof deleteTopics>['responses'][number];

/** How a request names a topic; one of the two is missing. */
interface Reference {
  readonly name: string | null;
  readonly topicId: Uuid;
}

interface Refusal {
  readonly error: ErrorCode;
  readonly message: string | null;
}

export function deleteTopicsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof deleteTopics>({
    api: deleteTopics,

    async handle(request) {
      const topics = await broker.topics.view();
      const references = referencesOf(request);
      const found = references.map((reference) => find(topics, reference));
      const ids = found.filter((one) => typeof one === 'string');
      const twice = standingTwice(ids);
      const unique = ids.filter((id) => !twice.has(id));
      const work = unique.length === 0 ? Promise.resolve([]) : broker.engine.deleteTopics(unique);
      const results = await withinTimeout(broker.time, request.timeoutMs, work);
      const byId = new Map(unique.map((id, index) => [id, results[index]!]));
      return {
        responses: references.map((reference, index) => {
          const one = found[index]!;
          const outcome = typeof one === 'string' ? (byId.get(one) ?? STANDS_TWICE) : one;
          return respond(topics, reference, outcome);
        }),
      };
    },

    errorResponse: (error, request) => ({
      responses: referencesOf(request).map(({ name, topicId }) => ({ name, topicId, errorCode: error })),
    }),
  });
}

const STANDS_TWICE: Refusal = { error: Errors.INVALID_REQUEST, message: 'the topic stands twice in the request' };

function referencesOf({ topics, topicNames }: DeleteTopicsRequest): Reference[] {
  return [...topics, ...topicNames.map((name) => ({ name, topicId: ZERO_UUID }))];
}

function find(topics: TopicIndex, { name, topicId }: Reference): Uuid | Refusal {
  const hasId = topicId !== ZERO_UUID;
  if (hasId === (name !== null)) {
    return { error: Errors.INVALID_REQUEST, message: 'name a topic either by its name or by its id' };
  }
  const topic = hasId ? topics.byId(topicId) : topics.byName(name!);
  if (topic) return topic.topicId;
  return { error: hasId ? Errors.UNKNOWN_TOPIC_ID : Errors.UNKNOWN_TOPIC_OR_PARTITION, message: null };
}

/** A topic that was deleted is told by both its name and its id. */
function respond(topics: TopicIndex, reference: Reference, { error, message }: Refusal): DeletableTopicResult {
  const { name, topicId } = reference;
  const topic = name === null ? topics.byId(topicId) : topics.byName(name);
  return {
    name: topic?.name ?? name,
    topicId: topic?.topicId ?? topicId,
    errorCode: error,
    errorMessage: message === null ? null : errorMessage(message),
  };
}
