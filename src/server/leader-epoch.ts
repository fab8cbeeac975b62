/** The leader epoch that clients see, and what they get for another one (KIP-320). */
import { type ErrorCode, Errors } from '../common/errors.ts';

/** Nothing moves between brokers, so the epoch never changes: a log has this one from its first record to its end. */
export const LEADER_EPOCH = 0;

/** What a client writes that knows no epoch. */
export const NO_LEADER_EPOCH = -1;

/** Whether a client's metadata is as new as ours: NONE, FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH. */
export function checkLeaderEpoch(currentLeaderEpoch: number): ErrorCode {
  if (currentLeaderEpoch === NO_LEADER_EPOCH || currentLeaderEpoch === LEADER_EPOCH) return Errors.NONE;
  return currentLeaderEpoch < LEADER_EPOCH ? Errors.FENCED_LEADER_EPOCH : Errors.UNKNOWN_LEADER_EPOCH;
}
