/** The objects that the in-memory coordinator knows, and how far each is in its life. */
import {
  type AbandonFileResult,
  type CommitFileRequest,
  type CommitFileResult,
  CoordinatorError,
  type FileDescription,
  type FileState,
} from '../diskless-coordinator.ts';

interface StoredFile {
  readonly objectKey: string;
  state: FileState;
  readonly sizeBytes: number;
  /** The commit's whole result; undefined for a key that was abandoned. */
  readonly result: CommitFileResult | undefined;
  readonly request: CommitFileRequest | undefined;
  readonly sinceMs: number;
  liveBytes: number;
  liveCoordinates: number;
  /** Since when the object is of no use; undefined while it is, and again once it is deleted. */
  uselessSinceMs: number | undefined;
  /** When it was noted that storage no longer has it. */
  deletedMs: number | undefined;
}

/** Whether a repeated commit is the same as the one whose row was found. */
function sameCommit(a: CommitFileRequest, b: CommitFileRequest): boolean {
  return (
    a.sizeBytes === b.sizeBytes &&
    a.batches.length === b.batches.length &&
    a.uploaderId === b.uploaderId &&
    a.uploaderEpoch === b.uploaderEpoch &&
    a.segmentSequence === b.segmentSequence
  );
}

export class InMemoryFiles {
  readonly #files = new Map<string, StoredFile>();

  /** The result of an earlier commit of the key. @throws CoordinatorError `abandoned`, `invalid` */
  earlierResult(request: CommitFileRequest): CommitFileResult | undefined {
    const file = this.#files.get(request.objectKey);
    if (!file) return undefined;
    if (!file.result) throw new CoordinatorError('abandoned', `object ${request.objectKey} was given up`);
    if (!sameCommit(file.request!, request)) {
      throw new CoordinatorError('invalid', `object ${request.objectKey} was committed before with other content`);
    }
    return file.result;
  }

  addCommitted(
    request: CommitFileRequest,
    result: CommitFileResult,
    live: { readonly bytes: number; readonly coordinates: number },
    nowMs: number,
  ): void {
    this.#files.set(request.objectKey, {
      objectKey: request.objectKey,
      state: live.coordinates > 0 ? 'uploaded' : 'deleting',
      sizeBytes: request.sizeBytes,
      result,
      request,
      sinceMs: nowMs,
      liveBytes: live.bytes,
      liveCoordinates: live.coordinates,
      uselessSinceMs: live.coordinates > 0 ? undefined : nowMs,
      deletedMs: undefined,
    });
  }

  abandon(objectKey: string, nowMs: number): AbandonFileResult {
    const file = this.#files.get(objectKey);
    if (file?.result) return { outcome: 'committed', ...file.result };
    if (!file) {
      this.#files.set(objectKey, {
        objectKey,
        state: 'abandoned',
        sizeBytes: 0,
        result: undefined,
        request: undefined,
        sinceMs: nowMs,
        liveBytes: 0,
        liveCoordinates: 0,
        uselessSinceMs: nowMs,
        deletedMs: undefined,
      });
    }
    return { outcome: 'abandoned' };
  }

  dropCoordinate(objectKey: string, size: number, nowMs: number): void {
    const file = this.#files.get(objectKey)!;
    file.liveBytes -= size;
    file.liveCoordinates -= 1;
    if (file.liveCoordinates > 0) return;
    file.state = 'deleting';
    file.uselessSinceMs = nowMs;
  }

  toDelete(uselessSinceMs: number, limit: number): string[] {
    return [...this.#files.values()]
      .filter((file) => file.uselessSinceMs !== undefined && file.uselessSinceMs <= uselessSinceMs)
      .sort((a, b) => a.uselessSinceMs! - b.uselessSinceMs!)
      .slice(0, limit)
      .map((file) => file.objectKey);
  }

  markDeleted(objectKeys: readonly string[], nowMs: number): void {
    const files = objectKeys.map((key) => this.#files.get(key)).filter((file) => file !== undefined);
    const referenced = files.find((file) => file.state === 'uploaded');
    if (referenced)
      throw new CoordinatorError('invalid', `object ${referenced.objectKey} is referenced by coordinates`);
    for (const file of files) {
      if (file.state === 'deleting') file.state = 'deleted';
      file.uselessSinceMs = undefined;
      file.deletedMs = nowMs;
    }
  }

  forget(deletedMs: number, limit: number): number {
    const forgotten = [...this.#files.values()]
      .filter((file) => file.deletedMs !== undefined && file.deletedMs <= deletedMs)
      .sort((a, b) => a.deletedMs! - b.deletedMs!)
      .slice(0, limit);
    for (const { objectKey } of forgotten) this.#files.delete(objectKey);
    return forgotten.length;
  }

  describe(objectKey: string): FileDescription | undefined {
    const file = this.#files.get(objectKey);
    if (!file) return undefined;
    const { state, sizeBytes, liveBytes, sinceMs } = file;
    return { objectKey, state, sizeBytes, liveBytes, sinceMs };
  }
}
