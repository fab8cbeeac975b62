/** Partitions as Metadata and DescribeTopicPartitions tell them: the broker that one asks leads each, and is all its replicas. */
import { Errors } from '../common/errors.ts';
import { LEADER_EPOCH } from './leader-epoch.ts';

export function ledPartitions(nodeId: number, first: number, count: number) {
  const nodes = [nodeId];
  return Array.from({ length: count }, (_, index) => ({
    errorCode: Errors.NONE,
    partitionIndex: first + index,
    leaderId: nodeId,
    leaderEpoch: LEADER_EPOCH,
    replicaNodes: nodes,
    isrNodes: nodes,
  }));
}
