/** A coordinator that knows of records, told to look for them where there are none: another folder, bucket or prefix. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { openComponents } from '../../src/cli/components.ts';
import { openEngine } from '../../src/engine/engine.ts';
import { plainBatch } from '../support/record-batches.ts';
import { S3Double } from '../support/s3/s3-double.ts';

let folder: string;
let double: S3Double;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-lost-'));
  double = await S3Double.start();
});
afterAll(async () => {
  await double.stop();
  rmSync(folder, { recursive: true });
});
afterEach(() => vi.unstubAllEnvs());

const bucket = (prefix: string) =>
  `s3://${double.config.bucket}/${prefix}?endpoint=${double.endpoint}&region=us-east-1`;
const open = (name: string, storage: string) =>
  openComponents({ data: join(folder, name), storage, coordinator: undefined });

async function fill(name: string, storage: string, batches: number): Promise<void> {
  const components = await open(name, storage);
  const engine = await openEngine(components, { workerThreads: 0, produceCommitIntervalMs: 1 });
  const [created] = await engine.createTopics([{ name: 't', partitions: 2 }]);
  const topicIdPartition = { topicId: created!.topicId, partition: 1 };
  for (let i = 0; i < batches; i++) {
    const [appended] = await engine.append([{ topicIdPartition, records: plainBatch(1, 10) }]);
    expect(appended!.error).toBe(0);
  }
  await engine.close();
  await components.close();
}

it('refuses another folder of segments, and does not make it', async () => {
  const elsewhere = join(folder, 'elsewhere');
  await fill('folders', join(folder, 'segments'), 1);
  await expect(open('folders', elsewhere)).rejects.toThrow(
    new RegExp(`^${elsewhere} is missing or empty, but sqlite \\S+ knows of records there: [^\\n]+--storage`),
  );
  expect(existsSync(elsewhere)).toBe(false);
  await (await open('folders', join(folder, 'segments'))).close();
});

it('leaves it to the storage to say what else is wrong with a folder', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  await expect(open('folders', file)).rejects.toThrow(new RegExp(`^cannot use folder ${file} as object storage: `));
});

it('refuses another prefix of the bucket, unless nothing was stored', async () => {
  const { accessKeyId, secretAccessKey } = double.accounts[0]!;
  vi.stubEnv('AWS_ACCESS_KEY_ID', accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey);
  await fill('buckets', bucket('right'), 1);
  await expect(open('buckets', bucket('wrong'))).rejects.toThrow(
    /^s3:\/\/double\/wrong at \S+ \(us-east-1\) holds no segments, but sqlite \S+ knows of records there: [^\n]+prefix/,
  );
  await (await open('buckets', bucket('right'))).close();
  await fill('new', bucket('one'), 0);
  await (await open('new', bucket('two'))).close();
});
