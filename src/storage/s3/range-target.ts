/** Checking the head of a ranged GET's answer before a byte of its body is taken. */
import { type ByteRange, endOf } from '../../common/byte-range.ts';
import { StorageError } from '../object-storage.ts';
import type { AttemptRequest, ResponseHead } from './http-attempt.ts';

/**
 * The target of a ranged GET: `into`, or an array allocated once the store has promised exactly the range.
 * Answers other than 2xx have none and are read as error documents.
 */
export function rangeTarget(
  range: ByteRange,
  into: Uint8Array | undefined,
  what: string,
): NonNullable<AttemptRequest['target']> {
  return (head) => {
    if (head.status < 200 || head.status >= 300) return undefined;
    checkHead(head, range, what);
    return into ?? new Uint8Array(Buffer.allocUnsafeSlow(range.size).buffer);
  };
}

function checkHead({ status, headers }: ResponseHead, range: ByteRange, what: string): void {
  if (status !== 206) {
    throw new StorageError('corrupt', `${what}: the store answered ${status} where 206 with a range was asked for`);
  }
  const text = headers['content-range'] ?? '';
  const match = /^bytes (\d{1,16})-(\d{1,16})\/(\d{1,16}|\*)$/.exec(text);
  const [first, last, total] = match ? [match[1], match[2], match[3]].map(Number) : [];
  const askedLast = endOf(range) - 1;
  // A store may cut the range to the object's end: that is the answer "too short", in other words.
  if (first === range.position && last! < askedLast && last === total! - 1) {
    throw new StorageError(
      'range-not-satisfiable',
      `${what}: it has ${total} bytes, too few for ${range.size} at ${first}`,
    );
  }
  if (first !== range.position || last !== askedLast) {
    throw new StorageError(
      'corrupt',
      `${what}: Content-Range "${text.slice(0, 80)}" is not ${range.position}-${askedLast}`,
    );
  }
  const length = headers['content-length'];
  if (length !== undefined && Number(length) !== range.size) {
    throw new StorageError('corrupt', `${what}: Content-Length ${length} where ${range.size} bytes were asked for`);
  }
}
