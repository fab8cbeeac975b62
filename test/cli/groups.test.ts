/** `shoal groups` and `shoal share describe` against a running host. */
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { consumerGroupHeartbeat } from '../../src/protocol/messages/consumer-group-heartbeat.ts';
import { joinGroup } from '../../src/protocol/messages/join-group.ts';
import { formatEndpoint } from '../../src/server/listener.ts';
import { ServerFixture } from '../server/server-fixture.ts';
import { ShareClient } from '../server/share-client.ts';
import { batchOf } from '../support/engine-fixture.ts';
import { shoal } from './support/run-shoal.ts';

const GROUP = 'workers';

/** A host with a group whose member holds records 2 and 3, after record 0 was accepted and 1 released. */
async function open() {
  const fixture = await ServerFixture.open();
  const topicId = await fixture.parts.createTopic('jobs', 2);
  await fixture.parts.metadata.alterConfigs(`group:${GROUP}`, { 'share.auto.offset.reset': 'earliest' });
  for (const values of ['a', 'bc', 'd', 'e']) {
    await fixture.parts.append({ topicId, partition: 0 }, batchOf(...values));
  }
  const member = new ShareClient(await fixture.client(), GROUP, 'member-1');
  await member.heartbeat(['jobs']);
  await member.fetch(topicId, [0], [], { maxRecords: 4 });
  await member.acknowledge(topicId, [
    { first: 0, last: 0, types: [1] },
    { first: 1, last: 1, types: [2] },
  ]);
  return { fixture, bootstrap: ['--bootstrap', formatEndpoint(fixture.server.listener)] };
}

describe('shoal groups', () => {
  it('lists groups with type, state and members', async () => {
    const { bootstrap } = await open();
    const { code, out } = await shoal('groups', ...bootstrap);
    expect(code).toBe(0);
    expect(out).toBe('GROUP    TYPE   STATE   MEMBERS\nworkers  share  Stable        1\n');
    const json = await shoal('groups', '--json', ...bootstrap);
    expect(JSON.parse(json.out)).toEqual([{ group: GROUP, type: 'share', state: 'Stable', members: 1 }]);
  });

  it('lists groups of all types', async () => {
    const { bootstrap, fixture } = await open();
    const client = await fixture.client();
    await client.call(consumerGroupHeartbeat, 1, {
      groupId: 'readers',
      memberId: 'reader-1',
      memberEpoch: 0,
      rebalanceTimeoutMs: 30_000,
      subscribedTopicNames: ['jobs'],
      topicPartitions: [],
    });
    const joining = { groupId: 'old-readers', sessionTimeoutMs: 10_000, rebalanceTimeoutMs: 10_000, memberId: '' };
    const protocols = [{ name: 'range', metadata: new Uint8Array(6) }];
    await client.call(joinGroup, 3, { ...joining, protocolType: 'consumer', protocols });
    const { out } = await shoal('groups', '--json', ...bootstrap);
    expect(JSON.parse(out)).toMatchObject([
      { group: 'old-readers', type: 'classic', members: 1 },
      { group: 'readers', type: 'consumer', state: 'Stable', members: 1 },
      { group: GROUP, type: 'share', state: 'Stable', members: 1 },
    ]);
  });

  it('says that there are none', async () => {
    const { server } = await ServerFixture.open();
    expect((await shoal('groups', '--bootstrap', formatEndpoint(server.listener))).out).toBe('no groups\n');
  });

  it('says where nobody answers, and how to name another address', async () => {
    const { code, err } = await shoal('groups', '--bootstrap', '127.0.0.1:1');
    expect(code).toBe(1);
    expect(err).toBe('shoal: no broker answers at 127.0.0.1:1 (ECONNREFUSED); name one with --bootstrap HOST:PORT\n');
    expect((await shoal('groups', '--bootstrap', 'nonsense')).code).toBe(2);
  });
});

describe('an address where something else listens', () => {
  it.each([
    ['HTTP/1.1 400 Bad Request\r\n\r\n', "what it sends is not Kafka's protocol"],
    ['', 'it closed the connection'],
  ])('%j is told apart from a broker', async (answer, reason) => {
    const other = createServer((socket) => socket.end(answer));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const { code, err } = await shoal('groups', '--bootstrap', `127.0.0.1:${port}`);
    expect(code).toBe(1);
    expect(err).toContain(`the broker at 127.0.0.1:${port} did not answer: ${reason}`);
    other.close();
  });
});

describe('shoal share describe', () => {
  it('tells who holds which records', async () => {
    const { bootstrap } = await open();
    const { code, out } = await shoal('share', 'describe', GROUP, ...bootstrap);
    expect(code).toBe(0);
    const lines = out.split('\n').map((line) => line.replace(/ +/g, ' '));
    expect(lines).toContain('share group workers: Stable, epoch 1, 1 member');
    expect(lines).toContain('member-1 wire 127.0.0.1 1 jobs[0,1]');
    expect(lines).toContain('jobs 0 1 4 4 2 1 0 3×1');
    expect(lines.find((line) => line.startsWith('jobs 0 2-3'))).toMatch(/^jobs 0 2-3 member-1 1 in \d+\.\d s$/);
    expect(lines).toContain('jobs 1 - - - - - - -');
  });

  it('tells programs the same', async () => {
    const { bootstrap } = await open();
    const { out } = await shoal('share', 'describe', GROUP, '--json', ...bootstrap);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ group: GROUP, state: 'Stable', groupEpoch: 1 });
    expect(report.partitions[0]).toMatchObject({
      topic: 'jobs',
      partition: 0,
      startOffset: 1,
      lag: 4,
      inFlight: { nextOffset: 4, held: 2, waiting: 1, done: 0, deliveries: [{ deliveryCount: 1, records: 3 }] },
    });
    expect(report.partitions[0].inFlight.runs).toMatchObject([
      { firstOffset: 1, lastOffset: 1, state: 'available', deliveryCount: 1, memberId: null, lockRemainingMs: null },
      { firstOffset: 2, lastOffset: 3, state: 'acquired', deliveryCount: 1, memberId: 'member-1' },
    ]);
    expect(report.partitions[1]).toEqual({ topic: 'jobs', partition: 1, startOffset: null, lag: null, inFlight: null });
  });

  it('names a group that does not exist, and a command line that it cannot read', async () => {
    const { bootstrap } = await open();
    const unknown = await shoal('share', 'describe', 'none', ...bootstrap);
    expect(unknown.code).toBe(1);
    expect(unknown.err).toBe(
      'shoal: none is not a share group of this broker; shoal groups lists those that there are\n',
    );
    expect((await shoal('share', ...bootstrap, 'describe', 'none')).err).toBe(unknown.err);
    expect((await shoal('share', 'delete', GROUP)).code).toBe(2);
    expect((await shoal('share', 'describe')).code).toBe(2);
    expect((await shoal('share', '--help')).out).toContain('Usage: shoal share describe GROUP');
  });
});
