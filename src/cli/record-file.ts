/**
 * Reads a file of record batches one batch at a time: a shared log segment, a log of Kafka's, or bytes cut out of either.
 * Memory is that of the largest batch, or a window of the file where that is more. The caller closes the file.
 */
import type { FileHandle } from 'node:fs/promises';
import { crc32c, crc32cCombine, type RecordBatchReport, validateRecordBatches } from '../kernel.ts';
import {
  decodeSegmentFooter,
  footerSize,
  SEGMENT_TRAILER_BYTES,
  SegmentFormatError,
} from '../produce/segment-format.ts';
import { CliError } from './command.ts';

/** What comes before the bytes that a batch's length counts. */
const LOG_OVERHEAD = 12;
const LENGTH_AT = 8;
const MAGIC_AT = 16;
const HEADER_BYTES = 61;
/** The kernel takes larger ones, but no broker does. */
const MAX_BATCH_BYTES = 512 * 1024 * 1024;

/**
 * Where the batches lie in a file. A segment has a version byte before them and a footer behind; of a torn one, the footer
 * is missing or damaged, and the range goes to the end of the file.
 */
export interface BatchRange {
  readonly kind: 'batches' | 'segment' | 'torn segment';
  readonly position: number;
  readonly end: number;
}

export async function findBatchRange(file: FileHandle, fileBytes: number): Promise<BatchRange> {
  const footerBytes = await segmentFooterBytes(file, fileBytes);
  if (footerBytes !== undefined) return { kind: 'segment', position: 1, end: fileBytes - footerBytes };
  if (await beginsAsSegment(file, fileBytes)) return { kind: 'torn segment', position: 1, end: fileBytes };
  return { kind: 'batches', position: 0, end: fileBytes };
}

/** Whether a batch's header lies behind a version byte, and none does without one. */
async function beginsAsSegment(file: FileHandle, fileBytes: number): Promise<boolean> {
  if (fileBytes < 1 + HEADER_BYTES) return false;
  const start = await read(file, 0, 1 + HEADER_BYTES);
  const isHeader = (at: number): boolean =>
    start[at + MAGIC_AT] === 2 && start.readInt32BE(at + LENGTH_AT) >= HEADER_BYTES - LOG_OVERHEAD;
  return start[0] === 0 && isHeader(1) && !isHeader(0);
}

/** Undefined unless the file is a whole segment with a sound footer. */
async function segmentFooterBytes(file: FileHandle, fileBytes: number): Promise<number | undefined> {
  if (fileBytes <= SEGMENT_TRAILER_BYTES || (await read(file, 0, 1))[0] !== 0) return undefined;
  try {
    const size = footerSize(await read(file, fileBytes - SEGMENT_TRAILER_BYTES, SEGMENT_TRAILER_BYTES), fileBytes);
    decodeSegmentFooter(await read(file, fileBytes - size, size), fileBytes, { crc32c, crc32cCombine });
    return size;
  } catch (error) {
    if (error instanceof SegmentFormatError) return undefined;
    throw error;
  }
}

/** One report for each batch of the range; the last is about what is left when that begins no whole batch. */
export async function* readBatches(file: FileHandle, range: BatchRange): AsyncGenerator<RecordBatchReport> {
  const window = new FileWindow(file);
  for (let position = range.position; position < range.end; ) {
    const left = range.end - position;
    const frame = await window.read(position, Math.min(left, LOG_OVERHEAD));
    const claimed = frame.length < LOG_OVERHEAD ? left : frame.readInt32BE(LENGTH_AT) + LOG_OVERHEAD;
    const isWhole = claimed > LOG_OVERHEAD && claimed <= left;
    if (isWhole && claimed > MAX_BATCH_BYTES) {
      throw new CliError(`the batch at ${position} has ${claimed} bytes; up to ${MAX_BATCH_BYTES} can be read`);
    }
    // A frame that is cut or broken is judged by its header alone.
    const bytes = await window.read(position, isWhole ? claimed : Math.min(left, HEADER_BYTES));
    const report = validateRecordBatches(bytes)[0]!;
    const sizeBytes = isWhole ? claimed : left;
    yield { ...report, position, sizeBytes };
    position += sizeBytes;
  }
}

const WINDOW_BYTES = 1024 * 1024;

/** Reads ahead: a call to the file for each small batch would take longer than its check. */
class FileWindow {
  readonly #file: FileHandle;
  #position = 0;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** A view that is valid until the next call. */
  async read(position: number, size: number): Promise<Buffer> {
    const end = this.#position + this.#bytes.length;
    if (position < this.#position || position + size > end) {
      this.#bytes = await read(this.#file, position, size, Math.max(size, WINDOW_BYTES));
      this.#position = position;
    }
    const at = position - this.#position;
    return this.#bytes.subarray(at, at + size);
  }
}

/** At least `size` bytes, and up to `most` where the file has them. */
async function read(file: FileHandle, position: number, size: number, most = size): Promise<Buffer> {
  const bytes = Buffer.alloc(most);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(bytes, filled, most - filled, position + filled);
    if (bytesRead === 0) throw new CliError(`the file became shorter while it was read, at ${position + filled}`);
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}
