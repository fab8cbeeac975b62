/** What an engine lets its meter read when metrics are exported: the counts that no part of it tells itself. */
import { type Meter, type Observed, observeCounters, observeGauges } from '../common/metrics.ts';
import type { DisklessEngine, EngineStats } from './diskless-engine.ts';

const COUNTERS: readonly Observed<EngineStats>[] = [
  ['diskless.append.batches', '{batch}', 'Batches appended.', (stats) => stats.appendedBatches],
  ['diskless.append.records', '{record}', 'Records appended.', (stats) => stats.appendedRecords],
  ['diskless.segment.committed', '{segment}', 'Shared log segments committed.', (stats) => stats.segmentsCommitted],
  ['diskless.retention.deleted', 'By', 'Bytes that retention dropped.', (stats) => stats.bytesDeleted],
  ['diskless.maintenance.files_deleted', '{file}', 'Objects deleted.', (stats) => stats.filesDeleted],
  ['diskless.maintenance.deletions_failed', '{file}', 'Deletions refused.', (stats) => stats.deletionsFailed],
];

const GAUGES: readonly Observed<EngineStats>[] = [
  ['diskless.append.buffered', 'By', 'Memory that appends hold.', (stats) => stats.bufferedBytes],
  ['diskless.memory.leased', 'By', 'Memory that appends and fetches hold.', (stats) => stats.leasedBytes],
];

const OF_THE_ENGINE: readonly Observed<DisklessEngine>[] = [
  ['diskless.append.backlog', 'By', 'Bytes sent and not committed yet.', (engine) => engine.appendBacklogBytes],
  ['diskless.engine.open', '', '1 while it takes appends.', ({ status }) => (status === 'open' ? 1 : 0)],
];

export function observeEngine(engine: DisklessEngine, meter: Meter): void {
  observeCounters(meter, COUNTERS, () => engine.stats());
  observeGauges(meter, GAUGES, () => engine.stats());
  observeGauges(meter, OF_THE_ENGINE, () => engine);
}
