/** The kernel's status codes as Kafka answers them: an error and a sentence that a producer can act on. Pure. */
import type { ErrorName } from '../common/errors.ts';
import * as status from './kernel-layout.ts';

/** status → [error, sentence]. Texts name the input's fault; the caller adds sizes and limits. */
const VERDICTS: Readonly<Record<number, readonly [ErrorName, string]>> = {
  [status.NO_BATCH]: ['INVALID_RECORD', 'the records hold no complete record batch'],
  [status.LENGTH_BELOW_V0]: ['CORRUPT_MESSAGE', 'the batch length is below the smallest any version has (14)'],
  [status.UNKNOWN_MAGIC]: ['CORRUPT_MESSAGE', 'the magic byte is none of 0, 1 and 2'],
  [status.BATCH_BEYOND_END]: ['INVALID_RECORD', 'the batch length goes beyond the bytes that were sent'],
  [status.OLD_MAGIC]: ['INVALID_RECORD', 'the batch has magic 0 or 1; only magic 2 is accepted'],
  [status.MORE_THAN_ONE_BATCH]: ['INVALID_RECORD', 'there is more than one record batch for the partition'],
  [status.BASE_OFFSET_NOT_ZERO]: ['INVALID_RECORD', 'the base offset of a produced batch must be 0'],
  [status.BATCH_TOO_LARGE]: ['MESSAGE_TOO_LARGE', 'the batch is larger than max.message.bytes'],
  [status.LENGTH_BELOW_HEADER]: ['CORRUPT_MESSAGE', 'the batch length is below that of a version 2 header (49)'],
  [status.CRC_MISMATCH]: ['CORRUPT_MESSAGE', 'the CRC-32C does not match the bytes'],
  [status.UNKNOWN_CODEC]: ['CORRUPT_MESSAGE', 'the compression codec is none of 0 to 4'],
  [status.LAST_OFFSET_DELTA_NEGATIVE]: ['INVALID_RECORD', 'the last offset delta is negative'],
  [status.RECORD_COUNT_NOT_POSITIVE]: ['INVALID_RECORD', 'the record count is not positive'],
  [status.COUNT_DELTA_MISMATCH]: ['INVALID_RECORD', 'the record count is not the last offset delta plus one'],
  [status.CONTROL_BATCH]: ['INVALID_RECORD', 'clients may not write control batches'],
  [status.PRODUCER_FIELD_NEGATIVE]: [
    'INVALID_RECORD',
    'the batch has a producer id but a negative epoch or base sequence',
  ],
  [status.RECORDS_MISSING]: ['INVALID_RECORD', 'there are fewer records than the record count says'],
  [status.BYTES_AFTER_RECORDS]: ['INVALID_RECORD', 'bytes are left after the last record'],
  [status.VARINT_TOO_LONG]: ['INVALID_RECORD', 'a variable-length integer is too long'],
  [status.RECORD_LENGTH_NEGATIVE]: ['INVALID_RECORD', 'the record length is negative'],
  [status.RECORD_BEYOND_END]: ['INVALID_RECORD', 'the record goes beyond the end of the batch'],
  [status.FIELD_BEYOND_RECORD]: ['INVALID_RECORD', 'a field goes beyond the end of its record'],
  [status.RECORD_LENGTH_MISMATCH]: ['INVALID_RECORD', 'the record is longer than its fields'],
  [status.HEADER_COUNT_NEGATIVE]: ['INVALID_RECORD', 'the header count is negative'],
  [status.HEADER_COUNT_TOO_LARGE]: ['INVALID_RECORD', 'the header count is more than the record can hold'],
  [status.HEADER_KEY_NULL]: ['INVALID_RECORD', 'a header key is null'],
  [status.OFFSET_DELTA_OUT_OF_ORDER]: ['INVALID_RECORD', "the record's offset delta is not its index"],
  [status.TIMESTAMP_OUT_OF_BOUNDS]: [
    'INVALID_TIMESTAMP',
    "the record's timestamp is outside message.timestamp.before.max.ms or message.timestamp.after.max.ms",
  ],
  [status.KEY_MISSING]: ['INVALID_RECORD', 'compacted topics need a key for every record'],
  [status.RUN_END_MISMATCH]: ['CORRUPT_MESSAGE', 'the batches do not end at the offset that their coordinate gives'],
};

/** @throws nothing; a status without a row would be a bug and reads as corrupt. */
export function verdictOf(code: number): { error: ErrorName; message: string } {
  const [error, message] = VERDICTS[code] ?? ['CORRUPT_MESSAGE', `the record kernel answered ${code}`];
  return { error, message };
}
