/** The guard of share state writes: pure, shared by all implementations. */
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { ShareStateWrite } from './share-state-store.ts';

type Epochs = { readonly stateEpoch: number; readonly leaderEpoch: number };

/**
 * Whether what is stored is what the writer saw. State that one side has and the other has not counts as another state
 * epoch: it was initialized or deleted meanwhile.
 */
export function shareWriteError(stored: Epochs | undefined, expected: ShareStateWrite['expected']): ErrorCode {
  if (stored?.stateEpoch !== expected?.stateEpoch) return Errors.FENCED_STATE_EPOCH;
  return stored?.leaderEpoch === expected?.leaderEpoch ? Errors.NONE : Errors.FENCED_LEADER_EPOCH;
}
