/**
 * The record kernel against what else there is: CRCs, the append-time patch, validation plain and compressed, the worker
 * pool, and what a walk allocates. Timed through the package's exports; each side's result is compared first.
 */
import * as nodeRs from '@node-rs/crc32';
import crc32cNpm from 'crc-32/crc32c.js';
import { Errors } from '../src/common/errors.ts';
import { silentLogger } from '../src/common/logger.ts';
import { systemTime } from '../src/common/time.ts';
import { crc32c, kernelBytes, setLogAppendTime, validateRecordBatches } from '../src/kernel.ts';
import { compress } from '../src/record/compression/compress.ts';
import * as layout from '../src/record/kernel-layout.ts';
import { validateRecordBatch } from '../src/record/record-batch.ts';
import { createKernelMemory, kernelModule, RecordKernel } from '../src/record/record-kernel.ts';
import type { ValidationOptions } from '../src/record/validation.ts';
import type { RecordTask } from '../src/worker/messages.ts';
import { openRecordPool } from '../src/worker/piscina-record-pool.ts';
import type { RecordPool } from '../src/worker/record-pool.ts';
import { openWorkerThreads } from '../src/worker/worker-threads.ts';
import type { BenchContext, Side } from './harness.ts';
import { decoders } from './support/decoders.ts';
import { jsonLines, recordBatch } from './support/record-batches.ts';

const KiB = 1024;
const MiB = 1024 * KiB;
const SIZES: readonly (readonly [string, number])[] = [
  ['256B', 256],
  ['1KiB', KiB],
  ['16KiB', 16 * KiB],
  ['1MiB', MiB],
];

const OPTIONS: ValidationOptions = {
  maxMessageBytes: 8 * MiB,
  compressionType: 'producer',
  timestampType: 0,
  nowMs: 1_700_000_000_000,
  timestampBeforeMaxMs: Number.POSITIVE_INFINITY,
  timestampAfterMaxMs: 3_600_000,
  compacted: false,
  allowTransactional: false,
};

/** Bytes in the kernel's memory, as the engine's slabs are. */
function inPlace(bytes: Uint8Array): Uint8Array {
  const own = kernelBytes(bytes.length);
  own.set(bytes);
  return own;
}

/** GB/s of Java 17's CRC32C intrinsic on the machine that the README's figures are from, two cores of a Zen 3, by size. */
const JAVA_GB_PER_S = [14, 13, 21, 20];

async function crcs(bench: BenchContext): Promise<void> {
  const own: number[] = [];
  for (const [label, size] of SIZES) {
    const plain = jsonLines(size);
    const placed = inPlace(plain);
    const baselines = {
      'crc-32': () => crc32cNpm.buf(plain) >>> 0,
      '@node-rs/crc32': () => nodeRs.crc32c(plain),
    };
    const amount = size / 1e6;
    const subject = (): number => crc32c(placed);
    const [row] = await bench.contest({ name: `crc32c/${label}`, unit: 'MB/s', amount, subject, baselines });
    own.push(row!.value / 1e3);
    const copied = { name: `crc32c-copied/${label}`, unit: 'MB/s', amount, subject: () => crc32c(plain), baselines };
    await bench.contest(copied);
  }
  bench.note('crc32c: bytes that lie in kernel memory, as all of the engine do; crc32c-copied: any other Uint8Array');
  const nothing = inPlace(new Uint8Array(0));
  await bench.contest({
    name: 'crc32c/call',
    unit: 'calls/s',
    amount: 1,
    subject: () => crc32c(nothing),
    baselines: {},
  });
  const shares = own.map((rate, i) => `${Math.round((100 * rate) / JAVA_GB_PER_S[i]!)} %`);
  bench.note(
    `Java 17's CRC32C intrinsic on two cores of a Zen 3: ${JAVA_GB_PER_S.join(' / ')} GB/s at ${SIZES.map(([label]) => label).join(' / ')}; this run has ${shares.join(' / ')} of that`,
  );
  bench.note(
    'tried and not faster: folds at other distances (65 to 209 bytes: bound by store forwarding; 260 to 836, and 2,638: by loads), braided tables, other sliding windows, the longer folds without the shortest behind them; crc32c/call is the way from JavaScript alone, over no bytes',
  );
}

async function appendTimes(bench: BenchContext): Promise<void> {
  for (const [label, size] of SIZES.slice(1)) {
    const batch = inPlace(recordBatch(size, 100));
    let timeMs = 1_700_000_000_000;
    await bench.contest({
      name: `inject-log-append-time/${label}`,
      unit: 'batches/s',
      amount: 1,
      subject: () => setLogAppendTime(batch, timeMs++),
      baselines: { '@node-rs/crc32': () => nodeRs.crc32c(batch.subarray(layout.ATTRIBUTES)) },
    });
  }
}

