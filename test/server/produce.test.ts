import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { ZERO_UUID } from '../../src/common/uuid.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { batchOf, idempotent, valuesOf } from '../support/engine-fixture.ts';
import { buildBatch, plainBatch, type TestBatch } from '../support/record-batches.ts';
import { ServerFixture } from './server-fixture.ts';
import type { WireClient } from './wire-client.ts';

const TRANSACTIONAL = 0x10;
const ZSTD = 4;

async function open() {
  const fixture = await ServerFixture.open();
  const topicId = await fixture.parts.createTopic('t', 3);
  return { fixture, topicId, client: await fixture.client() };
}

type PartitionData = { index: number; records: Buffer[] | null };
const data = (index: number, batch: TestBatch): PartitionData => ({ index, records: [buildBatch(batch)] });

interface Sent {
  readonly acks?: number;
  readonly version?: number;
  readonly transactionalId?: string | null;
  readonly name?: string;
}

/** Produces to topic `t` and returns the answers per partition. */
async function send(client: WireClient, partitionData: PartitionData[], sent: Sent = {}) {
  const { acks = -1, version = 9, transactionalId = null, name = 't' } = sent;
  const topicData = [{ name, partitionData }];
  const { responses } = await client.call(produce, version, { acks, timeoutMs: 30_000, transactionalId, topicData });
  return responses[0]!.partitionResponses;
}

const codes = (answers: readonly { errorCode: number }[]) => answers.map(({ errorCode }) => errorCode);

