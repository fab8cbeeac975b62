/**
 * What a request to S3 costs the client: CPU time of this process (user and system) per ranged GET and per PUT, ours
 * against the AWS SDK's, both over the same loopback server in a process of its own.
 *
 * Both sides fill the same kind of target: 16 gets at a time into arrays that exist already. The PUT's checksum is the one
 * that each side sends in production: the SDK computes CRC-32C over the body, Shoal derives it from its batches' CRCs.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { crc32c } from '@node-rs/crc32';
import { S3ObjectStorage } from 'shoal/s3';
import type { BenchContext } from './harness.ts';

const MiB = 1024 * 1024;
const OBJECT_BYTES = 4 * MiB;
const CONCURRENCY = 16;
const BASELINE = '@aws-sdk/client-s3';

interface Stub {
  readonly endpoint: string;
  stop(): Promise<void>;
}

async function startStub(): Promise<Stub> {
  const script = fileURLToPath(new URL('./support/s3-stub.ts', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', script, String(OBJECT_BYTES)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(child.stdout!, 'data')) as [Buffer];
  const stop = async (): Promise<void> => {
    child.stdin!.end();
    if (child.exitCode === null) await once(child, 'exit');
  };
  return { endpoint: `http://127.0.0.1:${String(line).trim()}`, stop };
}

const credentials = { accessKeyId: 'BENCH', secretAccessKey: 'bench-secret' };
const location = (endpoint: string) => ({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });

/** Runs `request` `count` times, CONCURRENCY at a time, each lane with its own index. */
async function inLanes(count: number, request: (index: number, lane: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async (_: unknown, number: number): Promise<void> => {
    for (let index = next++; index < count; index = next++) await request(index, number);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
}

interface Sides {
  readonly storage: S3ObjectStorage;
  readonly sdk: S3Client;
}

async function benchGet(bench: BenchContext, { storage, sdk }: Sides, label: string, size: number): Promise<void> {
  const count = bench.smoke ? 16 : 128;
  const targets = Array.from({ length: CONCURRENCY }, () => new Uint8Array(new SharedArrayBuffer(size)));
  const position = (index: number): number => (index * 4096) % (OBJECT_BYTES - size);
  const copyOf = (): string => Buffer.from(targets[0]!).toString('latin1');
  const subject = async (): Promise<string> => {
    await inLanes(count, async (index, lane) => {
      await storage.getRange('object', { position: position(index), size }, { into: targets[lane]! });
    });
    await storage.getRange('object', { position: 4096, size }, { into: targets[0]! });
    return copyOf();
  };
  const sdkGet = async (from: number, target: Uint8Array): Promise<void> => {
    const range = `bytes=${from}-${from + size - 1}`;
    const { Body } = await sdk.send(new GetObjectCommand({ Bucket: 'bench', Key: 'object', Range: range }));
    target.set(await Body!.transformToByteArray());
  };
  const baseline = async (): Promise<string> => {
    await inLanes(count, (index, lane) => sdkGet(position(index), targets[lane]!));
    await sdkGet(4096, targets[0]!);
    return copyOf();
  };
  await bench.contest({
    name: `get/${label}`,
    unit: 'req/CPU-s',
    amount: count + 1,
    subject,
    baselines: { [BASELINE]: baseline },
    clock: 'cpu',
    roundMs: bench.smoke ? 2 : 300,
  });
}

async function benchPut(bench: BenchContext, { storage, sdk }: Sides): Promise<void> {
  const count = bench.smoke ? 2 : 8;
  const body = new Uint8Array(new SharedArrayBuffer(OBJECT_BYTES));
  for (let i = 0; i < body.length; i++) body[i] = (i * 7 + (i >> 12)) & 255;
  const crc = crc32c(body);
  let key = 0;
  const subject = async (): Promise<number> => {
    await inLanes(count, () => storage.put(`put-${key++}`, [body], { crc32c: crc }));
    return count;
  };
  const baseline = async (): Promise<number> => {
    await inLanes(count, async () => {
      const input = { Bucket: 'bench', Key: `put-${key++}`, Body: body, IfNoneMatch: '*' };
      await sdk.send(new PutObjectCommand({ ...input, ChecksumAlgorithm: 'CRC32C' }));
    });
    return count;
  };
  await bench.contest({
    name: 'put/4MiB',
    unit: 'req/CPU-s',
    amount: count,
    subject,
    baselines: { [`${BASELINE} CRC32C`]: baseline },
    clock: 'cpu',
    roundMs: bench.smoke ? 2 : 300,
  });
}

export default async function objectStorage(bench: BenchContext): Promise<void> {
  const stub = await startStub();
  const storage = await S3ObjectStorage.open({ bucket: 'bench', ...location(stub.endpoint) });
  const sdk = new S3Client(location(stub.endpoint));
  try {
    await benchGet(bench, { storage, sdk }, '4KiB', 4096);
    await benchGet(bench, { storage, sdk }, '64KiB', 65_536);
    await benchPut(bench, { storage, sdk });
    bench.note(`CPU of this process per request, ${CONCURRENCY} at a time; ratio of the baseline's to ours`);
  } finally {
    await storage.close();
    sdk.destroy();
    await stub.stop();
  }
}
