/** The engine's settings: plain, in Kafka's words with units, checked once, frozen. */
import { ApiError } from '../common/errors.ts';
import { MIN_TOMBSTONE_AGE_MS } from '../coordinator/tombstones.ts';
import { defaultFetchSettings, type FetchSettings, fetchSettings } from '../fetch/fetch-settings.ts';
import { isObjectKey } from '../storage/object-storage.ts';
import { defaultMaintenanceSettings, type MaintenanceSettings } from './maintenance.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

export interface EngineSettings extends FetchSettings, MaintenanceSettings {
  /** This broker's id; with the uploader epoch it names who wrote a segment. @default 0 */
  readonly nodeId: number;
  /** Segments are stored as `<prefix>/<uuid>`. @default 'segments' */
  readonly objectKeyPrefix: string;
  /** A segment closes at this size (KIP-1163). @default 4 MiB */
  readonly produceBufferMaxBytes: number;
  /** A segment closes this long after its first batch (KIP-1163). @default 250 */
  readonly produceCommitIntervalMs: number;
  /** PUTs in flight at a time. @default 8 */
  readonly produceUploadConcurrency: number;
  /** How long an upload is tried before its segment fails. @default 20,000 */
  readonly produceUploadDeadlineMs: number;
  /** How long a commit without an answer is repeated before its object key is given up. @default 60,000 */
  readonly produceCommitDeadlineMs: number;
  /** How long `append` waits when the caller says nothing. @default 30,000 */
  readonly produceRequestTimeoutMs: number;
  /** Memory for what producers sent, from the door until its commit. Past it, requests wait. @default 128 MiB */
  readonly produceMemoryBytes: number;
  /** Requests that may wait for that memory, and their bytes; past it they are refused. @default 10,000 and 128 MiB */
  readonly produceMaxWaitingRequests: number;
  readonly produceMaxWaitingBytes: number;
  /** Pauses between attempts of an upload or commit: the first one, and the longest. @default 20 and 1,000 */
  readonly retryBackoffMs: number;
  readonly retryBackoffMaxMs: number;
  /** Memory for fetches: GETs in flight and recent batches. @default 256 MiB */
  readonly fetchMemoryBytes: number;
  /** `group.share.max.share.sessions`: share sessions on this broker. @default 2,000 */
  readonly groupShareMaxShareSessions: number;
  /** `fetch.max.bytes` for share fetches: the most that one of them returns. @default 55 MiB */
  readonly shareFetchMaxBytes: number;
  /** `num.partitions`: partitions of a dead-letter queue's topic that is made for its group. @default 1 */
  readonly numPartitions: number;
  /** Threads that validate and verify; 0 does it all on the main thread. @default one for each core, at most 8 */
  readonly workerThreads: number | undefined;
}

export const defaultEngineSettings: EngineSettings = Object.freeze({
  ...defaultFetchSettings,
  ...defaultMaintenanceSettings,
  nodeId: 0,
  objectKeyPrefix: 'segments',
  produceBufferMaxBytes: 4 * MIB,
  produceCommitIntervalMs: 250,
  produceUploadConcurrency: 8,
  produceUploadDeadlineMs: 20_000,
  produceCommitDeadlineMs: 60_000,
  produceRequestTimeoutMs: 30_000,
  produceMemoryBytes: 128 * MIB,
  produceMaxWaitingRequests: 10_000,
  produceMaxWaitingBytes: 128 * MIB,
  retryBackoffMs: 20,
  retryBackoffMaxMs: 1_000,
  fetchMemoryBytes: 256 * MIB,
  groupShareMaxShareSessions: 2_000,
  shareFetchMaxBytes: 55 * MIB,
  numPartitions: 1,
  workerThreads: undefined,
});

const DAY_MS = 86_400_000;
const INT32_MAX = 2 ** 31 - 1;