describe('Produce', () => {
  it.each([3, 5, 8, 9, 12])('v%d stores batches and answers with their offsets', async (version) => {
    const { fixture, topicId, client } = await open();
    const answers = await send(client, [data(0, batchOf('a', 'b')), data(2, batchOf('c'))], { version });
    expect(answers).toMatchObject([
      { index: 0, errorCode: 0, baseOffset: 0n, logAppendTimeMs: -1n },
      { index: 2, errorCode: 0, baseOffset: 0n },
    ]);
    expect(await send(client, [data(0, batchOf('d'))], { version })).toMatchObject([{ baseOffset: 2n }]);
    expect(valuesOf(await fixture.parts.readAll({ topicId, partition: 0 }))).toEqual(['a', 'b', 'd']);
  });

  it('v13 names topics by id', async () => {
    const { topicId, client } = await open();
    const topicData = [topicId, 'unknown-id-of-22-charA', ZERO_UUID].map((id) => ({
      topicId: id,
      partitionData: [data(1, batchOf('x'))],
    }));
    const { responses } = await client.call(produce, 13, { acks: -1, timeoutMs: 30_000, topicData });
    expect(responses).toMatchObject([
      { topicId, partitionResponses: [{ errorCode: 0, baseOffset: 0n }] },
      { partitionResponses: [{ errorCode: Errors.UNKNOWN_TOPIC_ID }] },
      { partitionResponses: [{ errorCode: Errors.UNKNOWN_TOPIC_ID }] },
    ]);
    expect(responses[0]!.name).toBe('');
    expect(topicId).not.toBe(ZERO_UUID);
  });

  it('lets the good partitions succeed beside the bad ones', async () => {
    const { client } = await open();
    const broken = buildBatch(batchOf('broken'));
    broken[70]! ^= 1;
    const answers = await send(client, [
      { index: 0, records: [broken] },
      data(1, batchOf('good')),
      { index: 2, records: null },
      { index: 2, records: [] },
      data(3, batchOf('no such partition')),
      data(-1, batchOf('no such partition')),
      data(1, batchOf('twice')),
      data(2, { ...batchOf('x'), recordCount: 2 }),
    ]);
    expect(codes(answers)).toEqual([
      Errors.CORRUPT_MESSAGE,
      Errors.NONE,
      Errors.INVALID_RECORD,
      Errors.INVALID_REQUEST,
      Errors.UNKNOWN_TOPIC_OR_PARTITION,
      Errors.UNKNOWN_TOPIC_OR_PARTITION,
      Errors.INVALID_REQUEST,
      Errors.INVALID_REQUEST,
    ]);
    expect(answers[0]!.errorMessage).toMatch(/CRC/i);
  });

  it('refuses a producer id without an epoch or a sequence, alone among the batches of its segment', async () => {
    const { client } = await open();
    const producer = { producerId: 5n, producerEpoch: 0, baseSequence: 0 };
    const answers = await send(client, [
      data(0, { ...batchOf('x'), ...producer, producerEpoch: -1 }),
      data(1, { ...batchOf('x'), ...producer, baseSequence: -1 }),
      data(2, batchOf('good')),
    ]);
    expect(codes(answers)).toEqual([Errors.INVALID_RECORD, Errors.INVALID_RECORD, Errors.NONE]);
    expect(answers[0]!.errorMessage).toBe('the batch has a producer id but a negative epoch or base sequence');
  });

  it('answers a bad record with its index and what is wrong', async () => {
    const { client } = await open();
    const [answer] = await send(client, [
      data(0, { records: [{ value: 'a' }, { value: 'b', headers: [['x', 'y']] }], recordCount: 3, lastOffsetDelta: 2 }),
    ]);
    expect(answer!.errorCode).toBe(Errors.INVALID_RECORD);
    expect(answer!.errorMessage).not.toBeNull();
  });

  it.each([2, -2, 127])('refuses acks=%d everywhere', async (acks) => {
    const { client } = await open();
    expect(codes(await send(client, [data(0, batchOf('a')), data(1, batchOf('b'))], { acks }))).toEqual([21, 21]);
  });

  it('refuses transactional batches: 53 without a transactional id, a clear error that is not retried with one', async () => {
    const { fixture, topicId, client } = await open();
    const batch = { ...idempotent(1n, 0, 'x'), attributes: TRANSACTIONAL };
    const without = await send(client, [data(0, batch), data(1, batchOf('y'))]);
    expect(codes(without)).toEqual([53, 53]);
    const [withId] = await send(client, [data(0, batch)], { transactionalId: 'tx' });
    expect(withId).toMatchObject({ errorCode: Errors.INVALID_REQUEST });
    expect(withId!.errorMessage).toContain('transactions are not built yet');
    expect(await fixture.parts.readAll({ topicId, partition: 1 })).toEqual([]);
  });

  it('refuses zstd below version 7', async () => {
    const { client } = await open();
    const zstd = { ...batchOf('x'), attributes: ZSTD };
    expect(codes(await send(client, [data(0, zstd), data(1, batchOf('y'))], { version: 6 }))).toEqual([76, 0]);
  });

  it('refuses internal topics and unknown ones', async () => {
    const { client } = await open();
    expect(codes(await send(client, [data(0, batchOf('x'))], { name: '__consumer_offsets' }))).toEqual([17]);
    expect(codes(await send(client, [data(0, batchOf('x'))], { name: 'nowhere' }))).toEqual([3]);
  });

  it('answers a duplicate with its first offset, a gap with 45, and keeps pipelined sequences in order', async () => {
    const { client } = await open();
    const ids = Array.from({ length: 20 }, (_, i) =>
      client.send(produce, 9, {
        acks: -1,
        timeoutMs: 30_000,
        topicData: [{ name: 't', partitionData: [data(0, idempotent(7n, i * 2, `a${i}`, `b${i}`))] }],
      }),
    );
    for (const _ of ids) expect(await client.nextFrame()).toBeDefined();
    expect(await send(client, [data(0, idempotent(7n, 38, 'a19', 'b19'))])).toMatchObject([
      { errorCode: 0, baseOffset: 38n },
    ]);
    expect(codes(await send(client, [data(0, idempotent(7n, 44, 'gap'))]))).toEqual([45]);
  });

  it('acks=0: no answer, and the connection is closed when something failed', async () => {
    const { fixture, topicId, client } = await open();
    const body = (name: string) => ({
      acks: 0,
      timeoutMs: 1,
      topicData: [{ name, partitionData: [data(0, batchOf('quiet'))] }],
    });
    client.send(produce, 9, body('t'));
    expect(await send(client, [data(0, batchOf('loud'))])).toMatchObject([{ baseOffset: 1n }]);
    client.send(produce, 9, body('nowhere'));
    expect(await client.nextFrame()).toBeUndefined();
    expect(fixture.logged.join('\n')).toContain('failed with acks=0: code 3');
    expect(valuesOf(await fixture.parts.readAll({ topicId, partition: 0 }))).toEqual(['quiet', 'loud']);
  });

  it('drains: a batch that was accepted is stored and answered before the server closes', async () => {
    const fixture = await ServerFixture.open({ settings: { produceCommitIntervalMs: 200 } });
    const topicId = await fixture.parts.createTopic('t');
    const client = await fixture.client();
    const answer = send(client, [data(0, batchOf('last'))]);
    while (fixture.parts.engine.stats().bufferedBytes === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await fixture.server.close();
    expect(await answer).toMatchObject([{ errorCode: 0, baseOffset: 0n }]);
    await client.closed;
    expect(valuesOf(await fixture.parts.readAll({ topicId, partition: 0 }))).toEqual(['last']);
  });

  it('carries on for others while one client sends large batches', async () => {
    const { client, fixture } = await open();
    const other = await fixture.client();
    const large = send(client, [{ index: 0, records: [plainBatch(9, 100_000)] }]);
    expect(await send(other, [data(1, batchOf('small'))])).toMatchObject([{ errorCode: 0 }]);
    expect(await large).toMatchObject([{ errorCode: 0 }]);
  });
});
