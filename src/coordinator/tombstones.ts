/**
 * How long tombstones are kept, and why that is long enough.
 *
 * A tombstone (the row of an object that was given up or is deleted) refuses or answers a commit that comes late: from a
 * process that was stopped between PUT and commit, or that repeats a commit whose answer it lost. Without the row such a
 * commit would look new, and coordinates would refer to an object that is gone. So before a tombstone is forgotten, every
 * commit that it might be needed for must be refused for another reason: its age. A segment's request carries when the
 * segment was made, before its PUT. An object is made before it is given up or committed, and that before it is deleted; a
 * commit that comes when the tombstone is forgotten therefore belongs to a segment made more than the tombstone's age ago,
 * and segments of `MAX_SEGMENT_AGE_MS` are refused. No engine holds one for so long: its deadlines are minutes.
 *
 * The age is by two clocks, the uploader's and the coordinator's. An uploader whose clock is behind has younger segments
 * refused, to be seen at once and told so; one whose clock is ahead has older ones accepted, which does no harm as long as
 * the clocks are less than the difference between the two times below apart: days.
 */
import { type CommitFileRequest, CoordinatorError } from './diskless-coordinator.ts';

const HOUR_MS = 3_600_000;

/** A segment that was made so long ago is no longer committed. */
export const MAX_SEGMENT_AGE_MS = 24 * HOUR_MS;

/** The least age at which tombstones may be forgotten. */
export const MIN_TOMBSTONE_AGE_MS = 72 * HOUR_MS;

/** Whether a segment is so old that only what is known of its key answers a commit. */
export function isOldSegment({ createdMs }: CommitFileRequest, nowMs: number): boolean {
  return nowMs - createdMs >= MAX_SEGMENT_AGE_MS;
}

/** The answer `abandoned` to an old segment of a key that is not known. */
export function tooOld(objectKey: string): CoordinatorError {
  return new CoordinatorError(
    'abandoned',
    `object ${objectKey} was made more than ${MAX_SEGMENT_AGE_MS / HOUR_MS} hours ago by its uploader's clock and counts as given up; see that the clocks agree`,
  );
}

/** @throws CoordinatorError `invalid` */
export function validateTombstoneAge(olderThanMs: number): void {
  if (olderThanMs >= MIN_TOMBSTONE_AGE_MS) return;
  throw new CoordinatorError(
    'invalid',
    `tombstones are kept for at least ${MIN_TOMBSTONE_AGE_MS / HOUR_MS} hours, not ${olderThanMs / HOUR_MS}`,
  );
}
