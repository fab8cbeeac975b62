/**
 * What the kernel's decompressors answer instead of a size: the one list that both sides of the boundary compile.
 * wasm/assembly imports this file as AssemblyScript, so it holds nothing but integer constants, all negative.
 */
/** The stream ends inside a header, a block or a sequence. */
export const TRUNCATED = -1;
/** The plain bytes do not fit into the destination, whose size is the caller's limit. */
export const OUTPUT_LIMIT = -2;
export const BAD_MAGIC = -3;
/** A version, flag or reserved bit that the format does not have. */
export const BAD_HEADER = -4;
export const BAD_HEADER_CHECKSUM = -5;
export const BAD_BLOCK_CHECKSUM = -6;
/** LZ4 blocks that refer to earlier blocks: Kafka's clients cannot read them. */
export const LINKED_BLOCKS = -7;
export const NEEDS_DICTIONARY = -8;
/** A block above what its frame declares, compressed or plain. */
export const BLOCK_TOO_LARGE = -9;
/** A match that begins before the first byte it may refer to. */
export const BAD_DISTANCE = -10;
export const WINDOW_TOO_LARGE = -11;
/** The plain bytes are more or fewer than the stream claims. */
export const SIZE_MISMATCH = -12;
/** A Huffman or FSE table that is over-subscribed, incomplete or out of range. */
export const BAD_TABLE = -13;
export const BAD_CONTENT_CHECKSUM = -14;
export const BAD_BLOCK_TYPE = -15;
/** A bit stream that is not used up exactly. */
export const BAD_BITSTREAM = -16;
/** A symbol without a meaning. */
export const BAD_SYMBOL = -17;
/** An LZ4 block without plain bytes, which Kafka's clients take for the end of the frame. */
export const EMPTY_BLOCK = -18;
