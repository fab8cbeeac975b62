/** The APIs of the share-partition leader, and what binds share sessions to connections. */
import type { ApiModule } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { ShareConnections } from '../share-connections.ts';
import { describeInFlightRecordsHandler } from './describe-in-flight-records.ts';
import { shareAcknowledgeHandler } from './share-acknowledge.ts';
import { shareFetchHandler } from './share-fetch.ts';

export function shareApis(broker: Broker): ApiModule {
  const connections = new ShareConnections(broker.engine, broker.logger);
  return {
    handlers: [
      shareFetchHandler(broker, connections),
      shareAcknowledgeHandler(broker, connections),
      describeInFlightRecordsHandler(broker),
    ],
    close: () => connections.idle(),
  };
}