async function validation(bench: BenchContext): Promise<void> {
  const parts = {
    crc32c: (bytes: Uint8Array) => crc32cNpm.buf(bytes) >>> 0,
    decompress: () => 'CORRUPT_MESSAGE' as const,
  };
  for (const [label, recordBytes] of [
    ['100B', 100],
    ['1KiB', KiB],
  ] as const) {
    const batch = inPlace(recordBatch(16 * KiB, recordBytes));
    await bench.contest({
      name: `validate/none/${label}`,
      unit: 'MB/s',
      amount: batch.length / 1e6,
      subject: () => validateRecordBatches(batch, OPTIONS)[0]!.errorCode,
      baselines: { 'typescript-oracle': () => validateRecordBatch(batch, OPTIONS, parts).error },
    });
  }
}

async function compressedValidation(bench: BenchContext): Promise<void> {
  const plain = recordBatch(64 * KiB, 200);
  const records = plain.subarray(layout.RECORDS);
  for (const { codec, libraries } of await decoders(records.length)) {
    const batch = inPlace(recordBatch(64 * KiB, 200, { codec, payload: compress(codec, records) }));
    const payload = Buffer.from(batch.subarray(layout.RECORDS));
    const baselines: Record<string, Side> = {};
    for (const [name, decode] of Object.entries(libraries)) baselines[name] = () => decode(payload).length;
    await bench.contest({
      name: `validate/${codec}`,
      unit: 'MB/s',
      amount: records.length / 1e6,
      subject: () => validateRecordBatches(batch, OPTIONS)[0]!.errorCode,
      baselines,
      same: (error, length) => error === Errors.NONE && length === records.length,
    });
  }
  bench.note(
    'validate/<codec>: CRC, decompression and every record checked, against decompression alone by the libraries',
  );
}

interface Mix {
  readonly name: string;
  readonly sizes: readonly number[];
  /** Compressed, or not. */
  readonly compressed: boolean;
}

const MIXES: readonly Mix[] = [
  { name: 'zstd-64KiB', sizes: [64 * KiB], compressed: true },
  { name: 'zstd-256KiB', sizes: [256 * KiB], compressed: true },
  { name: 'zstd-1MiB', sizes: [MiB], compressed: true },
  { name: 'none-1KiB', sizes: [KiB], compressed: false },
  { name: 'none-16KiB', sizes: [16 * KiB], compressed: false },
  { name: 'mixed', sizes: [KiB, 4 * KiB, 16 * KiB, 64 * KiB, 256 * KiB], compressed: false },
  { name: 'mixed-zstd', sizes: [KiB, 4 * KiB, 16 * KiB, 64 * KiB, 256 * KiB], compressed: true },
];

/** Plain bytes validated at a time: enough of compressed ones that a burst's start and end weigh little. */
const PLAIN_BURST = { bytes: 4 * MiB, mostBatches: 512 };
const COMPRESSED_BURST = { bytes: 128 * MiB, mostBatches: 2048 };
const SMOKE_BURST = { bytes: 256 * KiB, mostBatches: 512 };

/**
 * A burst of batches, validated all at once by each pool. The second baseline has no policy and no pool: the
 * batches split between two threads by hand, beforehand. It shows how much two threads can be worth on the machine.
 */
async function pools(bench: BenchContext): Promise<void> {
  const limits = { appendCapacityBytes: 64 * MiB, fetchCapacityBytes: MiB };
  const byHand = await openHalves(limits.appendCapacityBytes);
  const [two, inline] = [
    await openRecordPool({ workerThreads: 2, ...limits }),
    await openRecordPool({ workerThreads: 0, ...limits }),
  ];
  for (const { name, sizes, compressed } of MIXES) {
    const burst = compressed ? COMPRESSED_BURST : PLAIN_BURST;
    const batches = fill(sizes, bench.smoke ? SMOKE_BURST : burst, compressed);
    const [subject, release] = validateAll(two, batches);
    const [baseline, releaseInline] = validateAll(inline, batches);
    await bench.contest({
      name: `pool/2-workers/${name}`,
      unit: 'batches/s',
      amount: batches.length,
      subject,
      baselines: { inline: baseline, 'halves-by-hand': byHand.side(batches) },
      // Three threads on few cores: a round may catch the scheduler at its worst, or a neighbour.
      rounds: bench.smoke ? 3 : 31,
    });
    release();
    releaseInline();
  }
  bench.note(
    'pool/2-workers/zstd-*: bursts of 128 MiB of plain bytes; in bursts of 32 MiB, at whose start and end one thread has nothing to do, 1.6 / 1.7 / 1.7',
  );
  await byHand.close();
  await two.close();
  await inline.close();
}

