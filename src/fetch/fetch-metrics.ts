/** What the fetch side lets a meter read when metrics are exported. */
import { type Meter, type Observed, observeCounters, observeGauges } from '../common/metrics.ts';
import type { FetchStats } from './fetch-service.ts';

const COUNTERS: readonly Observed<FetchStats>[] = [
  ['diskless.fetch.requests', '{request}', 'Fetches answered.', (stats) => stats.fetches],
  ['diskless.fetch.bytes', 'By', 'Bytes of record batches fetched.', (stats) => stats.fetchedBytes],
  ['diskless.fetch.local_hits', '{partition}', 'Partitions answered from memory alone.', (stats) => stats.localHits],
  ['diskless.fetch.local_misses', '{partition}', 'Partitions looked up first.', (stats) => stats.localMisses],
  ['diskless.fetch.ranged_gets', '{request}', 'GETs that fetches needed.', (stats) => stats.rangedGets],
  ['diskless.fetch.ranged_get_bytes', 'By', 'Bytes that those GETs asked for.', (stats) => stats.rangedGetBytes],
];

const GAUGES: readonly Observed<FetchStats>[] = [
  ['diskless.fetch.parked', '{request}', 'Fetches that wait for records.', (stats) => stats.parkedFetches],
  ['diskless.fetch.local_view', 'By', 'Record batches kept in memory.', (stats) => stats.cachedBytes],
];

export function observeFetches(meter: Meter, stats: () => FetchStats): void {
  observeCounters(meter, COUNTERS, stats);
  observeGauges(meter, GAUGES, stats);
}
