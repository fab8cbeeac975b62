/** `shoal dump`, as built: headers, verdicts and exit codes for sound, hostile and cut files. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/common/random.ts';
import { crc32c, crc32cCombine } from '../../src/kernel.ts';
import { encodeSegment } from '../../src/produce/segment-format.ts';
import { compress } from '../../src/record/compression/compress.ts';
import { buildBatch, encodeRecords, plainBatch } from '../support/record-batches.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const fixtures = join(root, 'test/fixtures/batches');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-dump-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(program: string, args: readonly string[], input?: Uint8Array) {
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: root,
    encoding: 'utf8',
    ...(input ? { input } : {}),
  });
  return { status, stdout, stderr };
}

const shoal = (...args: string[]) => run(process.execPath, ['dist/cli.js', ...args]);

function dump(bytes: Uint8Array, ...more: string[]) {
  const path = join(folder, 'bytes');
  writeFileSync(path, bytes);
  return shoal('dump', path, ...more);
}

type Line = Record<string, unknown>;

function dumpJson(bytes: Uint8Array): { status: number | null; lines: Line[] } {
  const { status, stdout, stderr } = dump(bytes, '--json');
  expect(stderr).toBe('');
  return {
    status,
    lines: stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line),
  };
}

function segmentOf(batches: readonly Buffer[]): Buffer {
  const topicIdPartition = { topicId: 'AAAAAAAAAAAAAAAAAAAAAQ', partition: 3 };
  const runs = batches.map((bytes) => ({
    topicIdPartition,
    bytes,
    recordCount: bytes.readInt32BE(57),
    maxTimestamp: bytes.readBigInt64BE(35),
    crc: bytes.readUInt32BE(17),
  }));
  const origin = { uploaderId: 1, uploaderEpoch: 1, segmentSequence: 1, createdMs: 1 };
  return Buffer.concat(encodeSegment(runs, origin, { crc32c, crc32cCombine }).body);
}

/** The start of a batch whose records are compressed to `payload`, which holds `count` of them. */
const compressed = (attributes: number, count: number, payload: Uint8Array): Buffer =>
  buildBatch({ records: Array.from({ length: count }, () => ({})), attributes, payload });

describe('shoal dump --json', () => {
  it('prints every field of a batch', () => {
    const batch = plainBatch(3, 10, {
      producerId: 9007199254740995n,
      producerEpoch: 2,
      baseSequence: 7,
      leaderEpoch: 4,
    });
    const { status, stdout } = dump(batch, '--json');
    expect(status).toBe(0);
    expect(stdout).toContain('"producerId":9007199254740995,');
    expect(JSON.parse(stdout)).toEqual({
      position: 0,
      size: batch.length,
      baseOffset: 0,
      batchLength: batch.length - 12,
      partitionLeaderEpoch: 4,
      magic: 2,
      crc: batch.readUInt32BE(17),
      attributes: 0,
      lastOffsetDelta: 2,
      baseTimestamp: 1700000000000,
      maxTimestamp: 1700000000002,
      producerId: Number(9007199254740995n),
      producerEpoch: 2,
      baseSequence: 7,
      recordsCount: 3,
      crcValid: true,
      errorCode: 0,
      errorName: 'NONE',
      recordIndex: -1,
      message: '',
    });
  });

  it('goes on behind a bad batch, and finds each verdict', () => {
    const records = [{ value: 'a' }, { value: 'b' }];
    const flipped = Buffer.from(plainBatch(2, 10));
    flipped[70] = flipped[70]! ^ 1;
    const batches = [
      plainBatch(2, 10, { baseOffset: 100n }),
      flipped,
      buildBatch({ records: [...records, { value: 'c', offsetDelta: 9 }] }),
      compressed(1, 2, gzipSync(encodeRecords(records))),
      compressed(1, 2, gzipSync(encodeRecords(records)).subarray(0, 20)),
      compressed(
        3,
        2,
        compress('lz4', encodeRecords(records)).map((byte, i) => (i === 4 ? 0x40 : byte)),
      ),
      compressed(5, 2, Buffer.from('?')),
    ];
    const { status, lines } = dumpJson(Buffer.concat(batches));
    expect(status).toBe(1);
    expect(lines.map(({ errorName, recordIndex, crcValid }) => [errorName, recordIndex, crcValid])).toEqual([
      ['NONE', -1, true],
      ['CORRUPT_MESSAGE', -1, false],
      ['INVALID_RECORD', 2, true],
      ['NONE', -1, true],
      ['CORRUPT_MESSAGE', -1, true],
      ['CORRUPT_MESSAGE', -1, true],
      ['CORRUPT_MESSAGE', -1, true],
    ]);
    let position = 0;
    for (const [i, batch] of batches.entries()) {
      expect(lines[i]).toMatchObject({ position, size: batch.length });
      position += batch.length;
    }
    expect(lines[4]?.message).toContain('cut off');
    expect(dump(Buffer.concat(batches)).stdout).toContain("INVALID_RECORD (87): record 2: the record's offset delta");
  });

  it('finds the clients’ batches good', () => {
    const files = readdirSync(fixtures);
    const { status, lines } = dumpJson(Buffer.concat(files.map((file) => readFileSync(join(fixtures, file)))));
    expect(lines.map(({ errorName }) => errorName)).toEqual(files.map(() => 'NONE'));
    expect(status).toBe(0);
  });

  it('finds the batches in a segment of ours', () => {
    const batches = [plainBatch(2, 10, { leaderEpoch: 0 }), plainBatch(5, 100, { leaderEpoch: 0 })];
    const segment = segmentOf(batches);
    const torn = dump(segment.subarray(0, -1));
    expect(torn.status).toBe(1);
    expect(torn.stdout).toContain(`position ${1 + batches[0]!.length}: ${batches[1]!.length} bytes, good\n`);
    expect(torn.stdout).toContain(', in a shared log segment whose footer is missing or damaged\n');
    const withoutFooter = segment.subarray(0, 1 + batches[0]!.length);
    expect(dump(withoutFooter, '--json')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/is a shared log segment whose footer is missing or damaged\n$/),
    });
    const { status, lines } = dumpJson(segment);
    expect(lines.map(({ position, recordsCount, errorCode }) => [position, recordsCount, errorCode])).toEqual([
      [1, 2, 0],
      [1 + batches[0]!.length, 5, 0],
    ]);
    expect(status).toBe(0);
    expect(dump(segment).stdout).toContain('2 batches, none with an error, in a shared log segment');
  });
});

