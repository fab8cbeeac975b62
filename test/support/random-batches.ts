/** Random record batches, some right, some wrong in one place, for agreement tests and the fuzzer. */
import { gzipSync } from 'node:zlib';
import * as zstd from '@bokuweb/zstd-wasm';
import * as lz4 from 'lz4-napi';
import * as snappy from 'snappy';
import { type Random, randomInt } from '../../src/common/random.ts';
import type { ValidationOptions } from '../../src/record/validation.ts';
import { buildBatch, encodeRecords, sealCrc, type TestBatch, type TestRecord } from './record-batches.ts';
import { KAFKA_DEFAULTS, NOW_MS } from './test-kernel.ts';

const pick = <T>(random: Random, values: readonly T[]): T => values[randomInt(random, 0, values.length - 1)]!;
const chance = (random: Random, probability: number): boolean => random.next() < probability;

function randomField(random: Random): Uint8Array | null {
  if (chance(random, 0.2)) return null;
  return random.bytes(pick(random, [0, 1, 3, 20, 63, 64, 130, randomInt(random, 0, 600)]));
}

function randomRecord(random: Random, index: number): TestRecord {
  const headers = Array.from({ length: chance(random, 0.3) ? randomInt(random, 1, 4) : 0 }, () => {
    const value = chance(random, 0.2) ? null : random.bytes(randomInt(random, 0, 70));
    return ['k'.repeat(randomInt(random, 0, 80)), value] as const;
  });
  const timestampDelta = pick(random, [0, index, -index, randomInt(random, -1000, 5_000_000), 2 ** 40]);
  const offsetDelta = chance(random, 0.02) ? randomInt(random, -3, 1 << 20) : index;
  return { key: randomField(random), value: randomField(random), headers, timestampDelta, offsetDelta };
}

/** Edits a few bytes: flips, small numbers, the bytes that varints turn on. */
function mutate(random: Random, bytes: Buffer): Buffer {
  const edited = Buffer.from(bytes);
  if (edited.length === 0) return edited;
  for (let i = randomInt(random, 1, 3); i > 0; i--) {
    const at = randomInt(random, 0, edited.length - 1);
    edited[at] = pick(random, [
      0,
      1,
      2,
      0x7f,
      0x80,
      0xff,
      edited[at]! ^ 1,
      edited[at]! ^ 0x80,
      randomInt(random, 0, 255),
    ]);
  }
  const cut = randomInt(random, 0, edited.length);
  return chance(random, 0.15) ? edited.subarray(0, cut) : edited;
}

const compressors = [
  (plain: Buffer): Uint8Array => plain,
  (plain: Buffer): Uint8Array => gzipSync(plain, { level: 1 }),
  (plain: Buffer): Uint8Array => snappy.compressSync(plain),
  (plain: Buffer): Uint8Array => lz4.compressFrameSync(plain),
  (plain: Buffer): Uint8Array => zstd.compress(plain, 1),
];

/** Header fields of which sometimes one is wrong. */
function randomHeader(random: Random, count: number): Partial<TestBatch> {
  const wrong: readonly Partial<TestBatch>[] = [
    { baseOffset: 7n },
    { magic: randomInt(random, -1, 3) },
    { lastOffsetDelta: pick(random, [-1, count, count - 2, 2 ** 31 - 1]) },
    { recordCount: pick(random, [0, -1, count + 1, count - 1, 2 ** 31 - 1]), lastOffsetDelta: count },
    { recordCount: count + 1 },
    { recordCount: Math.max(1, count - 1) },
    { producerId: 5n, producerEpoch: 0, baseSequence: -1 },
    { producerId: 5n, producerEpoch: -1, baseSequence: 0 },
    { producerId: -7n },
    { attributes: pick(random, [5, 6, 7, 16, 32, 48]) },
    { maxTimestamp: pick(random, [-1n, 0n, 2n ** 62n]) },
  ];
  const right: Partial<TestBatch> = chance(random, 0.5) ? { producerId: 9n, producerEpoch: 3, baseSequence: 11 } : {};
  return chance(random, 0.35) ? { ...right, ...pick(random, wrong) } : right;
}

/** A batch as a producer might send it; `plain` batches are edited in their records, compressed ones before compression. */
export function randomBatch(random: Random, codecs: readonly number[] = [0]): Buffer {
  const count = pick(random, [1, 1, 2, 3, 10, randomInt(random, 1, 60)]);
  const records = Array.from({ length: count }, (_, i) => randomRecord(random, i));
  const encoded = encodeRecords(records);
  const plain = chance(random, 0.4) ? mutate(random, encoded) : encoded;
  const codec = pick(random, codecs);
  const header = randomHeader(random, count);
  const extra = (chance(random, 0.1) ? 8 : 0) | (chance(random, 0.1) ? 0x8f80 & 0xff80 : 0);
  const batch = buildBatch({
    records,
    payload: compressors[codec]!(plain),
    attributes: codec | extra,
    baseTimestamp: pick(random, [BigInt(NOW_MS), BigInt(NOW_MS) - 5_000_000_000n, -1n, 0n, 2n ** 61n]),
    ...header,
  });
  return tamper(random, batch);
}

/** What happens on the way: cut short, followed by something, a flipped byte. */
function tamper(random: Random, batch: Buffer): Buffer {
  const roll = random.next();
  if (roll < 0.04) return batch.subarray(0, randomInt(random, 0, batch.length));
  if (roll < 0.08) return Buffer.concat([batch, Buffer.from(random.bytes(randomInt(random, 0, 30)))]);
  if (roll < 0.1) return Buffer.concat([batch, batch]);
  if (roll < 0.14) batch[randomInt(random, 0, batch.length - 1)]! ^= 1 << randomInt(random, 0, 7);
  if (roll > 0.14 && roll < 0.18) {
    batch.writeInt32BE(pick(random, [-1, 0, 13, 14, 15, 48, 49, batch.length - 13, batch.length, 2 ** 31 - 1]), 8);
    if (chance(random, 0.5)) sealCrc(batch);
  }
  return batch;
}

export function randomOptions(random: Random): ValidationOptions {
  return {
    ...KAFKA_DEFAULTS,
    timestampType: chance(random, 0.3) ? 1 : 0,
    timestampBeforeMaxMs: pick(random, [Number.POSITIVE_INFINITY, 3_600_000, 0]),
    timestampAfterMaxMs: pick(random, [Number.POSITIVE_INFINITY, 3_600_000, 0]),
    compacted: chance(random, 0.2),
    allowTransactional: chance(random, 0.5),
    maxMessageBytes: chance(random, 0.05) ? 200 : 1_048_588,
  };
}