interface Halves {
  side(batches: readonly Uint8Array[]): () => Promise<number>;
  close(): Promise<void>;
}

async function openHalves(slabsBytes: number): Promise<Halves> {
  const memory = createKernelMemory({ regions: 5, contentBytes: 32 * MiB, slabsBytes });
  const module = kernelModule();
  const kernel = new RecordKernel(module, memory, 0);
  const data = { module, memory };
  const threads = await openWorkerThreads({
    workers: 2,
    data,
    taskTimeoutMs: 60_000,
    time: systemTime,
    logger: silentLogger,
  });
  const side = (batches: readonly Uint8Array[]) => {
    let address = memory.slabsAddress;
    const tasks = batches.map((batch): RecordTask => {
      kernel.bytes.set(batch, address);
      const task: RecordTask = { kind: 'validate', address, size: batch.length, options: OPTIONS };
      address += batch.length;
      return task;
    });
    const halves = [tasks.filter((_, i) => i % 2 === 0), tasks.filter((_, i) => i % 2 === 1)];
    return async (): Promise<number> => {
      const results = await Promise.all(halves.map((half) => threads.run(half)));
      return results.flat().filter((result) => result.kind === 'validate' && result.verdict.error === Errors.NONE)
        .length;
    };
  };
  return { side, close: () => threads.close() };
}

function fill(sizes: readonly number[], burst: typeof PLAIN_BURST, compressed: boolean): Uint8Array[] {
  const kinds = sizes.map((size) => {
    const plain = recordBatch(size, 200);
    if (!compressed) return plain;
    return recordBatch(size, 200, { codec: 'zstd', payload: compress('zstd', plain.subarray(layout.RECORDS)) });
  });
  const batches: Uint8Array[] = [];
  for (
    let bytes = 0;
    bytes < burst.bytes && batches.length < burst.mostBatches;
    bytes += sizes[(batches.length - 1) % sizes.length]!
  ) {
    batches.push(kinds[batches.length % kinds.length]!);
  }
  return batches;
}

function validateAll(
  pool: RecordPool,
  batches: readonly Uint8Array[],
): [side: () => Promise<number>, release: () => void] {
  const slabs = batches.map((batch) => {
    const slab = pool.slabs.lease(batch.length, 'append')!;
    slab.bytes.set(batch);
    return slab;
  });
  const side = async (): Promise<number> => {
    // Requests come from sockets, each in a turn of its own of the event loop; so does each call here, on both sides.
    await new Promise((resolve) => setImmediate(resolve));
    const results = await Promise.all(slabs.map((slab) => pool.validate(slab.bytes, OPTIONS)));
    return results.filter(({ batch }) => batch.error === Errors.NONE).length;
  };
  const release = (): void => {
    for (const slab of slabs) slab.release();
  };
  return [side, release];
}

/** Heap growth over a million batches walked, in bytes a batch. */
function walks(bench: BenchContext): void {
  const memory = createKernelMemory({ regions: 1, contentBytes: MiB, slabsBytes: 8 * MiB });
  const kernel = new RecordKernel(kernelModule(), memory, 0);
  const batch = recordBatch(300, 50);
  const perWalk = layout.DESCRIPTORS_MAX;
  for (let i = 0; i < perWalk; i++) kernel.bytes.set(batch, memory.slabsAddress + i * batch.length);
  const total = bench.smoke ? 20_000 : 1_000_000;
  let walked = 0;
  let last = 0;
  const round = (): void => {
    walked += kernel.walk(memory.slabsAddress, perWalk * batch.length);
    last = kernel.view.getUint32(kernel.descriptorAddress(perWalk - 1) + layout.DESCRIPTOR_POSITION, true);
  };
  for (let i = 0; i < 50; i++) round();
  walked = 0;
  const before = process.memoryUsage().heapUsed;
  while (walked < total) round();
  const grown = process.memoryUsage().heapUsed - before;
  if (last !== (perWalk - 1) * batch.length) throw new Error('the walk did not find every batch');
  bench.row({
    name: 'walk/allocation',
    value: Math.max(0, grown) / walked,
    unit: 'B/batch',
    baseline: null,
    ratio: null,
    rounds: 1,
    p25: null,
    p75: null,
  });
}

export default async function run(bench: BenchContext): Promise<void> {
  await crcs(bench);
  await appendTimes(bench);
  await validation(bench);
  await compressedValidation(bench);
  await pools(bench);
  walks(bench);
}
