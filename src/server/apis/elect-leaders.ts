/** ElectLeaders: every partition has its preferred leader already, the broker that one asks. */
import { Errors } from '../../common/errors.ts';
import type { TopicIndex } from '../../group/topic-index.ts';
import type { RequestOf, ResponseOf } from '../../protocol/api.ts';
import { electLeaders } from '../../protocol/messages/elect-leaders.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';

type Request = RequestOf<typeof electLeaders>;
type Results = ResponseOf<typeof electLeaders>['replicaElectionResults'];

const UNCLEAN = 1;

export function electLeadersHandler(broker: Broker): ApiHandler {
  return apiHandler<typeof electLeaders>({
    api: electLeaders,

    async handle({ electionType, topicPartitions }) {
      if (electionType < 0 || electionType > UNCLEAN) return refusal(Errors.INVALID_REQUEST);
      const replicaElectionResults = elections(topicPartitions, await broker.topics.view());
      return { errorCode: Errors.NONE, replicaElectionResults };
    },

    errorResponse: (error) => refusal(error),
  });
}

function refusal(errorCode: number) {
  return { errorCode, replicaElectionResults: [] };
}

/** Of all partitions, Kafka names only those whose leader changed or could not. */
function elections(asked: Request['topicPartitions'], topics: TopicIndex): Results {
  if (asked === null) return topics.names.map((topic) => ({ topic, partitionResult: [] }));
  return asked.map(({ topic, partitions }) => ({
    topic,
    partitionResult: partitions.map((partitionId) => {
      const known = topics.partition(topics.byName(topic), partitionId);
      return known
        ? { partitionId, errorCode: Errors.ELECTION_NOT_NEEDED, errorMessage: 'the partition has its preferred leader' }
        : { partitionId, errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION, errorMessage: 'there is no such partition' };
    }),
  }));
}