describe('shoal dump', () => {
  it('says which fields of a header are cut off', () => {
    const cut = plainBatch(4, 50).subarray(0, 40);
    const { stdout } = dump(cut);
    expect(stdout).toContain('baseOffset 0, lastOffsetDelta 3, recordsCount cut off\n');
    expect(stdout).toContain('producerId cut off, producerEpoch cut off, baseSequence cut off\n');
    const { lines } = dumpJson(cut);
    expect(lines).toMatchObject([{ magic: 2, lastOffsetDelta: 3, maxTimestamp: null, recordsCount: null }]);
    expect(dump(cut.subarray(0, 10)).stdout).toContain('  crc cut off\n');
  });

  it('reads batches of all sizes from a file that is larger than what it reads at a time', () => {
    const sizes = [10, 700_000, 400_000, 20, 1_500_000, 30, 1_048_000, 100];
    const batches = sizes.map((size) => plainBatch(1, size));
    const { status, lines } = dumpJson(Buffer.concat(batches));
    expect([status, lines.map(({ size, errorCode }) => [size, errorCode])]).toEqual([
      0,
      batches.map((batch) => [batch.length, 0]),
    ]);
  });

  it('names what is wrong with cut and random bytes, and ends with 1', () => {
    const batch = plainBatch(4, 50);
    const cut = dump(Buffer.concat([batch, batch.subarray(0, 100)]));
    expect(cut.status).toBe(1);
    expect(cut.stdout).toContain(`position 0: ${batch.length} bytes, good\n`);
    expect(cut.stdout).toContain(
      `position ${batch.length}: 100 bytes, INVALID_RECORD (87): the batch length goes beyond`,
    );
    expect(cut.stdout).toContain('2 batches, 1 with an error\n');
    for (const size of [1, 16, 5000]) {
      const { status, stdout, stderr } = dump(seededRandom(size).bytes(size));
      expect([size, status, stderr]).toEqual([size, 1, '']);
      expect(stdout).toMatch(/position 0: \d+ bytes, (INVALID_RECORD|CORRUPT_MESSAGE) \(\d+\): /);
    }
  });

  it('prints what it found before a batch that is too large to read', () => {
    const path = join(folder, 'sparse');
    const header = Buffer.from(plainBatch(1, 10)).subarray(0, 61);
    header.writeInt32BE(600 * 1024 * 1024, 8);
    writeFileSync(path, Buffer.concat([plainBatch(1, 10), header]));
    truncateSync(path, 700 * 1024 * 1024);
    const { status, stdout, stderr } = shoal('dump', path);
    expect(status).toBe(1);
    expect(stdout).toContain('position 0: ');
    expect(stderr).toMatch(/^shoal: the batch at \d+ has 629145612 bytes; up to 536870912 can be read\n$/);
    rmSync(path);
  });

  it('reads standard input and pipes as it reads files', () => {
    const batches = [plainBatch(3, 40), plainBatch(1, 2_000_000), plainBatch(1, 7).subarray(0, 50)];
    for (const bytes of [Buffer.concat(batches), segmentOf([plainBatch(2, 10), plainBatch(5, 100)])]) {
      const expected = dump(bytes, '--json');
      expect(expected.stdout.split('\n').length).toBeGreaterThan(2);
      expect(run('bash', ['-c', 'node dist/cli.js dump --json -'], bytes)).toEqual(expected);
      expect(run('bash', ['-c', 'node dist/cli.js dump --json <(cat)'], bytes)).toEqual(expected);
    }
    const nothing = 'shoal: standard input holds no record batch: it has 0 bytes\n';
    expect(run('bash', ['-c', 'node dist/cli.js dump -'], Buffer.alloc(0))).toMatchObject({
      status: 1,
      stderr: nothing,
    });
  });

  it('says what it needs', () => {
    expect(dump(Buffer.alloc(0))).toMatchObject({ status: 1, stdout: '' });
    expect(shoal('dump')).toMatchObject({ status: 2, stderr: expect.stringContaining('shoal dump FILE') });
    expect(shoal('dump', 'a', 'b')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('unexpected argument b'),
    });
    const missing = shoal('dump', join(folder, 'missing'));
    expect(missing).toMatchObject({
      status: 1,
      stderr: `shoal: cannot read ${join(folder, 'missing')}: there is no such file\n`,
    });
    expect(shoal('dump', folder)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('neither a file nor a pipe'),
    });
  });
});
