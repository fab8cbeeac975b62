/**
 * Decompression of a batch's records inside the kernel's memory: from where the payload lies to where the validator reads
 * the plain bytes, with no copy between. Synchronous; runs on whichever thread calls it, on that thread's kernel instance
 * and scratch. Nothing is allocated, so there is nothing to close.
 */
import type { ErrorName } from '../../common/errors.ts';
import type { CompressionCodec } from '../validation.ts';
import { type DecompressionLimits, maxPlainBytes } from './decompression-limits.ts';
import * as status from './decompression-status.ts';

/** The kernel's decompressors (wasm/assembly/decompression.ts). Addresses are bytes in its memory, ends exclusive. */
export interface DecompressionExports {
  gunzip(source: number, sourceEnd: number, target: number, targetEnd: number, scratch: number): number;
  snappyDecode(source: number, sourceEnd: number, target: number, targetEnd: number): number;
  lz4DecodeFrame(source: number, sourceEnd: number, target: number, targetEnd: number): number;
  zstdDecode(
    source: number,
    sourceEnd: number,
    target: number,
    targetEnd: number,
    scratch: number,
    maxWindowBytes: number,
  ): number;
}

/** A range of the kernel's memory, bytes. */
export interface MemoryRange {
  readonly address: number;
  readonly size: number;
}

/**
 * Decompresses `payload` to the start of `target` and returns the plain bytes' number, or a negative status of
 * decompression-status.ts. Writes nothing outside `target`, and no more than the limits allow; `scratch` is the address
 * of the DECOMPRESSION_BYTES that belong to the calling thread alone.
 */
export function decompress(
  kernel: DecompressionExports,
  codec: Exclude<CompressionCodec, 'none'>,
  payload: MemoryRange,
  target: MemoryRange,
  scratch: number,
  limits: DecompressionLimits,
): number {
  const from = payload.address;
  const end = from + payload.size;
  const to = target.address;
  const toEnd = to + Math.min(target.size, maxPlainBytes(payload.size, limits));
  switch (codec) {
    case 'gzip':
      return kernel.gunzip(from, end, to, toEnd, scratch);
    case 'snappy':
      return kernel.snappyDecode(from, end, to, toEnd);
    case 'lz4':
      return kernel.lz4DecodeFrame(from, end, to, toEnd);
    case 'zstd':
      return kernel.zstdDecode(from, end, to, toEnd, scratch, limits.maxWindowBytes);
  }
}

/** What is wrong with a payload, as Kafka answers it. */
export interface DecompressionFault {
  readonly error: ErrorName;
  readonly message: string;
}

const SENTENCES: Readonly<Record<number, string>> = {
  [status.TRUNCATED]: 'the stream is cut off',
  [status.BAD_MAGIC]: 'the stream does not begin with the magic number of its format',
  [status.BAD_HEADER]: 'the stream has a version, flag or reserved bit that its format does not have',
  [status.BAD_HEADER_CHECKSUM]: 'the checksum of the stream header is wrong',
  [status.BAD_BLOCK_CHECKSUM]: 'the checksum of a block is wrong',
  [status.LINKED_BLOCKS]: 'the blocks depend on each other; Kafka clients read independent blocks only',
  [status.NEEDS_DICTIONARY]: 'the stream needs a dictionary',
  [status.BLOCK_TOO_LARGE]: 'a block is larger than its stream allows',
  [status.BAD_DISTANCE]: 'a match begins before the start of the data',
  [status.SIZE_MISMATCH]: 'the plain bytes are not as many as the stream claims',
  [status.BAD_TABLE]: 'a code table is malformed',
  [status.BAD_CONTENT_CHECKSUM]: 'the checksum of the plain bytes is wrong',
  [status.BAD_BLOCK_TYPE]: 'a block has a type that its format does not have',
  [status.BAD_BITSTREAM]: 'a bit stream is malformed',
  [status.BAD_SYMBOL]: 'a code stands for no symbol',
  [status.EMPTY_BLOCK]: 'a block is empty; Kafka clients read nothing after it',
};

/**
 * The error for a negative status. Too many plain bytes is MESSAGE_TOO_LARGE, to which producers answer by splitting the
 * batch; all else is CORRUPT_MESSAGE.
 */
export function decompressionFault(
  code: number,
  codec: CompressionCodec,
  payloadBytes: number,
  limits: DecompressionLimits,
): DecompressionFault {
  if (code === status.OUTPUT_LIMIT) {
    const limit = maxPlainBytes(payloadBytes, limits);
    return {
      error: 'MESSAGE_TOO_LARGE',
      message:
        `the ${payloadBytes} bytes of ${codec} records decompress to more than ${limit} bytes, the limit for their ` +
        'size; send smaller batches',
    };
  }
  if (code === status.WINDOW_TOO_LARGE) {
    const message = `the zstd frame asks for a window above ${limits.maxWindowBytes} bytes; lower the window log`;
    return { error: 'CORRUPT_MESSAGE', message };
  }
  const sentence = SENTENCES[code] ?? `the decompressor answered ${code}`;
  return { error: 'CORRUPT_MESSAGE', message: `the ${codec} records cannot be decompressed: ${sentence}` };
}
