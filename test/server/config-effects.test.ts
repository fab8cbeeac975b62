/** What is set over the wire holds for the next request. */
import { expect, it, vi } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import type { Uuid } from '../../src/common/uuid.ts';
import { ListOffsetsTimestamp } from '../../src/coordinator/diskless-coordinator.ts';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { ConfigResourceType } from '../../src/server/configs/config-target.ts';
import { sample } from '../record/compression/samples.ts';
import { buildBatch, plainBatch } from '../support/record-batches.ts';
import { ServerFixture, type ServerFixtureOptions } from './server-fixture.ts';
import { setConfigs } from './set-configs.ts';
import type { WireClient } from './wire-client.ts';

const GZIP = 1;
const CODEC_BITS = 0x07;
const HOUR_MS = 3_600_000;

async function open(options: ServerFixtureOptions = {}) {
  const fixture = await ServerFixture.open(options);
  const topicId = await fixture.parts.createTopic('t');
  return { fixture, topicId, client: await fixture.client() };
}

/** Sets (or with null deletes) a config of topic `t`, or of all brokers. */
async function set(client: WireClient, name: string, value: string | null, type: number = ConfigResourceType.topic) {
  const resource = type === ConfigResourceType.topic ? 't' : '';
  expect((await setConfigs(client, type, resource, { [name]: value })).errorMessage).toBeNull();
}

async function send(client: WireClient, records: Buffer) {
  const topicData = [{ name: 't', partitionData: [{ index: 0, records: [records] }] }];
  const request = { acks: -1, timeoutMs: 30_000, transactionalId: null, topicData };
  return (await client.call(produce, 9, request)).responses[0]!.partitionResponses[0]!;
}

async function earliest(fixture: ServerFixture, topicId: Uuid): Promise<bigint> {
  const topicIdPartition = { topicId, partition: 0 };
  const [found] = await fixture.parts.engine.listOffsets([
    { topicIdPartition, timestamp: ListOffsetsTimestamp.earliest },
  ]);
  return found!.offset;
}

it('max.message.bytes', async () => {
  const { client } = await open();
  await set(client, 'max.message.bytes', '1000');
  expect((await send(client, plainBatch(1, 2_000))).errorCode).toBe(Errors.MESSAGE_TOO_LARGE);
  await set(client, 'max.message.bytes', null);
  expect((await send(client, plainBatch(1, 2_000))).errorCode).toBe(0);
});

it('message.timestamp.type and its limits', async () => {
  const { client } = await open();
  const old = { baseTimestamp: BigInt(Date.now() - HOUR_MS), maxTimestamp: BigInt(Date.now() - HOUR_MS) };
  expect(await send(client, plainBatch(1, 10, old))).toMatchObject({ errorCode: 0, logAppendTimeMs: -1n });
  await set(client, 'message.timestamp.before.max.ms', '60000');
  expect((await send(client, plainBatch(1, 10, old))).errorCode).toBe(Errors.INVALID_TIMESTAMP);
  await set(client, 'message.timestamp.type', 'LogAppendTime');
  const appended = await send(client, plainBatch(1, 10, old));
  expect(appended.errorCode).toBe(0);
  expect(appended.logAppendTimeMs).toBeGreaterThan(old.maxTimestamp);
});

/** The batch that holds an offset, alone or with those after it. */
async function stored(client: WireClient, fetchOffset: bigint): Promise<Buffer> {
  const { responses } = await client.call(fetch, 4, {
    maxWaitMs: 10_000,
    minBytes: 1,
    topics: [{ topic: 't', partitions: [{ partition: 0, fetchOffset, partitionMaxBytes: 1_000_000 }] }],
  });
  return Buffer.from(responses[0]!.partitions[0]!.records!);
}

it('compression.type', async () => {
  const { client } = await open();
  await set(client, 'compression.type', 'gzip');
  await send(client, plainBatch(50, 100));
  expect((await stored(client, 0n)).readInt16BE(21) & CODEC_BITS).toBe(GZIP);
});

it.for([
  ['gzip', '1', '9'],
  ['zstd', '-50', '19'],
] as const)('compression.%s.level', async ([codec, low, high]) => {
  const { client } = await open();
  await set(client, 'compression.type', codec);
  const batch = buildBatch({ records: [{ value: sample('json', 20_000, 1) }] });
  const sizes: number[] = [];
  for (const level of [low, high]) {
    await set(client, `compression.${codec}.level`, level);
    const { baseOffset } = await send(client, batch);
    sizes.push((await stored(client, baseOffset)).length);
  }
  expect(sizes[1]).toBeLessThan(sizes[0]! * 0.95);
});

it('retention.ms, without waiting for the next check', async () => {
  const { client, fixture, topicId } = await open({ settings: { retentionCheckIntervalMs: HOUR_MS } });
  await send(client, plainBatch(3, 10, { baseTimestamp: 1_000n, maxTimestamp: 1_000n }));
  expect(await earliest(fixture, topicId)).toBe(0n);
  await set(client, 'retention.ms', '1000');
  await vi.waitFor(async () => expect(await earliest(fixture, topicId)).toBe(3n), { timeout: 20_000 });
});

it('log.retention.ms of all brokers', async () => {
  const { client, fixture, topicId } = await open({ settings: { retentionCheckIntervalMs: 20 } });
  await send(client, plainBatch(3, 10, { baseTimestamp: 1_000n, maxTimestamp: 1_000n }));
  await set(client, 'log.retention.ms', '1000', ConfigResourceType.broker);
  expect(await earliest(fixture, topicId)).toBe(0n);
  await set(client, 'retention.ms', null);
  await vi.waitFor(async () => expect(await earliest(fixture, topicId)).toBe(3n), { timeout: 20_000 });
});
