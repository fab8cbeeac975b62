/** What an engine lets its meter read when metrics are exported: the counts behind `stats()` that no part tells itself. */
import type { Meter } from '../common/metrics.ts';
import type { DisklessEngine, EngineStats } from './diskless-engine.ts';

type Reading = (engine: DisklessEngine, stats: EngineStats) => number;
type Row = readonly [name: string, unit: string, description: string, read: Reading];

const COUNTERS: readonly Row[] = [
  ['diskless.append.batches', '{batch}', 'Batches appended.', (_, stats) => stats.appendedBatches],
  ['diskless.append.records', '{record}', 'Records appended.', (_, stats) => stats.appendedRecords],
  ['diskless.segment.committed', '{segment}', 'Shared log segments committed.', (_, stats) => stats.segmentsCommitted],
  ['diskless.retention.deleted', 'By', 'Bytes that retention dropped.', (_, stats) => stats.bytesDeleted],
  ['diskless.maintenance.files_deleted', '{file}', 'Objects deleted.', (_, stats) => stats.filesDeleted],
  ['diskless.maintenance.deletions_failed', '{file}', 'Deletions refused.', (_, stats) => stats.deletionsFailed],
];

const GAUGES: readonly Row[] = [
  ['diskless.append.buffered', 'By', 'Memory that appends hold.', (_, stats) => stats.bufferedBytes],
  ['diskless.append.backlog', 'By', 'Bytes not committed yet, waiting ones included.', (one) => one.appendBacklogBytes],
  ['diskless.memory.leased', 'By', 'Memory that appends and fetches hold.', (_, stats) => stats.leasedBytes],
  ['diskless.engine.open', '', '1 while the engine takes appends.', ({ status }) => (status === 'open' ? 1 : 0)],
];

export function observeEngine(engine: DisklessEngine, meter: Meter): void {
  for (const [name, unit, description, read] of COUNTERS) {
    const counter = meter.createObservableCounter(name, { unit, description });
    counter.addCallback((result) => result.observe(read(engine, engine.stats())));
  }
  for (const [name, unit, description, read] of GAUGES) {
    const gauge = meter.createObservableGauge(name, { unit, description });
    gauge.addCallback((result) => result.observe(read(engine, engine.stats())));
  }
}
