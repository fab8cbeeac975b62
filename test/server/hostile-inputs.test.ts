/**
 * The hostile inputs that concern frames and requests (numbers 66 to 83 of issue 8), each against a real host: what
 * Kafka does, a reason in the log where a connection ends, and other connections that notice nothing.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { decodeResponse } from '../../src/protocol/frames.ts';
import { apiVersions } from '../../src/protocol/messages/api-versions.ts';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { listOffsets } from '../../src/protocol/messages/list-offsets.ts';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { saslHandshake } from '../../src/protocol/messages/sasl-handshake.ts';
import { batchOf } from '../support/engine-fixture.ts';
import { plainBatch } from '../support/record-batches.ts';
import { ServerFixture } from './server-fixture.ts';
import type { WireClient } from './wire-client.ts';

const MIB = 1024 * 1024;
let fixture: ServerFixture;
let hostile: WireClient;
let other: WireClient;

beforeEach(async () => {
  fixture = await ServerFixture.open({ server: { settings: { autoCreateTopicsEnable: false } } });
  const topicId = await fixture.parts.createTopic('t', 2);
  await fixture.parts.append({ topicId, partition: 0 }, batchOf('a', 'b'));
  hostile = await fixture.client();
  other = await fixture.client();
});

/** Nobody else noticed, and nothing of it is held. */
afterEach(async () => {
  expect((await other.call(metadata, 9, { topics: [{ name: 't' }] })).topics[0]!.errorCode).toBe(0);
  while (fixture.server.stats().requestBytes > 0) await new Promise((resolve) => setTimeout(resolve, 1));
});

/** Fields as they lie on the wire: a number of so many bytes, or text as it is. */
function bytes(...fields: (readonly [size: 1 | 2 | 4, value: number] | string)[]): Buffer {
  return Buffer.concat(
    fields.map((field) => {
      if (typeof field === 'string') return Buffer.from(field);
      const [size, value] = field;
      const buffer = Buffer.alloc(size);
      buffer.writeIntBE(value, 0, size);
      return buffer;
    }),
  );
}

const sized = (body: Buffer): Buffer => Buffer.concat([bytes([4, body.length]), body]);
/** A request with correlation id 7 and client id "x". */
const request = (key: number, version: number, body: Buffer): Buffer =>
  sized(Buffer.concat([bytes([2, key], [2, version], [4, 7], [2, 1], 'x'), body]));

const TAGS_2_31 = Buffer.from('ffffffff07', 'hex');
const HEARTBEAT = 12;

describe('the connection is closed', () => {
  it.each<[number, string, Buffer, string]>([
    [66, 'a negative frame size', bytes([4, -1]), 'a frame claims -1 bytes'],
    [67, 'a frame above 100 MiB', bytes([4, 100 * MIB + 1]), 'a frame claims 104857601 bytes'],
    [68, 'a frame size of 0', bytes([4, 0]), 'a frame claims 0 bytes'],
    [69, 'an unknown API key', request(999, 0, bytes()), 'unknown API 999 v0 is not served'],
    [70, 'an unsupported version', request(1, 99, bytes()), 'Fetch v99 is not served'],
    [
      71,
      'an array count beyond the frame',
      request(3, 1, bytes([4, 2 ** 31 - 1])),
      'an array claims 2147483647 elements',
    ],
    [72, 'null where it must not be', request(HEARTBEAT, 0, bytes([2, -1])), 'groupId is null'],
    [
      73,
      'a string above 32767 bytes',
      request(HEARTBEAT, 4, Buffer.from('00808004', 'hex')),
      'a string claims 65535 bytes',
    ],
    [74, '2³¹−1 tagged fields', request(HEARTBEAT, 4, TAGS_2_31), '2147483647 tagged fields are claimed'],
    [
      75,
      'a tag beyond the frame',
      request(HEARTBEAT, 4, Buffer.from('0100ffff03', 'hex')),
      'tagged field 0 claims 65535 bytes',
    ],
  ])('%d: %s', async (_number, _name, frame, reason) => {
    const before = hostile.send(metadata, 9, { topics: [] });
    hostile.socket.write(frame);
    expect((await hostile.nextFrame())!.readInt32BE(0)).toBe(before);
    expect(await hostile.nextFrame()).toBeUndefined();
    const lines = fixture.logged.filter((line) => line.includes(reason));
    expect(lines).toHaveLength(1);
  });

  it('76: acks=0 with any error', async () => {
    const partitionData = [{ index: 9, records: [plainBatch(1, 10)] }];
    hostile.send(produce, 9, { acks: 0, timeoutMs: 1, topicData: [{ name: 't', partitionData }] });
    expect(await hostile.nextFrame()).toBeUndefined();
    expect(fixture.logged.join('\n')).toContain('Produce v9: partition 9 failed with acks=0');
  });
});

