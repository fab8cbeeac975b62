/**
 * How much a compressed batch may become. Checked before the memory is taken, since everything in the payload, its claimed
 * sizes included, may be hostile. Pure.
 */

export interface DecompressionLimits {
  /** Plain bytes of one batch, in any case. */
  readonly maxOutputBytes: number;
  /** Plain bytes for each compressed byte, above `unratedBytes`. */
  readonly maxRatio: number;
  /** Plain bytes that pass whatever their ratio: a short payload of zeros is no bomb. */
  readonly unratedBytes: number;
  /** Window that a zstd frame may ask its readers for. */
  readonly maxWindowBytes: number;
}

/** Java's clients read no larger window (zstd's own default of 27 bits). */
const LARGEST_ZSTD_WINDOW_BYTES = 2 ** 27;

/**
 * The limits for a topic whose batches may have `maxMessageBytes`. Java's producer closes a batch by its estimated
 * compressed size, so very repetitive records become many times `max.message.bytes`, honestly; a batch that could have
 * been sent uncompressed passes at any ratio.
 */
export function decompressionLimits(maxMessageBytes: number): DecompressionLimits {
  return {
    maxOutputBytes: 16 * maxMessageBytes,
    maxRatio: 1024,
    unratedBytes: maxMessageBytes,
    maxWindowBytes: LARGEST_ZSTD_WINDOW_BYTES,
  };
}

/** The most plain bytes that a payload of `payloadBytes` may become. */
export function maxPlainBytes(payloadBytes: number, limits: DecompressionLimits): number {
  const rated = Math.max(payloadBytes * limits.maxRatio, limits.unratedBytes);
  return Math.min(rated, limits.maxOutputBytes);
}
