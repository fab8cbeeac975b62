/** The APIs that have tables. Which of them a broker serves is decided by its handlers, not here. */
import { alterConfigs } from './messages/alter-configs.ts';
import { alterShareGroupOffsets } from './messages/alter-share-group-offsets.ts';
import { apiVersions } from './messages/api-versions.ts';
import { consumerGroupDescribe } from './messages/consumer-group-describe.ts';
import { consumerGroupHeartbeat } from './messages/consumer-group-heartbeat.ts';
import { createPartitions } from './messages/create-partitions.ts';
import { createTopics } from './messages/create-topics.ts';
import { deleteGroups } from './messages/delete-groups.ts';
import { deleteRecords } from './messages/delete-records.ts';
import { deleteShareGroupOffsets } from './messages/delete-share-group-offsets.ts';
import { deleteTopics } from './messages/delete-topics.ts';
import { describeAcls } from './messages/describe-acls.ts';
import { describeCluster } from './messages/describe-cluster.ts';
import { describeConfigs } from './messages/describe-configs.ts';
import { describeGroups } from './messages/describe-groups.ts';
import { describeInFlightRecords } from './messages/describe-in-flight-records.ts';
import { describeLogDirs } from './messages/describe-log-dirs.ts';
import { describeProducers } from './messages/describe-producers.ts';
import { describeShareGroupOffsets } from './messages/describe-share-group-offsets.ts';
import { describeTopicPartitions } from './messages/describe-topic-partitions.ts';
import { electLeaders } from './messages/elect-leaders.ts';
import { fetch } from './messages/fetch.ts';
import { findCoordinator } from './messages/find-coordinator.ts';
import { heartbeat } from './messages/heartbeat.ts';
import { incrementalAlterConfigs } from './messages/incremental-alter-configs.ts';
import { initProducerId } from './messages/init-producer-id.ts';
import { joinGroup } from './messages/join-group.ts';
import { leaveGroup } from './messages/leave-group.ts';
import { listConfigResources } from './messages/list-config-resources.ts';
import { listGroups } from './messages/list-groups.ts';
import { listOffsets } from './messages/list-offsets.ts';
import { listPartitionReassignments } from './messages/list-partition-reassignments.ts';
import { metadata } from './messages/metadata.ts';
import { offsetCommit } from './messages/offset-commit.ts';
import { offsetDelete } from './messages/offset-delete.ts';
import { offsetFetch } from './messages/offset-fetch.ts';
import { offsetForLeaderEpoch } from './messages/offset-for-leader-epoch.ts';
import { produce } from './messages/produce.ts';
import { saslHandshake } from './messages/sasl-handshake.ts';
import { shareAcknowledge } from './messages/share-acknowledge.ts';
import { shareFetch } from './messages/share-fetch.ts';
import { shareGroupDescribe } from './messages/share-group-describe.ts';
import { shareGroupHeartbeat } from './messages/share-group-heartbeat.ts';
import { syncGroup } from './messages/sync-group.ts';

export const apis = {
  produce,
  fetch,
  listOffsets,
  metadata,
  offsetCommit,
  offsetFetch,
  findCoordinator,
  joinGroup,
  heartbeat,
  leaveGroup,
  syncGroup,
  describeGroups,
  listGroups,
  saslHandshake,
  apiVersions,
  createTopics,
  deleteTopics,
  deleteRecords,
  initProducerId,
  offsetForLeaderEpoch,
  describeAcls,
  describeConfigs,
  alterConfigs,
  describeLogDirs,
  createPartitions,
  deleteGroups,
  electLeaders,
  incrementalAlterConfigs,
  listPartitionReassignments,
  offsetDelete,
  describeCluster,
  describeProducers,
  consumerGroupHeartbeat,
  consumerGroupDescribe,
  listConfigResources,
  describeTopicPartitions,
  shareGroupHeartbeat,
  shareGroupDescribe,
  shareFetch,
  shareAcknowledge,
  describeShareGroupOffsets,
  alterShareGroupOffsets,
  deleteShareGroupOffsets,
  describeInFlightRecords,
} as const;