describe('an answer is given', () => {
  it('70: an unsupported ApiVersions, in version 0, with the versions there are', async () => {
    hostile.socket.write(request(apiVersions.key, 99, bytes('whatever')));
    const { correlationId, body } = decodeResponse(apiVersions, 0, (await hostile.nextFrame())!);
    expect([correlationId, body.errorCode]).toEqual([7, Errors.UNSUPPORTED_VERSION]);
    expect(body.apiKeys.length).toBeGreaterThan(20);
  });

  it('77: an attempt to authenticate, where nobody can', async () => {
    const { errorCode } = await hostile.call(saslHandshake, 1, { mechanism: 'PLAIN' });
    expect(errorCode).toBe(Errors.ILLEGAL_SASL_STATE);
  });

  it('78: bytes after the body, which are ignored', async () => {
    hostile.socket.write(request(3, 1, bytes([4, 0], 'and more')));
    expect((await hostile.nextFrame())!.readInt32BE(0)).toBe(7);
  });

  const offsets = async (version: number, ...timestamps: bigint[]) => {
    const partitions = timestamps.map((timestamp) => ({ partitionIndex: 0, timestamp }));
    const codes: number[] = [];
    for (const partition of partitions) {
      const { topics } = await hostile.call(listOffsets, version, { topics: [{ name: 't', partitions: [partition] }] });
      codes.push(topics[0]!.partitions[0]!.errorCode);
    }
    return codes;
  };

  it('79: special timestamps that are none, or too new for the version', async () => {
    expect(await offsets(11, -1n, -2n, -3n, -4n, -5n, -6n, -7n, -(2n ** 63n))).toEqual([0, 0, 0, 0, 0, 0, 35, 35]);
    expect(await offsets(10, -5n, -6n)).toEqual([0, 35]);
    expect(await offsets(8, -4n, -5n)).toEqual([0, 35]);
    expect(await offsets(7, -3n, -4n)).toEqual([0, 35]);
    expect(await offsets(1, -1n, -2n, -3n)).toEqual([0, 0, 35]);
  });

  it('80: a partition twice in ListOffsets', async () => {
    const partitions = [0, 1, 0].map((partitionIndex) => ({ partitionIndex, timestamp: -1n }));
    const { topics } = await hostile.call(listOffsets, 5, { topics: [{ name: 't', partitions }] });
    expect(topics[0]!.partitions.map(({ errorCode }) => errorCode)).toEqual([42, 0, 42]);
  });

  const asked = (fetchOffset: bigint) => [
    { topic: 't', partitions: [{ partition: 0, fetchOffset, partitionMaxBytes: 1 }] },
  ];
  const atOnce = { maxWaitMs: 0, minBytes: 0 };

  it('81 and 82: a fetch session that nobody opened, and one at another epoch', async () => {
    const unknown = { ...atOnce, sessionId: 12345, sessionEpoch: 3, topics: asked(0n) };
    expect((await hostile.call(fetch, 12, unknown)).errorCode).toBe(Errors.FETCH_SESSION_ID_NOT_FOUND);
    const { sessionId } = await other.call(fetch, 12, { ...atOnce, sessionEpoch: 0, topics: asked(2n) });
    const wrong = { ...atOnce, sessionId, sessionEpoch: 9, topics: [] };
    expect((await hostile.call(fetch, 12, wrong)).errorCode).toBe(Errors.INVALID_FETCH_SESSION_EPOCH);
    const right = await other.call(fetch, 12, { ...atOnce, sessionId, sessionEpoch: 1, topics: [] });
    expect(right).toMatchObject({ errorCode: 0, sessionId });
  });

  it('83: offsets below the start and above the end', async () => {
    const [{ topicId } = { topicId: '' }] = await fixture.parts.engine.listTopics();
    await fixture.parts.engine.deleteRecords([{ topicIdPartition: { topicId, partition: 0 }, beforeOffset: 1n }]);
    const codes: number[] = [];
    for (const offset of [-1n, 0n, 1n, 2n, 3n, 2n ** 63n - 1n]) {
      const { responses } = await hostile.call(fetch, 12, { ...atOnce, topics: asked(offset) });
      codes.push(responses[0]!.partitions[0]!.errorCode);
    }
    expect(codes).toEqual([1, 1, 0, 0, 1, 1]);
  });
});
