/**
 * What Kafka repairs in a batch that is sound, and what a topic's `compression.type` makes of it: in place where only the
 * header is wrong, else rebuilt in memory of its own. Runs on the kernel of the thread that has just checked the batch.
 */
import { type BatchVerdict, refuse, soundVerdict } from './batch-verdict.ts';
import { compress } from './compression/compress.ts';
import * as layout from './kernel-layout.ts';
import type { RecordKernel } from './record-kernel.ts';
import { CODECS, type CompressionCodec, type ValidationOptions } from './validation.ts';
import { verdictOf } from './verdict.ts';

/** The delete horizon goes as well: a rebuilt batch is one that no cleaner has seen, as in Kafka. */
const KEPT_WHEN_REBUILT = layout.TRANSACTIONAL_BIT | layout.CONTROL_BIT;

/** Where a batch's records lie as plain bytes: in the batch itself, or decompressed in the kernel's own room. */
export interface PlainRecords {
  readonly address: number;
  readonly size: number;
}

/** The greatest timestamp of a batch's records, and the offset delta of the first that has it. */
export interface MaxTimestamp {
  readonly maxTimestamp: bigint;
  readonly offsetDelta: number;
}

/** Repairs the header in place and reads the verdict from it. */
export function repairInPlace(
  kernel: RecordKernel,
  address: number,
  sizeBytes: number,
  attributes: number,
  times: MaxTimestamp,
): BatchVerdict {
  const { view } = kernel;
  view.setInt32(address + layout.LEADER_EPOCH, 0);
  const claimed = view.getBigInt64(address + layout.MAX_TIMESTAMP);
  if ((attributes & layout.TIMESTAMP_TYPE_BIT) !== 0 || claimed !== times.maxTimestamp) {
    const kept = attributes & layout.KNOWN_ATTRIBUTES & ~layout.TIMESTAMP_TYPE_BIT;
    kernel.setMaxTimestamp(address, sizeBytes, kept, times.maxTimestamp);
  }
  return soundVerdict(view, address, times.offsetDelta, sizeBytes);
}

/** A batch to be rebuilt: `address` is its header's, and its records have to be numbered anew or compressed as `target`. */
export interface Rebuilding {
  readonly address: number;
  readonly plain: PlainRecords;
  readonly renumber: boolean;
  readonly target: CompressionCodec;
  readonly times: MaxTimestamp;
}

/** The batch in memory of its own: offset deltas 0, 1, 2, …, in the topic's codec, held to the topic's limit again. */
export function rebuild(kernel: RecordKernel, from: Rebuilding, options: ValidationOptions): BatchVerdict {
  const { target, times } = from;
  const plain = from.renumber ? renumbered(kernel, from) : from.plain;
  if ('error' in plain) return plain;
  const plainBytes = kernel.bytes.subarray(plain.address, plain.address + plain.size);
  // A batch in its producer's codec was at a level that nobody knows.
  const level = target === options.compressionType ? options.compressionLevel : undefined;
  const payload = target === 'none' ? plainBytes : compress(target, plainBytes, level);
  const sizeBytes = layout.RECORDS + payload.length;
  if (sizeBytes > options.maxMessageBytes) {
    const { error, message } = verdictOf(layout.BATCH_TOO_LARGE);
    return refuse(error, `${message} as ${target}: ${sizeBytes} bytes, limit ${options.maxMessageBytes}`);
  }
  const rebuilt = withHeader(kernel, from, payload);
  return soundVerdict(new DataView(rebuilt.buffer), 0, times.offsetDelta, 0, rebuilt);
}

/** The header of old before other records, with what follows from them. */
function withHeader(kernel: RecordKernel, { address, target, times }: Rebuilding, payload: Uint8Array): Uint8Array {
  const rebuilt = new Uint8Array(layout.RECORDS + payload.length);
  rebuilt.set(kernel.bytes.subarray(address, address + layout.RECORDS));
  rebuilt.set(payload, layout.RECORDS);
  const view = new DataView(rebuilt.buffer);
  const kept = view.getUint16(layout.ATTRIBUTES) & KEPT_WHEN_REBUILT;
  view.setInt32(layout.BATCH_LENGTH, rebuilt.length - layout.LOG_OVERHEAD);
  view.setInt32(layout.LEADER_EPOCH, 0);
  view.setUint16(layout.ATTRIBUTES, kept | CODECS.indexOf(target));
  view.setBigInt64(layout.MAX_TIMESTAMP, times.maxTimestamp);
  view.setUint32(layout.CRC, kernel.crc32cOf(rebuilt.subarray(layout.ATTRIBUTES)));
  return rebuilt;
}

function renumbered(kernel: RecordKernel, { address, plain }: Rebuilding): PlainRecords | BatchVerdict {
  const size = kernel.resultInt(layout.RESULT_RENUMBERED_BYTES);
  const room = kernel.memory.contentBytes;
  if (size > room)
    return refuse('MESSAGE_TOO_LARGE', `the records take ${size} bytes with offsets in order, limit ${room}`);
  return {
    address: kernel.rebuiltAddress,
    size: kernel.renumberRecords(address, plain.address, kernel.rebuiltAddress),
  };
}
