/** The tables against an independent implementation: kafkajs writes what we read, and reads what we write. */
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import type { Api } from '../../src/protocol/api.ts';
import { apis } from '../../src/protocol/apis.ts';
import { encodeResponse, readRequestBody, readRequestHeader } from '../../src/protocol/frames.ts';
import { Reader } from '../../src/protocol/reader.ts';

const require = createRequire(import.meta.url);

interface KafkajsEncoder {
  readonly buffer: Buffer;
}
interface KafkajsMessage {
  readonly request: object;
  readonly response: { decode(raw: Buffer): Promise<Record<string, unknown>> };
}
type KafkajsVersions = { protocol(of: { version: number }): (options: object) => KafkajsMessage };

const kafkajs = (api: string, version: number, options: object) =>
  (require(`kafkajs/src/protocol/requests/${api}`) as KafkajsVersions).protocol({ version })(options);
const frameOf = require('kafkajs/src/protocol/request') as (of: object) => Promise<KafkajsEncoder>;

/** What our reader makes of a kafkajs request. */
async function readKafkajs(folder: string, version: number, options: object, api: Api) {
  const { request } = kafkajs(folder, version, options);
  const { buffer } = await frameOf({ request, correlationId: 77, clientId: 'oracle' });
  expect(buffer.readInt32BE(0)).toBe(buffer.length - 4);
  const reader = new Reader(buffer.subarray(4));
  const header = readRequestHeader(reader);
  expect(header).toEqual({ apiKey: api.key, apiVersion: version, correlationId: 77, clientId: 'oracle' });
  const body = readRequestBody(api, version, reader);
  expect(reader.remaining).toBe(0);
  return body;
}

/** What kafkajs makes of our response. */
async function kafkajsReads(folder: string, version: number, options: object, api: Api, response: object) {
  const frame = Buffer.concat(encodeResponse(api, version, 1, response as Record<string, never>));
  return kafkajs(folder, version, options).response.decode(frame.subarray(8));
}

const of = (api: unknown): Api => api as Api;

describe('requests that kafkajs writes', () => {
  it.each([0, 1, 2, 3, 4, 5, 6])('Metadata v%d', async (version) => {
    const body = await readKafkajs('metadata', version, { topics: ['a', 'bc'] }, of(apis.metadata));
    expect(body.topics).toMatchObject([{ name: 'a' }, { name: 'bc' }]);
  });

  it.each([3, 4, 5, 6, 7])('Produce v%d', async (version) => {
    const messages = [{ key: null, value: 'v', timestamp: 1_700_000_000_000, headers: {} }];
    const topicData = [{ topic: 't', partitions: [{ partition: 3, firstSequence: 4, messages }] }];
    const options = { acks: -1, timeout: 1234, transactionalId: null, producerId: 9n, producerEpoch: 2, topicData };
    const body = await readKafkajs('produce', version, options, of(apis.produce));
    expect(body).toMatchObject({
      transactionalId: null,
      acks: -1,
      timeoutMs: 1234,
      topicData: [{ name: 't', partitionData: [{ index: 3 }] }],
    });
  });

  it.each([4, 5, 6, 7, 8, 9, 10, 11])('Fetch v%d', async (version) => {
    const topics = [
      { topic: 't', partitions: [{ partition: 1, fetchOffset: '70', maxBytes: 999, currentLeaderEpoch: 5 }] },
    ];
    const options = {
      replicaId: -1,
      maxWaitTime: 500,
      minBytes: 2,
      maxBytes: 5000,
      isolationLevel: 1,
      topics,
      rackId: 'r',
    };
    const body = await readKafkajs('fetch', version, options, of(apis.fetch));
    expect(body).toMatchObject({
      replicaId: -1,
      maxWaitMs: 500,
      minBytes: 2,
      maxBytes: 5000,
      isolationLevel: 1,
      topics: [{ topic: 't', partitions: [{ partition: 1, fetchOffset: 70n, partitionMaxBytes: 999 }] }],
    });
  });

  it.each([1, 2, 3])('ListOffsets v%d', async (version) => {
    const topics = [{ topic: 't', partitions: [{ partition: 1, timestamp: -2 }] }];
    const body = await readKafkajs(
      'listOffsets',
      version,
      { replicaId: -1, isolationLevel: 0, topics },
      of(apis.listOffsets),
    );
    expect(body.topics).toMatchObject([{ name: 't', partitions: [{ partitionIndex: 1, timestamp: -2n }] }]);
  });

  it.each([0, 1, 2, 3, 4, 5])('JoinGroup v%d', async (version) => {
    const groupProtocols = [{ name: 'range', metadata: Buffer.from('meta') }];
    const options = {
      groupId: 'g',
      sessionTimeout: 10,
      rebalanceTimeout: 20,
      memberId: 'm',
      protocolType: 'consumer',
      groupProtocols,
    };
    const body = await readKafkajs('joinGroup', version, options, of(apis.joinGroup));
    expect(body).toMatchObject({ groupId: 'g', sessionTimeoutMs: 10, rebalanceTimeoutMs: version === 0 ? -1 : 20 });
    expect(body.protocols).toEqual([{ name: 'range', metadata: Buffer.from('meta') }]);
  });

  it.each([0, 1, 2, 3])('SyncGroup v%d', async (version) => {
    const groupAssignment = [{ memberId: 'm', memberAssignment: Buffer.from('as') }];
    const body = await readKafkajs(
      'syncGroup',
      version,
      { groupId: 'g', generationId: 4, memberId: 'm', groupAssignment },
      of(apis.syncGroup),
    );
    expect(body).toMatchObject({ generationId: 4, assignments: [{ memberId: 'm', assignment: Buffer.from('as') }] });
  });

  it.each([2, 3, 4, 5])('OffsetCommit v%d', async (version) => {
    const topics = [{ topic: 't', partitions: [{ partition: 0, offset: '12', metadata: null }] }];
    const options = { groupId: 'g', groupGenerationId: 3, memberId: 'm', retentionTime: -1, topics };
    const body = await readKafkajs('offsetCommit', version, options, of(apis.offsetCommit));
    expect(body).toMatchObject({ generationIdOrMemberEpoch: 3, topics: [{ partitions: [{ committedOffset: 12n }] }] });
  });

  it.each([1, 2, 3, 4])('OffsetFetch v%d', async (version) => {
    const topics = [{ topic: 't', partitions: [{ partition: 6 }] }];
    const body = await readKafkajs('offsetFetch', version, { groupId: 'g', topics }, of(apis.offsetFetch));
    expect(body).toMatchObject({ groupId: 'g', topics: [{ name: 't', partitionIndexes: [6] }] });
  });

  it.each([2, 3])('CreateTopics v%d', async (version) => {
    const topics = [{ topic: 't', numPartitions: 3, replicationFactor: 1, configEntries: [{ name: 'a', value: 'b' }] }];
    const body = await readKafkajs(
      'createTopics',
      version,
      { topics, validateOnly: true, timeout: 5 },
      of(apis.createTopics),
    );
    expect(body).toMatchObject({
      validateOnly: true,
      topics: [{ numPartitions: 3, configs: [{ name: 'a', value: 'b' }] }],
    });
  });

  it.each([0, 1])('InitProducerId v%d', async (version) => {
    const body = await readKafkajs(
      'initProducerId',
      version,
      { transactionalId: undefined, transactionTimeout: 7 },
      of(apis.initProducerId),
    );
    expect(body).toMatchObject({ transactionalId: null, transactionTimeoutMs: 7, producerId: -1n });
  });
});

