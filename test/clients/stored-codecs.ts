/** What codecs record batches are stored with, by the bytes of the shared log segments in a data folder. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32c, crc32cCombine } from '../../src/kernel.ts';
import { decodeSegmentFooter, footerSize, SEGMENT_TRAILER_BYTES } from '../../src/produce/segment-format.ts';

const LENGTH_AT = 8;
const LOG_OVERHEAD = 12;
const ATTRIBUTES_AT = 21;
const RECORDS_COUNT_AT = 57;
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];

export interface StoredBatch {
  readonly topicId: string;
  readonly codec: string;
  readonly sizeBytes: number;
  readonly records: number;
}

async function segmentFiles(data: string): Promise<string[]> {
  const folder = join(data, 'segments');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

function* batchesOf(segment: Buffer): Generator<StoredBatch> {
  const footerBytes = footerSize(segment.subarray(-SEGMENT_TRAILER_BYTES), segment.length);
  const footer = decodeSegmentFooter(segment.subarray(-footerBytes), segment.length, { crc32c, crc32cCombine });
  for (const { topicIdPartition, position, size } of footer.runs) {
    for (let at = position; at < position + size; ) {
      const sizeBytes = LOG_OVERHEAD + segment.readInt32BE(at + LENGTH_AT);
      const codec = CODECS[segment.readInt16BE(at + ATTRIBUTES_AT) & 7]!;
      const records = segment.readInt32BE(at + RECORDS_COUNT_AT);
      yield { topicId: topicIdPartition.topicId, codec, sizeBytes, records };
      at += sizeBytes;
    }
  }
}

/** Every batch in every segment of the folder. */
export async function storedBatches(data: string): Promise<StoredBatch[]> {
  const batches: StoredBatch[] = [];
  for (const file of await segmentFiles(data)) batches.push(...batchesOf(await readFile(file)));
  return batches;
}
