/// <reference types="node" preserve="true" />
/**
 * `import … from 'shoal'`: the engine, its types, and the in-memory parts. Loads neither the AWS SDK nor a database
 * client; those come with `shoal/s3`, `shoal/sqlite` and `shoal/postgres`.
 */
export type { ErrorCode, ErrorName } from './common/errors.ts';
export { ApiError, Errors, errorName, isRetriable } from './common/errors.ts';
export type { Logger } from './common/logger.ts';
export type { Meter } from './common/metrics.ts';
export { MetricsRegistry } from './common/metrics-registry.ts';
export { type Random, seededRandom, systemRandom } from './common/random.ts';
export { registryMeter } from './common/registry-meter.ts';
export { systemTime, type Time, type Timer } from './common/time.ts';
export type { TopicIdPartition } from './common/topic-id-partition.ts';
export type { Uuid } from './common/uuid.ts';
export * from './coordinator/diskless-coordinator.ts';
export {
  type InMemoryCoordinatorOptions,
  InMemoryDisklessCoordinator,
} from './coordinator/in-memory-diskless-coordinator.ts';
export type * from './coordinator/topic-store.ts';
export type * from './engine/diskless-engine.ts';
export { openEngine } from './engine/engine.ts';
export { defaultEngineSettings, type EngineSettings } from './engine/settings.ts';
export { explanationJson, explanationText } from './fetch/explain-fetch.ts';
export { type ObjectRange, planRangedGets, type RangeCostModel } from './fetch/fetch-planner.ts';
export type * from './fetch/fetch-request.ts';
export type * from './produce/append-request.ts';
export { type SegmentFooter, SegmentFormatError, type SegmentRun } from './produce/segment-format.ts';
export { readSegmentFooter } from './produce/segment-reader.ts';
export { InMemoryObjectStorage } from './storage/in-memory-object-storage.ts';
export { LocalDirectoryObjectStorage, type LocalDirectoryOptions } from './storage/local-directory-object-storage.ts';
export * from './storage/object-storage.ts';
