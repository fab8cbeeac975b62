/** The APIs of admin clients. */
import type { ApiModule } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { alterConfigsHandler } from './alter-configs.ts';
import { createPartitionsHandler } from './create-partitions.ts';
import { deleteRecordsHandler } from './delete-records.ts';
import { describeAclsHandler } from './describe-acls.ts';
import { describeClusterHandler } from './describe-cluster.ts';
import { describeConfigsHandler } from './describe-configs.ts';
import { describeLogDirsHandler } from './describe-log-dirs.ts';
import { describeProducersHandler } from './describe-producers.ts';
import { describeTopicPartitionsHandler } from './describe-topic-partitions.ts';
import { electLeadersHandler } from './elect-leaders.ts';
import { incrementalAlterConfigsHandler } from './incremental-alter-configs.ts';
import { listConfigResourcesHandler } from './list-config-resources.ts';
import { listPartitionReassignmentsHandler } from './list-partition-reassignments.ts';
import { saslHandshakeHandler } from './sasl-handshake.ts';

export function adminApis(broker: Broker): ApiModule {
  const makers = [
    alterConfigsHandler,
    createPartitionsHandler,
    deleteRecordsHandler,
    describeAclsHandler,
    describeClusterHandler,
    describeConfigsHandler,
    describeLogDirsHandler,
    describeProducersHandler,
    describeTopicPartitionsHandler,
    electLeadersHandler,
    incrementalAlterConfigsHandler,
    listConfigResourcesHandler,
    listPartitionReassignmentsHandler,
    saslHandshakeHandler,
  ];
  return { handlers: makers.map((make) => make(broker)) };
}
