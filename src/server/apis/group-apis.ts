/** The APIs of groups: one coordinator over the broker's store, opened with the server and closed by it. */
import { GroupCoordinator } from '../../group/group-coordinator.ts';
import type { ApiModule } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { alterShareGroupOffsetsHandler } from './alter-share-group-offsets.ts';
import { consumerGroupDescribeHandler } from './consumer-group-describe.ts';
import { consumerGroupHeartbeatHandler } from './consumer-group-heartbeat.ts';
import { deleteGroupsHandler } from './delete-groups.ts';
import { deleteShareGroupOffsetsHandler } from './delete-share-group-offsets.ts';
import { describeGroupsHandler } from './describe-groups.ts';
import { describeShareGroupOffsetsHandler } from './describe-share-group-offsets.ts';
import { findCoordinatorHandler } from './find-coordinator.ts';
import { heartbeatHandler } from './heartbeat.ts';
import { joinGroupHandler } from './join-group.ts';
import { leaveGroupHandler } from './leave-group.ts';
import { listGroupsHandler } from './list-groups.ts';
import { offsetCommitHandler } from './offset-commit.ts';
import { offsetDeleteHandler } from './offset-delete.ts';
import { offsetFetchHandler } from './offset-fetch.ts';
import { shareGroupDescribeHandler } from './share-group-describe.ts';
import { shareGroupHeartbeatHandler } from './share-group-heartbeat.ts';
import { syncGroupHandler } from './sync-group.ts';

export async function groupApis(broker: Broker): Promise<ApiModule> {
  const { coordinator, time, random, logger, groupSettings } = broker;
  const groups = await GroupCoordinator.open(
    {
      store: coordinator,
      shareStates: broker.engine.shareOffsets,
      listTopics: () => broker.engine.listTopics(),
      time,
      random,
      logger,
    },
    groupSettings,
  );
  const name = 'kafka_server_group_coordinator_metrics_group_count';
  broker.metrics.observe('gauge', name, 'Groups by protocol.', (observe) => {
    for (const [protocol, count] of Object.entries(groups.counts())) observe(count, { protocol });
  });
  return {
    handlers: [
      findCoordinatorHandler(broker),
      joinGroupHandler(groups),
      syncGroupHandler(groups),
      heartbeatHandler(groups),
      leaveGroupHandler(groups),
      offsetCommitHandler(broker, groups),
      offsetFetchHandler(broker, groups),
      offsetDeleteHandler(broker, groups),
      describeGroupsHandler(groups),
      listGroupsHandler(groups),
      deleteGroupsHandler(groups),
      consumerGroupHeartbeatHandler(groups),
      consumerGroupDescribeHandler(groups),
      shareGroupHeartbeatHandler(groups),
      shareGroupDescribeHandler(groups),
      describeShareGroupOffsetsHandler(broker, groups),
      alterShareGroupOffsetsHandler(broker, groups),
      deleteShareGroupOffsetsHandler(broker, groups),
    ],
    close: () => groups.close(),
  };
}
