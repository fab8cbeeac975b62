/** What clients with other leader epochs get (KIP-320), over the wire. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { listOffsets } from '../../src/protocol/messages/list-offsets.ts';
import { offsetForLeaderEpoch } from '../../src/protocol/messages/offset-for-leader-epoch.ts';
import { batchOf } from '../support/engine-fixture.ts';
import { ServerFixture } from './server-fixture.ts';

async function open() {
  const fixture = await ServerFixture.open();
  const topicId = await fixture.parts.createTopic('t', 2);
  await fixture.parts.append({ topicId, partition: 0 }, batchOf('a', 'b'));
  return { fixture, topicId, client: await fixture.client() };
}

describe('OffsetForLeaderEpoch', () => {
  it.each([2, 3, 4])('v%d answers the end of the one epoch there is, and none for others', async (version) => {
    const { client } = await open();
    const asked = (partition: number, leaderEpoch: number) => ({ partition, leaderEpoch });
    const topics = [
      { topic: 't', partitions: [asked(0, 0), asked(1, 0), asked(0, 1), asked(0, -1), asked(2, 0)] },
      { topic: 'none', partitions: [asked(0, 0)] },
    ];
    const answer = await client.call(offsetForLeaderEpoch, version, { topics });
    expect(answer.topics.map(({ topic }) => topic)).toEqual(['t', 'none']);
    expect(answer.topics.flatMap(({ partitions }) => partitions)).toEqual([
      { partition: 0, errorCode: 0, leaderEpoch: 0, endOffset: 2n },
      { partition: 1, errorCode: 0, leaderEpoch: 0, endOffset: 0n },
      { partition: 0, errorCode: 0, leaderEpoch: -1, endOffset: -1n },
      { partition: 0, errorCode: 0, leaderEpoch: -1, endOffset: -1n },
      { partition: 2, errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION, leaderEpoch: -1, endOffset: -1n },
      { partition: 0, errorCode: Errors.UNKNOWN_TOPIC_OR_PARTITION, leaderEpoch: -1, endOffset: -1n },
    ]);
  });

  it('fences clients whose metadata is older, and those whose is newer', async () => {
    const { client } = await open();
    const partitions = [-1, 0, -2, 1].map((currentLeaderEpoch) => ({
      partition: 0,
      currentLeaderEpoch,
      leaderEpoch: 0,
    }));
    const { topics } = await client.call(offsetForLeaderEpoch, 4, { topics: [{ topic: 't', partitions }] });
    expect(topics[0]!.partitions.map(({ errorCode, endOffset }) => [errorCode, endOffset])).toEqual([
      [0, 2n],
      [0, 2n],
      [Errors.FENCED_LEADER_EPOCH, -1n],
      [Errors.UNKNOWN_LEADER_EPOCH, -1n],
    ]);
  });
});

it('ListOffsets fences the same clients', async () => {
  const { client } = await open();
  const ask = async (version: number, currentLeaderEpoch: number) => {
    const partitions = [{ partitionIndex: 0, currentLeaderEpoch, timestamp: -1n }];
    const { topics } = await client.call(listOffsets, version, { topics: [{ name: 't', partitions }] });
    return topics[0]!.partitions[0];
  };
  expect(await ask(4, 0)).toEqual({ partitionIndex: 0, errorCode: 0, timestamp: -1n, offset: 2n, leaderEpoch: 0 });
  expect(await ask(11, -1)).toMatchObject({ errorCode: 0, offset: 2n });
  expect(await ask(4, -2)).toMatchObject({ errorCode: Errors.FENCED_LEADER_EPOCH, offset: -1n });
  expect(await ask(11, 1)).toMatchObject({ errorCode: Errors.UNKNOWN_LEADER_EPOCH, offset: -1n });
});
