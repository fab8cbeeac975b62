/** Two hosts on one database and one storage: any of them serves any partition, and each hears of the other's commits. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { parseEndpoint } from '../../src/server/listener.ts';
import { HostProcess } from '../server/host-process.ts';
import { WireClient } from '../server/wire-client.ts';
import { readRecords } from '../support/read-records.ts';
import { buildBatch } from '../support/record-batches.ts';
import { query, usePostgres } from './postgres-harness.ts';

const { url } = usePostgres();

const TOPIC = 'shared';

/** Made for this run: hosts refuse a database that knows of records in another folder. */
const database = `shoal-${randomUUID()}`;
beforeAll(() => query(url(), `CREATE DATABASE "${database}"`));
afterAll(() => query(url(), `DROP DATABASE "${database}"`));

function ownUrl(): string {
  const own = new URL(url());
  own.pathname = database;
  return own.href;
}

let folder: string;
const hosts: HostProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-two-hosts-'));
});
afterEach(async () => {
  for (const host of hosts.splice(0)) expect(await host.stop('SIGTERM')).toBe(0);
  rmSync(folder, { recursive: true, force: true });
});

async function connectTo(nodeId: number): Promise<WireClient> {
  const flags = ['--storage', join(folder, 'segments'), '--coordinator', ownUrl(), '--node-id', String(nodeId)];
  const host = await HostProcess.start({ data: join(folder, 'unused'), flags });
  hosts.push(host);
  expect(host.output).not.toMatch(/password|postgres:.*@/);
  return WireClient.connect(parseEndpoint(host.address));
}

async function send(client: WireClient, value: string): Promise<bigint> {
  const partitionData = [{ index: 0, records: [buildBatch({ records: [{ value }] })] }];
  const body = { acks: -1, timeoutMs: 30_000, topicData: [{ name: TOPIC, partitionData }] };
  const { errorCode, baseOffset } = (await client.call(produce, 9, body)).responses[0]!.partitionResponses[0]!;
  expect(errorCode).toBe(0);
  return baseOffset;
}

async function read(client: WireClient, fetchOffset: bigint): Promise<(string | null)[]> {
  const partitions = [{ partition: 0, fetchOffset, partitionMaxBytes: 1 << 20 }];
  const body = { maxWaitMs: 60_000, minBytes: 1, topics: [{ topic: TOPIC, partitions }] };
  const [data] = (await client.call(fetch, 11, body)).responses[0]!.partitions;
  expect(data!.errorCode).toBe(0);
  return readRecords([data!.records!]).map(({ value }) => value);
}

it('reads at one host what another stored, also when it waits for it', { timeout: 60_000 }, async () => {
  const [a, b] = [await connectTo(1), await connectTo(2)];
  await a.call(metadata, 9, { topics: [{ name: TOPIC }] });
  expect(await send(a, 'from a')).toBe(0n);
  let known = 3;
  while (known === 3) known = (await b.call(metadata, 9, { topics: [{ name: TOPIC }] })).topics[0]!.errorCode;
  expect(known).toBe(0);
  expect(await send(b, 'from b')).toBe(1n);
  expect(await read(a, 0n)).toEqual(['from a', 'from b']);
  const waiting = read(b, 2n);
  expect(await send(a, 'news')).toBe(2n);
  expect(await waiting).toEqual(['news']);
});
