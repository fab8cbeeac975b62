/** The batches that real clients made (test/fixtures/make.ts): each codec's payload decodes to exactly the records sent. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import crc32c from 'crc-32/crc32c.js';
import { describe, expect, it } from 'vitest';
import { compress } from '../../../src/record/compression/compress.ts';
import { fixtureRecords } from '../../fixtures/records.ts';
import { encodeRecords } from '../../support/record-batches.ts';
import { CODECS, decode, expectPlain } from './decompressor.ts';

const folder = fileURLToPath(new URL('../../fixtures/batches/', import.meta.url));
const files = readdirSync(folder).sort();

/** The records as any client must encode them, given the base timestamp that this one chose. */
function expectedPayload(codec: string, baseTimestamp: bigint): Buffer {
  const records = fixtureRecords(codec).map(({ timestamp, ...record }) => ({
    ...record,
    timestampDelta: timestamp - baseTimestamp,
  }));
  return encodeRecords(records);
}

it('has every client with every codec', () => {
  const clients = ['java', 'kafkajs', 'librdkafka'];
  const expected = clients.flatMap((client) => ['none', ...CODECS].map((codec) => `${client}-${codec}.bin`));
  expect(files).toEqual(expected.sort());
});

describe.each(files)('%s', (file) => {
  const batch = readFileSync(folder + file);
  const codec = ['none', ...CODECS].find((name) => file.endsWith(`-${name}.bin`))!;
  const payload = batch.subarray(61);

  it('is one whole v2 batch of that codec, its CRC right', () => {
    expect(batch.readInt32BE(8)).toBe(batch.length - 12);
    expect(batch[16]).toBe(2);
    expect(batch.readUInt32BE(17)).toBe(crc32c.buf(batch.subarray(21)) >>> 0);
    expect(['none', 'gzip', 'snappy', 'lz4', 'zstd'][batch.readUInt16BE(21) & 7]).toBe(codec);
    expect(batch.readInt32BE(57)).toBe(fixtureRecords(codec).length);
  });

  it('holds the records that were sent, and they survive our own compression', () => {
    const expected = expectedPayload(codec, batch.readBigInt64BE(27));
    if (codec === 'none') return expectPlain(payload, expected);
    const name = CODECS.find((known) => known === codec)!;
    expectPlain(decode(name, payload), expected);
    expectPlain(decode(name, compress(name, expected), expected.length), expected);
  });
});
