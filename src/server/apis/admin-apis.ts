/** The APIs of admin clients. */
import type { ApiModule } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { alterConfigsHandler } from './alter-configs.ts';
import { createPartitionsHandler } from './create-partitions.ts';
import { deleteRecordsHandler } from './delete-records.ts';
import { describeConfigsHandler } from './describe-configs.ts';
import { incrementalAlterConfigsHandler } from './incremental-alter-configs.ts';

export function adminApis(broker: Broker): ApiModule {
  const makers = [
    createPartitionsHandler,
    deleteRecordsHandler,
    describeConfigsHandler,
    alterConfigsHandler,
    incrementalAlterConfigsHandler,
  ];
  return { handlers: makers.map((make) => make(broker)) };
}
