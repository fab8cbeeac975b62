/** DescribeCluster: the brokers as Metadata tells them. */
import { Errors } from '../../common/errors.ts';
import { describeCluster } from '../../protocol/messages/describe-cluster.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';
import { authorizedOperations } from '../authorized-operations.ts';
import type { Broker } from '../broker.ts';

const BROKERS = 1;
const CONTROLLERS = 2;

export function describeClusterHandler(broker: Broker): ApiHandler {
  const { coordinator, nodeId, rack } = broker;
  const refusal = (errorCode: number, errorMessage: string | null, endpointType: number) => ({
    errorCode,
    errorMessage,
    endpointType,
    clusterId: '',
    brokers: [],
  });
  return apiHandler<typeof describeCluster>({
    api: describeCluster,

    async handle({ endpointType, includeClusterAuthorizedOperations }) {
      if (endpointType === CONTROLLERS) {
        return refusal(Errors.MISMATCHED_ENDPOINT_TYPE, 'this is a broker; there are no controllers', endpointType);
      }
      if (endpointType !== BROKERS) {
        return refusal(Errors.UNSUPPORTED_ENDPOINT_TYPE, `there is no endpoint type ${endpointType}`, endpointType);
      }
      const { host, port } = broker.advertisedListener;
      return {
        errorCode: Errors.NONE,
        endpointType,
        clusterId: coordinator.clusterId,
        controllerId: nodeId,
        brokers: [{ brokerId: nodeId, host, port, rack }],
        clusterAuthorizedOperations: authorizedOperations('cluster', includeClusterAuthorizedOperations),
      };
    },

    errorResponse: (error, { endpointType }) => refusal(error, null, endpointType),
  });
}
