/** CreatePartitions: topics get more partitions, never fewer. */
import { standingTwice } from '../../common/duplicates.ts';
import { type ErrorCode, Errors } from '../../common/errors.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { createPartitions } from '../../protocol/messages/create-partitions.ts';
import { withinTimeout } from '../admin-timeout.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { errorMessage } from '../error-message.ts';
import { tooManyPartitions } from '../partition-limits.ts';
import { assignmentProblem } from '../replica-assignment.ts';

type Request = RequestOf<typeof createPartitions>;
type Topic = Request['topics'][number];
type Result = ResponseOf<typeof createPartitions>['results'][number];

interface Refusal {
  readonly error: ErrorCode;
  readonly message: string;
}

export function createPartitionsHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof createPartitions>({
    api: createPartitions,

    async handle(request) {
      const { topics, validateOnly, timeoutMs } = request;
      const index = await broker.topics.view();
      const tooMany = tooManyPartitions(topics.map(({ name, count }) => count - (index.byName(name)?.partitions ?? 0)));
      if (tooMany !== undefined) return everywhere(request, { error: Errors.POLICY_VIOLATION, message: tooMany });
      const twice = standingTwice(topics.map(({ name }) => name));
      const refusals = topics.map((topic) => refusalOf(broker, topic, index, twice));
      const requests = topics.flatMap(({ name, count }, i) =>
        refusals[i] ? [] : [{ topicId: index.byName(name)!.topicId, partitions: count }],
      );
      const work = broker.engine.createPartitions(requests, { validateOnly });
      const results = await withinTimeout(broker.time, timeoutMs, work);
      let next = 0;
      return { results: topics.map((topic, i) => result(topic, refusals[i] ?? results[next++]!)) };
    },

    errorResponse: (error, request) => everywhere(request, { error, message: '' }),
  });
}

function everywhere({ topics }: Request, refusal: Refusal): { results: Result[] } {
  return { results: topics.map((topic) => result(topic, refusal)) };
}

function refusalOf(broker: Broker, topic: Topic, index: TopicIndex, twice: ReadonlySet<string>): Refusal | undefined {
  const { name, count, assignments } = topic;
  if (twice.has(name)) return { error: Errors.INVALID_REQUEST, message: `topic ${name} stands twice in the request` };
  const known = index.byName(name);
  if (!known) return { error: Errors.UNKNOWN_TOPIC_OR_PARTITION, message: `there is no topic ${name}` };
  if (assignments === null || count <= known.partitions) return undefined;
  const added = count - known.partitions;
  const problem =
    assignments.length === added
      ? assignments.map(({ brokerIds }) => assignmentProblem(broker.nodeId, brokerIds)).find((one) => one !== undefined)
      : `${added} partitions would be added, but ${assignments.length} were assigned`;
  return problem === undefined ? undefined : { error: Errors.INVALID_REPLICA_ASSIGNMENT, message: problem };
}

function result({ name }: Topic, { error, message }: Refusal): Result {
  return { name, errorCode: error, errorMessage: errorMessage(message) };
}
