/** The APIs of topics and their logs, and the fetch sessions. */
import type { ApiModule } from '../api-handler.ts';
import type { Broker } from '../broker.ts';
import { FetchSessionCache } from '../fetch/fetch-session-cache.ts';
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
    listOffsetsHandler,
    metadataHandler,
    createTopicsHandler,
    deleteTopicsHandler,
    initProducerIdHandler,
    offsetForLeaderEpochHandler,
  ];
  const { engine, time, random, settings } = broker;
  const sessions = new FetchSessionCache({
    engine,
    time,
    random,
    maxSessions: settings.maxIncrementalFetchSessionCacheSlots,
    maxPartitions: settings.fetchSessionMaxPartitions,
  });
  observeFetching(broker, sessions);
  return {
    handlers: [fetchHandler(broker, sessions), ...makers.map((make) => make(broker))],
    close: async () => sessions.close(),
  };
}

function observeFetching({ metrics, engine }: Broker, sessions: FetchSessionCache): void {
  const name = (of: string): string => `kafka_server_fetchsessioncache_${of}`;
  metrics.observe('gauge', name('numincrementalfetchsessions'), 'Fetch sessions.', (observe) =>
    observe(sessions.stats().sessions),
  );
  metrics.observe('gauge', name('numincrementalfetchpartitionscached'), 'Partitions of fetch sessions.', (observe) =>
    observe(sessions.stats().partitions),
  );
  metrics.observe('counter', name('incrementalfetchsessionevictions_total'), 'Fetch sessions evicted.', (observe) =>
    observe(sessions.stats().evictions),
  );
  const purgatory = 'kafka_server_delayedoperationpurgatory_purgatorysize';
  metrics.observe('gauge', purgatory, 'Requests that wait.', (observe) =>
    observe(engine.stats().parkedFetches + sessions.stats().waiting, { delayedoperation: 'Fetch' }),
  );
}
