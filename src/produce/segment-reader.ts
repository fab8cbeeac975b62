/**
 * Reads what a stored segment says of itself, without the coordinator: for recovery and for people who look into a
 * bucket. Two small ranged GETs; main thread.
 */
import type { ObjectKey, ObjectStorage } from '../storage/object-storage.ts';
import { StorageError } from '../storage/object-storage.ts';
import { segmentChecksums } from './segment-checksums.ts';
import {
  decodeSegmentFooter,
  footerSize,
  SEGMENT_TRAILER_BYTES,
  type SegmentFooter,
  SegmentFormatError,
} from './segment-format.ts';

/**
 * The footer of a segment.
 * @throws StorageError `not-found`, or the storage's own; SegmentFormatError for an object that is no whole segment
 */
export async function readSegmentFooter(objectStorage: ObjectStorage, objectKey: ObjectKey): Promise<SegmentFooter> {
  const object = await objectStorage.head(objectKey);
  if (!object) throw new StorageError('not-found', `object ${objectKey} does not exist`);
  const { sizeBytes } = object;
  const last = (size: number): Promise<Uint8Array> =>
    objectStorage.getRange(objectKey, { position: sizeBytes - size, size });
  if (sizeBytes <= SEGMENT_TRAILER_BYTES) {
    throw new SegmentFormatError(`object ${objectKey} has ${sizeBytes} bytes, too few for a segment`);
  }
  const trailer = await last(SEGMENT_TRAILER_BYTES);
  return decodeSegmentFooter(await last(footerSize(trailer, sizeBytes)), sizeBytes, segmentChecksums());
}
