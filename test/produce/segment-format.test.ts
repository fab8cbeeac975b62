/** The segment's bytes: round trip, checksum against an independent one, and hostile footers. */
import crc32cOracle from 'crc-32/crc32c.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/common/random.ts';
import { comparePartitions, type TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import { randomUuid } from '../../src/common/uuid.ts';
import { segmentChecksums } from '../../src/produce/segment-checksums.ts';
import {
  decodeSegmentFooter,
  type EncodedSegment,
  encodeSegment,
  footerSize,
  SEGMENT_TRAILER_BYTES,
  type SegmentBatch,
  SegmentFormatError,
} from '../../src/produce/segment-format.ts';
import { readSegmentFooter } from '../../src/produce/segment-reader.ts';
import { InMemoryObjectStorage } from '../../src/storage/in-memory-object-storage.ts';
import { plainBatch } from '../support/record-batches.ts';

const checksums = segmentChecksums();
const random = seededRandom(11);
const topics = Array.from({ length: 4 }, () => randomUuid(random)).sort();
const origin = { uploaderId: 3, uploaderEpoch: 2 ** 40, segmentSequence: 17, createdMs: 1_800_000_000_000 };

function segmentBatch(topicIdPartition: TopicIdPartition, records: number, valueBytes: number): SegmentBatch {
  const bytes = plainBatch(records, valueBytes);
  const maxTimestamp = bytes.readBigInt64BE(35);
  return { topicIdPartition, bytes, recordCount: records, maxTimestamp, crc: bytes.readUInt32BE(17) };
}

const batches = fc
  .array(
    fc.record({
      topic: fc.nat({ max: topics.length - 1 }),
      partition: fc.nat({ max: 3 }),
      records: fc.integer({ min: 1, max: 5 }),
      valueBytes: fc.nat({ max: 300 }),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((list) =>
    list
      .map(({ topic, partition, records, valueBytes }) =>
        segmentBatch({ topicId: topics[topic]!, partition }, records, valueBytes),
      )
      .sort((a, b) => comparePartitions(a.topicIdPartition, b.topicIdPartition)),
  );

function footerOf(object: Uint8Array) {
  const size = footerSize(object.subarray(object.length - SEGMENT_TRAILER_BYTES), object.length);
  return decodeSegmentFooter(object.subarray(object.length - size), object.length, checksums);
}

const bytesOf = (segment: EncodedSegment): Buffer => Buffer.concat(segment.body);

describe('a segment', () => {
  it('explains itself, holds each batch where it says, and carries the right checksum', () => {
    fc.assert(
      fc.property(batches, (list) => {
        const segment = encodeSegment(list, origin, checksums);
        const object = bytesOf(segment);
        expect(object.length).toBe(segment.sizeBytes);
        expect(object[0]).toBe(0);
        expect(segment.crc32c).toBe(crc32cOracle.buf(object) >>> 0);
        list.forEach(({ bytes }, index) => {
          const position = segment.positions[index]!;
          expect(object.subarray(position, position + bytes.length)).toEqual(bytes);
        });
        const footer = footerOf(object);
        expect(footer).toMatchObject(origin);
        expect(footer.runs.reduce((sum, run) => sum + run.size, 1)).toBe(
          segment.positions.at(-1)! + list.at(-1)!.bytes.length,
        );
        for (const run of footer.runs) {
          const own = list.filter((batch) => comparePartitions(batch.topicIdPartition, run.topicIdPartition) === 0);
          expect(run.batchCount).toBe(own.length);
          expect(run.recordCount).toBe(own.reduce((sum, batch) => sum + batch.recordCount, 0));
          expect(object.subarray(run.position, run.position + run.size)).toEqual(
            Buffer.concat(own.map(({ bytes }) => bytes)),
          );
          expect(own.some(({ maxTimestamp }) => maxTimestamp === run.maxTimestamp)).toBe(true);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('is not believed when any bit of its footer differs', () => {
    const list = [0, 1, 2].map((partition) => segmentBatch({ topicId: topics[0]!, partition }, 2, 20));
    const segment = encodeSegment(list, origin, checksums);
    const object = bytesOf(segment);
    const footerAt = object.length - segment.body.at(-1)!.length;
    for (let bit = footerAt * 8; bit < object.length * 8; bit++) {
      const damaged = Buffer.from(object);
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => footerOf(damaged), `bit ${bit}`).toThrow(SegmentFormatError);
    }
  });

  it.for([
    ['a run before the body', 20, 0],
    ['a run beyond the body', 24, 2 ** 32 - 1],
    ['an empty run', 24, 0],
    ['runs out of order', 16, 7],
  ] as const)('is not believed when its footer claims %s, even with a right checksum', ([_, field, value]) => {
    const list = [0, 1].map((partition) => segmentBatch({ topicId: topics[0]!, partition }, 1, 20));
    const object = bytesOf(encodeSegment(list, origin, checksums));
    const footer = object.subarray(object.length - footerSize(object.subarray(-SEGMENT_TRAILER_BYTES), object.length));
    footer.writeUInt32BE(value, 4 + 32 + field);
    const body = footer.subarray(0, -SEGMENT_TRAILER_BYTES);
    footer.writeUInt32BE(checksums.crc32c(body), body.length);
    expect(() => footerOf(object)).toThrow(SegmentFormatError);
  });

  it.for([
    ['an entry count beyond the footer', (footer: Buffer) => footer.writeUInt32BE(2 ** 32 - 1, 30)],
    ['entries that are too short', (footer: Buffer) => footer.writeUInt16BE(4, 34)],
    ['a header that is too long', (footer: Buffer) => footer.writeUInt16BE(65_535, 0)],
  ] as const)('is not believed when its footer has %s', ([_, damage]) => {
    const object = bytesOf(
      encodeSegment([segmentBatch({ topicId: topics[0]!, partition: 0 }, 1, 20)], origin, checksums),
    );
    const footer = object.subarray(object.length - footerSize(object.subarray(-SEGMENT_TRAILER_BYTES), object.length));
    damage(footer);
    const body = footer.subarray(0, -SEGMENT_TRAILER_BYTES);
    footer.writeUInt32BE(checksums.crc32c(body), body.length);
    expect(() => footerOf(object)).toThrow(SegmentFormatError);
  });

  it('is read from storage; what is no segment is refused, and what is missing', async () => {
    await using storage = new InMemoryObjectStorage();
    const list = [segmentBatch({ topicId: topics[0]!, partition: 0 }, 1, 20)];
    const segment = encodeSegment(list, origin, checksums);
    await storage.put('segments/a', segment.body);
    await storage.put('segments/short', [Buffer.from('SHOA')]);
    await storage.put('segments/empty', []);
    await storage.put('segments/other', [Buffer.alloc(1000)]);
    expect(await readSegmentFooter(storage, 'segments/a')).toEqual(footerOf(bytesOf(segment)));
    await expect(readSegmentFooter(storage, 'segments/short')).rejects.toThrow(SegmentFormatError);
    await expect(readSegmentFooter(storage, 'segments/empty')).rejects.toThrow(SegmentFormatError);
    await expect(readSegmentFooter(storage, 'segments/other')).rejects.toThrow(SegmentFormatError);
    await expect(readSegmentFooter(storage, 'segments/none')).rejects.toMatchObject({ kind: 'not-found' });
  });

  it('is read by those who do not know newer fields of header and entries', () => {
    const list = [0, 1].map((partition) => segmentBatch({ topicId: topics[0]!, partition }, 1, 20));
    const object = bytesOf(encodeSegment(list, origin, checksums));
    const size = footerSize(object.subarray(-SEGMENT_TRAILER_BYTES), object.length);
    const body = object.subarray(0, object.length - size);
    const old = object.subarray(object.length - size, object.length - SEGMENT_TRAILER_BYTES);
    const newer = Buffer.concat([
      Buffer.of(0, 40),
      old.subarray(2, 34),
      Buffer.from('newer!!!'),
      Buffer.of(0, 48),
      ...[0, 1].flatMap((index) => [old.subarray(36 + index * 44, 80 + index * 44), Buffer.from('more')]),
    ]);
    const trailer = Buffer.alloc(SEGMENT_TRAILER_BYTES);
    trailer.writeUInt32BE(checksums.crc32c(newer), 0);
    trailer.writeUInt32BE(newer.length, 4);
    trailer.write('SHOA', 8, 'latin1');
    expect(footerOf(Buffer.concat([body, newer, trailer]))).toEqual(footerOf(object));
  });
});
