/** Why a heartbeat is refused, where consumer groups and share groups say the same. */
import { type ErrorCode, Errors } from '../common/errors.ts';

export interface Refusal {
  readonly error: ErrorCode;
  readonly message: string;
}

/** A member that a request is about, or why it cannot be. */
export type Found<M> = { readonly member: M } | Refusal;

export function groupFull(limit: number): Refusal {
  return { error: Errors.GROUP_MAX_SIZE_REACHED, message: `The group has its limit of ${limit} members.` };
}

/** @param actual the epoch that the member is in */
export function epochFenced(given: number, actual: number): Refusal {
  const message = `Member epoch ${given} is not ${actual}: abandon all partitions and rejoin.`;
  return { error: Errors.FENCED_MEMBER_EPOCH, message };
}