describe('responses that kafkajs reads', () => {
  it.each([0, 1, 2, 3, 4, 5, 6])('Metadata v%d', async (version) => {
    const response = {
      brokers: [{ nodeId: 4, host: 'h', port: 9, rack: null }],
      clusterId: 'c',
      controllerId: 4,
      topics: [
        {
          errorCode: 0,
          name: 't',
          partitions: [{ errorCode: 0, partitionIndex: 2, leaderId: 4, replicaNodes: [4], isrNodes: [4] }],
        },
      ],
    };
    expect(await kafkajsReads('metadata', version, { topics: [] }, of(apis.metadata), response)).toMatchObject({
      brokers: [{ nodeId: 4, host: 'h', port: 9 }],
      topicMetadata: [{ topic: 't', partitionMetadata: [{ partitionId: 2, leader: 4, replicas: [4], isr: [4] }] }],
    });
  });

  it.each([3, 4, 5, 6, 7])('Produce v%d', async (version) => {
    const partitionResponses = [
      { index: 1, errorCode: 0, baseOffset: 2n ** 40n, logAppendTimeMs: -1n, logStartOffset: 3n },
    ];
    const options = { acks: -1, timeout: 1, topicData: [] };
    const read = await kafkajsReads('produce', version, options, of(apis.produce), {
      responses: [{ name: 't', partitionResponses }],
    });
    expect(read).toMatchObject({
      topics: [{ topicName: 't', partitions: [{ partition: 1, baseOffset: '1099511627776' }] }],
    });
  });

  it.each([4, 5, 6, 7, 8, 9, 10, 11])('Fetch v%d', async (version) => {
    const partition = {
      partitionIndex: 1,
      errorCode: 0,
      highWatermark: 9n,
      lastStableOffset: 9n,
      abortedTransactions: [],
      records: [],
    };
    const read = await kafkajsReads('fetch', version, { topics: [] }, of(apis.fetch), {
      responses: [{ topic: 't', partitions: [partition] }],
    });
    expect(read).toMatchObject({
      responses: [{ topicName: 't', partitions: [{ partition: 1, highWatermark: '9', messages: [] }] }],
    });
  });

  it.each([0, 1, 2, 3, 4, 5])('JoinGroup v%d', async (version) => {
    const response = {
      errorCode: 0,
      generationId: 8,
      protocolName: 'range',
      leader: 'a',
      memberId: 'a',
      members: [{ memberId: 'a', metadata: Buffer.from('x') }],
    };
    const read = await kafkajsReads('joinGroup', version, { groupProtocols: [] }, of(apis.joinGroup), response);
    expect(read).toMatchObject({
      generationId: 8,
      groupProtocol: 'range',
      leaderId: 'a',
      members: [{ memberId: 'a' }],
    });
  });

  it.each([1, 2, 3, 4])('OffsetFetch v%d', async (version) => {
    const partitions = [{ partitionIndex: 0, committedOffset: 12n, metadata: null, errorCode: 0 }];
    const read = await kafkajsReads('offsetFetch', version, { topics: [] }, of(apis.offsetFetch), {
      topics: [{ name: 't', partitions }],
    });
    expect(read).toMatchObject({ responses: [{ topic: 't', partitions: [{ partition: 0, offset: '12' }] }] });
  });

  it.each([0, 1, 2])('ApiVersions v%d', async (version) => {
    const response = { errorCode: 0, apiKeys: [{ apiKey: 18, minVersion: 0, maxVersion: 4 }] };
    const read = await kafkajsReads('apiVersions', version, {}, of(apis.apiVersions), response);
    expect(read).toMatchObject({ errorCode: 0, apiVersions: [{ apiKey: 18, minVersion: 0, maxVersion: 4 }] });
  });
});
