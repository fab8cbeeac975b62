/** What ShareFetch and ShareAcknowledge have in common. */
import { array, arrayOf, int8, int32, int64, string, struct } from '../schema.ts';

/** In a request: what the member says of records that it holds. */
export const acknowledgementBatches = array('0+', {
  firstOffset: int64('0+'),
  lastOffset: int64('0+'),
  /** One for all offsets, or one for each: 0 gap, 1 accept, 2 release, 3 reject, 4 renew (version 2). */
  acknowledgeTypes: arrayOf(int8, '0+'),
});

/** Of a partition in a response: −1 unless the error is that this broker does not lead it. */
export const currentLeader = struct('0+', {
  leaderId: int32('0+', { default: -1 }),
  leaderEpoch: int32('0+', { default: -1 }),
});

/** In a response: where the leaders named in it are. */
export const nodeEndpoints = array('0+', {
  nodeId: int32('0+'),
  host: string('0+'),
  port: int32('0+'),
  rack: string('0+', { nullable: '0+', default: null }),
});
