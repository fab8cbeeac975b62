/** DescribeInFlightRecords, an API of our own: what is held, delivered and locked in the share partitions of a group. */
import { Errors } from '../../common/errors.ts';
import { describeInFlightRecords } from '../../protocol/messages/describe-in-flight-records.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import type { Broker } from '../broker.ts';

/** Of all partitions together: a run takes some 60 bytes of the answer. */
const MAX_RUNS = 100_000;

export function describeInFlightRecordsHandler({ engine }: Broker): ApiHandler {
  return apiHandler<typeof describeInFlightRecords>({
    api: describeInFlightRecords,
    async handle({ groupId, maxRuns }) {
      const described = engine.shareOffsets.inFlight(groupId, {
        maxRuns: Math.max(0, maxRuns),
        maxRunsInAll: MAX_RUNS,
      });
      const partitions = described.map(({ topicIdPartition, ...records }) => {
        return { ...records, topicId: topicIdPartition.topicId, partitionIndex: topicIdPartition.partition };
      });
      return { errorCode: Errors.NONE, partitions };
    },
    errorResponse: (errorCode) => ({ errorCode, partitions: [] }),
  });
}
