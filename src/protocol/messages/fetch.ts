import { defineApi } from '../api.ts';
import { array, arrayOf, int8, int16, int32, int64, records, string, struct, uuid } from '../schema.ts';

export const fetch = defineApi({
  key: 1,
  name: 'Fetch',
  versions: '4-18',
  flexibleFrom: 12,
  request: {
    clusterId: string('12+', { nullable: '12+', tag: 0, default: null, ignorable: true }),
    /** −1 for a consumer. */
    replicaId: int32('0-14', { default: -1 }),
    replicaState: struct(
      '15+',
      { replicaId: int32('0+', { default: -1 }), replicaEpoch: int64('0+', { default: -1n }) },
      { tag: 1 },
    ),
    maxWaitMs: int32('0+'),
    minBytes: int32('0+'),
    maxBytes: int32('0+', { default: 0x7fffffff }),
    /** 0 read_uncommitted, 1 read_committed. */
    isolationLevel: int8('0+', { default: 0 }),
    /** 0 for a full fetch without a session. */
    sessionId: int32('7+', { ignorable: true }),
    /** −1 for a full fetch without a session, 0 to open one, then counting. */
    sessionEpoch: int32('7+', { default: -1, ignorable: true }),
    topics: array('0+', {
      topic: string('0-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitions: array('0+', {
        partition: int32('0+'),
        currentLeaderEpoch: int32('9+', { default: -1, ignorable: true }),
        fetchOffset: int64('0+'),
        lastFetchedEpoch: int32('12+', { default: -1 }),
        logStartOffset: int64('5+', { default: -1n, ignorable: true }),
        partitionMaxBytes: int32('0+'),
        replicaDirectoryId: uuid('17+', { tag: 0, ignorable: true }),
        highWatermark: int64('18+', { tag: 1, default: 0x7fffffffffffffffn, ignorable: true }),
      }),
    }),
    forgottenTopicsData: array('7+', {
      topic: string('0-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitions: arrayOf(int32, '0+'),
    }),
    rackId: string('11+', { ignorable: true }),
  },
  response: {
    throttleTimeMs: int32('1+', { ignorable: true }),
    errorCode: int16('7+', { ignorable: true }),
    sessionId: int32('7+'),
    responses: array('0+', {
      topic: string('0-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitions: array('0+', {
        partitionIndex: int32('0+'),
        errorCode: int16('0+'),
        highWatermark: int64('0+'),
        lastStableOffset: int64('0+', { default: -1n }),
        logStartOffset: int64('5+', { default: -1n, ignorable: true }),
        divergingEpoch: struct(
          '12+',
          { epoch: int32('0+', { default: -1 }), endOffset: int64('0+', { default: -1n }) },
          { tag: 0, ignorable: true },
        ),
        currentLeader: struct(
          '12+',
          { leaderId: int32('0+', { default: -1 }), leaderEpoch: int32('0+', { default: -1 }) },
          { tag: 1, ignorable: true },
        ),
        abortedTransactions: array(
          '0+',
          { producerId: int64('0+'), firstOffset: int64('0+') },
          { nullable: '0+', default: null },
        ),
        preferredReadReplica: int32('11+', { default: -1 }),
        records: records('0+', { nullable: '0+' }),
      }),
    }),
    nodeEndpoints: array(
      '16+',
      {
        nodeId: int32('0+'),
        host: string('0+'),
        port: int32('0+'),
        rack: string('0+', { nullable: '0+', default: null }),
      },
      { tag: 0, ignorable: true },
    ),
  },
});
