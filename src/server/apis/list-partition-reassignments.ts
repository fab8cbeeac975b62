/** ListPartitionReassignments: partitions lie on no broker, so none ever moves from one to another. */
import { Errors } from '../../common/errors.ts';
import { listPartitionReassignments } from '../../protocol/messages/list-partition-reassignments.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

export function listPartitionReassignmentsHandler(): ApiHandler {
  return apiHandler<typeof listPartitionReassignments>({
    api: listPartitionReassignments,
    handle: async () => ({ errorCode: Errors.NONE, topics: [] }),
    errorResponse: (errorCode) => ({ errorCode, topics: [] }),
  });
}
