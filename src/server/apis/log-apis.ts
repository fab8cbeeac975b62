/** The APIs of topics and their logs. */
import type { ApiModule } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { createTopicsHandler } from './create-topics.ts';
import { deleteTopicsHandler } from './delete-topics.ts';
import { fetchHandler } from './fetch.ts';
import { initProducerIdHandler } from './init-producer-id.ts';
import { listOffsetsHandler } from './list-offsets.ts';
import { metadataHandler } from './metadata.ts';
import { offsetForLeaderEpochHandler } from './offset-for-leader-epoch.ts';
import { produceHandler } from './produce.ts';

export function logApis(broker: Broker): ApiModule {
  const makers = [
    produceHandler,
    fetchHandler,
    listOffsetsHandler,
    metadataHandler,
    createTopicsHandler,
    deleteTopicsHandler,
    initProducerIdHandler,
    offsetForLeaderEpochHandler,
  ];
  return { handlers: makers.map((make) => make(broker)) };
}