/** Allowed range of every numeric setting, both ends included. */
const ranges: { readonly [N in keyof EngineSettings]?: readonly [min: number, max: number] } = {
  nodeId: [0, INT32_MAX],
  produceBufferMaxBytes: [1, 1024 * MIB],
  produceCommitIntervalMs: [0, DAY_MS],
  produceUploadConcurrency: [1, 1_000],
  produceUploadDeadlineMs: [1, DAY_MS],
  produceCommitDeadlineMs: [1, DAY_MS],
  produceRequestTimeoutMs: [1, INT32_MAX],
  produceMemoryBytes: [64 * KIB, 2048 * MIB],
  produceMaxWaitingRequests: [0, 1_000_000],
  produceMaxWaitingBytes: [0, 16_384 * MIB],
  retryBackoffMs: [1, DAY_MS],
  retryBackoffMaxMs: [1, DAY_MS],
  fetchMemoryBytes: [64 * KIB, 2048 * MIB],
  groupShareMaxShareSessions: [1, 1_000_000],
  shareFetchMaxBytes: [1, INT32_MAX],
  numPartitions: [1, 50_000],
  workerThreads: [0, 256],
  retentionCheckIntervalMs: [1, DAY_MS],
  retentionStepCoordinates: [1, 100_000],
  fileDeletionIntervalMs: [1, DAY_MS],
  fileDeletionGraceMs: [0, 365 * DAY_MS],
  fileDeletionStepFiles: [1, 100_000],
  orphanSearchIntervalMs: [1, INT32_MAX],
  orphanGraceMs: [1, 365 * DAY_MS],
  tombstoneRetentionMs: [MIN_TOMBSTONE_AGE_MS, 365 * DAY_MS],
};

/** Defaults filled in, checked. @throws ApiError INVALID_CONFIG that names the setting and its range */
export function engineSettings(given: Partial<EngineSettings> = {}): EngineSettings {
  for (const name of Object.keys(given)) {
    if (!(name in defaultEngineSettings)) throw new ApiError('INVALID_CONFIG', `there is no engine setting "${name}"`);
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  const settings: EngineSettings = { ...defaultEngineSettings, ...Object.fromEntries(set) };
  for (const [name, [min, max]] of Object.entries(ranges)) {
    checkRange(name, settings[name as keyof EngineSettings], min, max);
  }
  checkTogether(settings);
  fetchSettings(settings);
  return Object.freeze(settings);
}

function checkRange(name: string, value: unknown, min: number, max: number): void {
  if (value === undefined) return;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw new ApiError('INVALID_CONFIG', `${name} is ${String(value)}; an integer from ${min} to ${max} is needed`);
  }
}

function checkTogether(settings: EngineSettings): void {
  const { objectKeyPrefix, produceBufferMaxBytes, produceMemoryBytes, retryBackoffMs, retryBackoffMaxMs } = settings;
  if (!isObjectKey(objectKeyPrefix) || objectKeyPrefix.length > 400) {
    throw new ApiError(
      'INVALID_CONFIG',
      `objectKeyPrefix ${JSON.stringify(objectKeyPrefix)} cannot begin an object key`,
    );
  }
  if (produceMemoryBytes < 2 * produceBufferMaxBytes) {
    throw new ApiError(
      'INVALID_CONFIG',
      `produceMemoryBytes ${produceMemoryBytes} must be at least twice produceBufferMaxBytes ${produceBufferMaxBytes}`,
    );
  }
  // A younger object may be about to be committed; giving its key up would only make that commit fail.
  const slowestMs = settings.produceUploadDeadlineMs + settings.produceCommitDeadlineMs;
  if (settings.orphanGraceMs < slowestMs) {
    const deadlines = 'produceUploadDeadlineMs and produceCommitDeadlineMs together';
    throw new ApiError(
      'INVALID_CONFIG',
      `orphanGraceMs ${settings.orphanGraceMs} is below ${deadlines} (${slowestMs})`,
    );
  }
  if (retryBackoffMaxMs < retryBackoffMs) {
    throw new ApiError(
      'INVALID_CONFIG',
      `retryBackoffMaxMs ${retryBackoffMaxMs} is below retryBackoffMs ${retryBackoffMs}`,
    );
  }
}
