/**
 * The record kernel's memory map, status codes and result fields: the one list that both sides of the boundary compile.
 * wasm/assembly imports this file as AssemblyScript, so it holds nothing but integer constants.
 *
 * One linear memory, shared by every thread:
 *
 *   0       static data of the module (empty in release builds; assertion texts in debug builds, copied again by every
 *           instance with the same content)
 *   TABLES  lookup tables, written once before a second instance exists, read-only ever after
 *   CLAIMS  one row per region: which thread owns it and what it is doing (worker/region-claims.ts)
 *   REGIONS one private region per kernel instance; the kernel has no allocator and no mutable statics, so two threads
 *           never write the same byte
 *   then the slabs that record bytes live in
 */

export const PAGE_BYTES = 65536;

// Lookup tables.
export const TABLES = 65536;
/** Slicing-by-16: 16 tables of 256 u32. */
export const SLICING = 65536;
/** x^(8·v·256^j) mod P for j = 0…3, v = 0…255: 4 tables of 256 u32, to move a CRC over any number of zero bytes. */
export const SHIFTS = 81920;
export const CLAIMS = 98304;
export const CLAIM_BYTES = 64;
export const REGIONS = 131072;

// Offsets inside a region.
/** What an export has to say beyond its status; fields below. */
export const RESULT = 0;
/** Residuals of the CRC folds. */
export const FOLD = 1024;
/** The longest fold's sliding window; two histories of 5,280 bytes lie behind it. */
export const FOLD_WINDOW = 16384;
export const FOLD_WINDOW_BYTES = 24576;
/** Batch descriptors of a walk. */
export const DESCRIPTORS = 131072;
export const DESCRIPTOR_BYTES = 96;
export const DESCRIPTORS_MAX = 1024;
/** Index and status, i32 each, of every record that is bad by itself: in the descriptors' room, as nobody needs both. */
export const BAD_RECORDS = 131072;
export const BAD_RECORD_BYTES = 8;
export const BAD_RECORDS_MAX = 256;
/** Tables and literals of the decompressors; wasm/assembly lays them out. */
export const DECOMPRESSION = 262144;
export const DECOMPRESSION_BYTES = 196608;
/** Room for the plain bytes of a compressed batch; its size is the pool's setting. */
export const CONTENT = 458752;

// Fields of RESULT, byte offsets. Integers are little-endian, as wasm stores them.
export const RESULT_RECORD_INDEX = 0;
export const RESULT_MAX_TIMESTAMP = 8;
export const RESULT_MAX_TIMESTAMP_DELTA = 16;
/** 1 when inner offset deltas are not 0, 1, 2, … */
export const RESULT_RENUMBER = 20;
/** Size in bytes that the records take with offset deltas 0, 1, 2, … */
export const RESULT_RENUMBERED_BYTES = 24;
export const RESULT_GOOD_BYTES = 32;
export const RESULT_BATCHES = 36;
export const RESULT_NEXT_OFFSET = 40;
export const RESULT_OFFSET = 48;
export const RESULT_TIMESTAMP = 56;
/** Records seen before the verdict. */
export const RESULT_RECORDS = 64;
/** What the batch's own bytes give as CRC-32C. */
export const RESULT_CRC = 68;

// Fields of a batch descriptor, byte offsets. Positions count from the start of the walked range.
export const DESCRIPTOR_BASE_OFFSET = 0;
export const DESCRIPTOR_BASE_TIMESTAMP = 8;
export const DESCRIPTOR_MAX_TIMESTAMP = 16;
export const DESCRIPTOR_PRODUCER_ID = 24;
export const DESCRIPTOR_POSITION = 32;
export const DESCRIPTOR_SIZE = 36;
export const DESCRIPTOR_LEADER_EPOCH = 40;
export const DESCRIPTOR_MAGIC = 44;
export const DESCRIPTOR_CRC = 48;
export const DESCRIPTOR_ATTRIBUTES = 52;
export const DESCRIPTOR_LAST_OFFSET_DELTA = 56;
export const DESCRIPTOR_PRODUCER_EPOCH = 60;
export const DESCRIPTOR_BASE_SEQUENCE = 64;
export const DESCRIPTOR_RECORD_COUNT = 68;
export const DESCRIPTOR_STATUS = 72;

// Byte offsets inside a v2 record batch (big-endian).
export const BASE_OFFSET = 0;
export const BATCH_LENGTH = 8;
export const LEADER_EPOCH = 12;
export const MAGIC = 16;
export const CRC = 17;
export const ATTRIBUTES = 21;
export const LAST_OFFSET_DELTA = 23;
export const BASE_TIMESTAMP = 27;
export const MAX_TIMESTAMP = 35;
export const PRODUCER_ID = 43;
export const PRODUCER_EPOCH = 51;
export const BASE_SEQUENCE = 53;
export const RECORD_COUNT = 57;
export const RECORDS = 61;
/** Base offset and batch length: what precedes the bytes that `batchLength` counts. */
export const LOG_OVERHEAD = 12;
/** The smallest `batchLength` of any magic, which a v0 record of its header alone has. */
export const SMALLEST_V0_LENGTH = 14;

// Attributes.
export const CODEC_MASK = 7;
export const TIMESTAMP_TYPE_BIT = 8;
export const TRANSACTIONAL_BIT = 16;
export const CONTROL_BIT = 32;
/** The bits that have a meaning; Kafka drops the others whenever it rewrites attributes. */
export const KNOWN_ATTRIBUTES = 127;

// What checkBatch is to let pass.
export const ANY_BASE_OFFSET = 1;

// What checkRecords is to do, or-ed.
export const KEYS_REQUIRED = 1;
export const CHECK_TIMESTAMPS = 2;
/** Inner offset deltas other than 0, 1, 2, … are noted instead of refused. */
export const MAY_RENUMBER = 4;

// Status codes. Every one but OK ends as an error code and a sentence in src/record/verdict.ts.
export const OK = 0;
export const NO_BATCH = 1;
export const LENGTH_BELOW_V0 = 2;
export const UNKNOWN_MAGIC = 3;
export const BATCH_BEYOND_END = 4;
export const OLD_MAGIC = 5;
export const MORE_THAN_ONE_BATCH = 6;
export const BASE_OFFSET_NOT_ZERO = 7;
export const BATCH_TOO_LARGE = 8;
export const LENGTH_BELOW_HEADER = 9;
export const CRC_MISMATCH = 10;
export const UNKNOWN_CODEC = 11;
export const LAST_OFFSET_DELTA_NEGATIVE = 12;
export const RECORD_COUNT_NOT_POSITIVE = 13;
export const COUNT_DELTA_MISMATCH = 14;
export const CONTROL_BATCH = 15;
export const PRODUCER_FIELD_NEGATIVE = 16;
export const RECORDS_MISSING = 17;
export const BYTES_AFTER_RECORDS = 18;
export const VARINT_TOO_LONG = 19;
export const RECORD_LENGTH_NEGATIVE = 20;
export const RECORD_BEYOND_END = 21;
export const FIELD_BEYOND_RECORD = 22;
export const RECORD_LENGTH_MISMATCH = 23;
export const HEADER_COUNT_NEGATIVE = 24;
export const HEADER_COUNT_TOO_LARGE = 25;
export const HEADER_KEY_NULL = 26;
export const OFFSET_DELTA_OUT_OF_ORDER = 27;
export const TIMESTAMP_OUT_OF_BOUNDS = 28;
export const KEY_MISSING = 29;
export const RUN_END_MISMATCH = 30;
/** offsetForTimestamp: no record of the batch is that late. */
export const NOT_FOUND = 32;
