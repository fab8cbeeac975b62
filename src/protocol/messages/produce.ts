import { defineApi } from '../api.ts';
import { array, int16, int32, int64, records, string, struct, uuid } from '../schema.ts';

/**
 * Advertised from version 0, as Kafka 4 does: librdkafka reads a higher minimum as "no compression" and silently sends
 * uncompressed (KAFKA-18659). Versions 0 to 2 are refused all the same.
 */
export const produce = defineApi({
  key: 0,
  name: 'Produce',
  versions: '3-13',
  advertisedMin: 0,
  flexibleFrom: 9,
  request: {
    transactionalId: string('0+', { nullable: '0+', default: null }),
    /** −1 all, 0 no answer, 1 leader. */
    acks: int16('0+'),
    timeoutMs: int32('0+'),
    topicData: array('0+', {
      name: string('0-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitionData: array('0+', {
        index: int32('0+'),
        records: records('0+', { nullable: '0+' }),
      }),
    }),
  },
  response: {
    responses: array('0+', {
      name: string('0-12', { ignorable: true }),
      topicId: uuid('13+', { ignorable: true }),
      partitionResponses: array('0+', {
        index: int32('0+'),
        errorCode: int16('0+'),
        baseOffset: int64('0+'),
        logAppendTimeMs: int64('2+', { default: -1n, ignorable: true }),
        logStartOffset: int64('5+', { default: -1n, ignorable: true }),
        recordErrors: array(
          '8+',
          {
            batchIndex: int32('0+'),
            batchIndexErrorMessage: string('0+', { nullable: '0+', default: null }),
          },
          { ignorable: true },
        ),
        errorMessage: string('8+', { nullable: '8+', default: null, ignorable: true }),
        currentLeader: struct(
          '10+',
          { leaderId: int32('0+', { default: -1 }), leaderEpoch: int32('0+', { default: -1 }) },
          { tag: 0, ignorable: true },
        ),
      }),
    }),
    throttleTimeMs: int32('1+', { ignorable: true }),
    nodeEndpoints: array(
      '10+',
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
