/**
 * What an engine does in the background for the whole cluster: retention, deletion of objects that nothing refers to any
 * more, and the search for orphans (objects whose PUT succeeded and whose commit never came). Every broker may do it at
 * the same time; the coordinator decides. Main thread; `openEngine` constructs and closes it.
 *
 * Order that keeps data safe, whatever dies in between:
 * - An object is deleted from storage only after the coordinator has had no coordinate for it for the grace. Storage goes
 *   first, then the row: a crash in between leaves a row whose object is deleted again, to no effect.
 * - An orphan is abandoned first, so that no late commit can refer to it, and removed by the same path after the grace.
 * - A PUT that was under way while its key was given up may land later: the next search finds the object beside its
 *   tombstone and removes it.
 */
import type { Logger } from '../common/logger.ts';
import type { Random } from '../common/random.ts';
import type { Time } from '../common/time.ts';
import type { CoordinatorChange, DisklessCoordinator, FileDescription } from '../coordinator/diskless-coordinator.ts';
import type { ObjectKey, ObjectStorage, ObjectSummary } from '../storage/object-storage.ts';
import { PeriodicJob } from './periodic-job.ts';

export interface MaintenanceSettings {
  /** Pause between two passes of retention; Kafka's `log.retention.check.interval.ms`. @default 30,000 */
  readonly retentionCheckIntervalMs: number;
  /** Coordinates that one step of retention drops at most. @default 2,000 */
  readonly retentionStepCoordinates: number;
  /** Pause between two passes of deletion. @default 15,000 */
  readonly fileDeletionIntervalMs: number;
  /**
   * How long an object outlives its last coordinate, for fetches that have located it already: at least twice the longest
   * fetch. @default 120,000
   */
  readonly fileDeletionGraceMs: number;
  /** Objects that one step of deletion takes. @default 1,000, as many as S3 deletes in one request */
  readonly fileDeletionStepFiles: number;
  /** Pause between two searches for orphans; each lists the bucket. @default 3,600,000 */
  readonly orphanSearchIntervalMs: number;
  /** How old an unknown object must be to count as an orphan; beyond any upload and commit deadline. @default 3,600,000 */
  readonly orphanGraceMs: number;
  /** How long it is remembered that an object was given up or deleted, at least three days. @default 7 days */
  readonly tombstoneRetentionMs: number;
}

export const defaultMaintenanceSettings: MaintenanceSettings = Object.freeze({
  retentionCheckIntervalMs: 30_000,
  retentionStepCoordinates: 2_000,
  fileDeletionIntervalMs: 15_000,
  fileDeletionGraceMs: 120_000,
  fileDeletionStepFiles: 1_000,
  orphanSearchIntervalMs: 3_600_000,
  orphanGraceMs: 3_600_000,
  tombstoneRetentionMs: 7 * 86_400_000,
});

export interface MaintenanceOptions {
  readonly coordinator: DisklessCoordinator;
  readonly objectStorage: ObjectStorage;
  /** Only objects below `<prefix>/` are looked at. */
  readonly objectKeyPrefix: string;
  readonly time: Time;
  readonly random?: Random;
  readonly logger: Logger;
  readonly settings?: Partial<MaintenanceSettings>;
}

/** Counts since the start. */
export interface MaintenanceStats {
  readonly coordinatesDeleted: number;
  readonly bytesDeleted: number;
  readonly filesDeleted: number;
  /** Deletions that storage refused; each is tried again. */
  readonly deletionsFailed: number;
  readonly orphansAbandoned: number;
  /** Objects that appeared after their key was given up. */
  readonly lateObjectsDeleted: number;
  readonly orphanSearches: number;
  readonly tombstonesForgotten: number;
}

const ABANDONS_AT_ONCE = 16;
/** Objects looked at in one step of the search for orphans. */
const SEARCH_STEP_OBJECTS = 1_000;
const RETRY_DELETION_MS = 5_000;
/** Keys remembered as refused by storage, so that they cannot hold up the rest. */
const MAX_REFUSED = 10_000;

export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly #settings: MaintenanceSettings;
  readonly #jobs: readonly PeriodicJob[];
  readonly #retention: PeriodicJob;
  #unsubscribe: (() => void) | undefined;
  /** Keys whose deletion storage refused, and when to try again. */
  readonly #refused = new Map<ObjectKey, number>();
  /** Where the search for orphans goes on; undefined: at the beginning. */
  #searchAfter: ObjectKey | undefined;
  readonly #counts = {
    coordinatesDeleted: 0,
    bytesDeleted: 0,
    filesDeleted: 0,
    deletionsFailed: 0,
    orphansAbandoned: 0,
    lateObjectsDeleted: 0,
    orphanSearches: 0,
    tombstonesForgotten: 0,
  };

  constructor(options: MaintenanceOptions) {
    this.#options = options;
    this.#settings = { ...defaultMaintenanceSettings, ...options.settings };
    const settings = this.#settings;
    this.#retention = this.#job('retention', settings.retentionCheckIntervalMs, () => this.retentionStep());
    this.#jobs = [
      this.#retention,
      this.#job('deletion of unused objects', settings.fileDeletionIntervalMs, () => this.deletionStep()),
      this.#job('search for orphans', settings.orphanSearchIntervalMs, () => this.orphanStep()),
      this.#job('forgetting of tombstones', settings.orphanSearchIntervalMs, () => this.forgetStep()),
    ];
  }

  #job(name: string, intervalMs: number, step: () => Promise<boolean>): PeriodicJob {
    const { time, random, logger } = this.#options;
    return new PeriodicJob({ name, intervalMs, step, time, logger, ...(random ? { random } : {}) });
  }

  start(): void {
    for (const job of this.#jobs) job.start();
    this.#unsubscribe = this.#options.coordinator.onChange((change) => this.#onChange(change));
  }

  stats(): MaintenanceStats {
    return { ...this.#counts };
  }

  async close(): Promise<void> {
    this.#unsubscribe?.();
    await Promise.all(this.#jobs.map((job) => job.close()));
  }

  /** Deleted records and topics leave coordinates to drop. Retention's own steps end in one more, which finds nothing. */
  #onChange({ kind }: CoordinatorChange): void {
    if (kind === 'log-start' || kind === 'topics') this.#retention.wake();
  }

  /** Drops coordinates that are due; true when there are more. */
  async retentionStep(): Promise<boolean> {
    const { coordinatesDeleted, bytesDeleted, more } = await this.#options.coordinator.enforceRetention({
      maxCoordinates: this.#settings.retentionStepCoordinates,
    });
    this.#counts.coordinatesDeleted += coordinatesDeleted;
    this.#counts.bytesDeleted += bytesDeleted;
    return more;
  }

  /** Deletes objects that nothing has referred to for the grace; true when there may be more. */
  async deletionStep(): Promise<boolean> {
    const { coordinator, time } = this.#options;
    const { fileDeletionGraceMs, fileDeletionStepFiles } = this.#settings;
    const limit = fileDeletionStepFiles + this.#refused.size;
    const keys = await coordinator.filesToDelete({ graceMs: fileDeletionGraceMs, limit });
    this.#forgetRefused(keys);
    const nowMs = time.nowMs();
    const due = keys.filter((key) => (this.#refused.get(key) ?? 0) <= nowMs).slice(0, fileDeletionStepFiles);
    if (due.length === 0) return false;
    const deleted = await this.#deleteObjects(due);
    this.#counts.filesDeleted += deleted.length;
    return deleted.length > 0 && keys.length === limit;
  }

  /** What was refused here may be deleted by another broker; the oldest come first, so whatever does not come is gone. */
  #forgetRefused(keys: readonly ObjectKey[]): void {
    if (this.#refused.size === 0) return;
    const left = new Set(keys);
    for (const key of this.#refused.keys()) if (!left.has(key)) this.#refused.delete(key);
  }

  /** Storage first, then the rows of those that are confirmed gone. */
  async #deleteObjects(keys: readonly ObjectKey[]): Promise<readonly ObjectKey[]> {
    const { objectStorage, coordinator, time, logger } = this.#options;
    const { deleted, failed } = await objectStorage.delete(keys);
    await coordinator.deleteFiles(deleted);
    for (const key of deleted) this.#refused.delete(key);
    if (failed.length === 0) return deleted;
    this.#counts.deletionsFailed += failed.length;
    const { error } = failed[0]!;
    logger.warn(
      { objects: failed.length, error: String(error) },
      'storage refused to delete objects; they will be tried again',
    );
    for (const { key } of failed) {
      if (this.#refused.size < MAX_REFUSED) this.#refused.set(key, time.nowMs() + RETRY_DELETION_MS);
    }
    return deleted;
  }

  /** Looks at the next objects of the bucket; true until all of them have been looked at. */
  async orphanStep(): Promise<boolean> {
    const { coordinator, time } = this.#options;
    const objects = await this.#nextObjects();
    const oldEnough = time.nowMs() - this.#settings.orphanGraceMs;
    const old = objects.filter(({ lastModifiedMs }) => lastModifiedMs <= oldEnough).map(({ key }) => key);
    const described = await coordinator.describeFiles(old);
    await this.#abandon(old.filter((_, index) => described[index] === undefined));
    await this.#deleteLate(described.filter((file) => file !== undefined && isLate(file, oldEnough)));
    this.#searchAfter = objects.length < SEARCH_STEP_OBJECTS ? undefined : objects.at(-1)!.key;
    if (this.#searchAfter === undefined) this.#counts.orphanSearches += 1;
    return this.#searchAfter !== undefined;
  }

  /** Forgets some tombstones that no late commit can need any more; true when there may be more. */
  async forgetStep(): Promise<boolean> {
    const { tombstoneRetentionMs, fileDeletionStepFiles } = this.#settings;
    const forgotten = await this.#options.coordinator.forgetFiles({
      olderThanMs: tombstoneRetentionMs,
      limit: fileDeletionStepFiles,
    });
    this.#counts.tombstonesForgotten += forgotten;
    return forgotten === fileDeletionStepFiles;
  }

  async #nextObjects(): Promise<ObjectSummary[]> {
    const { objectStorage, objectKeyPrefix } = this.#options;
    const objects: ObjectSummary[] = [];
    const after = this.#searchAfter === undefined ? {} : { after: this.#searchAfter };
    for await (const object of objectStorage.list({ prefix: `${objectKeyPrefix}/`, ...after })) {
      objects.push(object);
      if (objects.length === SEARCH_STEP_OBJECTS) break;
    }
    return objects;
  }

  /** From here on no commit of these keys can succeed; deletion takes them after its grace. */
  async #abandon(keys: readonly ObjectKey[]): Promise<void> {
    const { coordinator, logger } = this.#options;
    for (let i = 0; i < keys.length; i += ABANDONS_AT_ONCE) {
      const outcomes = await Promise.all(
        keys.slice(i, i + ABANDONS_AT_ONCE).map((key) => coordinator.abandonFile(key)),
      );
      this.#counts.orphansAbandoned += outcomes.filter(({ outcome }) => outcome === 'abandoned').length;
    }
    if (keys.length > 0) logger.info({ objects: keys.length }, 'gave up objects that were never committed');
  }

  async #deleteLate(files: readonly (FileDescription | undefined)[]): Promise<void> {
    if (files.length === 0) return;
    const deleted = await this.#deleteObjects(files.map((file) => file!.objectKey));
    this.#counts.lateObjectsDeleted += deleted.length;
  }
}

/** An object that exists although its row says that it was removed or given up long ago. */
function isLate({ state, sinceMs }: FileDescription, oldEnoughMs: number): boolean {
  return (state === 'deleted' || state === 'abandoned') && sinceMs <= oldEnoughMs;
}
