/**
 * The state of one share partition as the share coordinator keeps it, and the rules of each request on it: fencing by
 * state and leader epoch, a start offset that never goes back, combining, snapshot cadence (KIP-932, KIP-1226). Pure:
 * every operation returns the next state; the caller makes it durable before it answers.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { StateBatch } from './share-window.ts';
import { combineStateBatches } from './state-batch-combiner.ts';

export interface CoordinatorShareState {
  readonly stateEpoch: number;
  readonly leaderEpoch: number;
  /** −1: not known yet. */
  readonly startOffset: number;
  /** −1: not known yet. */
  readonly deliveryCompleteCount: number;
  readonly stateBatches: readonly StateBatch[];
  /** Counts snapshots; updates since the last one decide when the next is due. */
  readonly snapshotEpoch: number;
  readonly updatesSinceSnapshot: number;
}

/** What an operation leaves in a log: everything, a change, an end, or nothing. */
export type LogRecordKind = 'snapshot' | 'update' | 'tombstone' | null;

export interface Operation {
  readonly error: ErrorCode;
  /** The state afterwards; undefined for a key that has none. */
  readonly state: CoordinatorShareState | undefined;
  readonly record: LogRecordKind;
}

type State = CoordinatorShareState | undefined;

function refuse(error: ErrorCode, state: State): Operation {
  return { error, state, record: null };
}

/** A new state epoch, or a new start offset in the same one, resets everything but the leader epoch. */
export function initializeState(state: State, stateEpoch: number, startOffset: number): Operation {
  if (state && stateEpoch < state.stateEpoch) return refuse(Errors.FENCED_STATE_EPOCH, state);
  if (state && stateEpoch === state.stateEpoch && startOffset === state.startOffset) return refuse(Errors.NONE, state);
  const next: CoordinatorShareState = {
    stateEpoch,
    leaderEpoch: state?.leaderEpoch ?? 0,
    startOffset,
    deliveryCompleteCount: startOffset === -1 ? -1 : 0,
    stateBatches: [],
    snapshotEpoch: (state?.snapshotEpoch ?? -1) + 1,
    updatesSinceSnapshot: 0,
  };
  return { error: Errors.NONE, state: next, record: 'snapshot' };
}

/** What a change comes to in the log: after `updatesPerSnapshot` updates it is a snapshot. */
function changed(state: CoordinatorShareState, updatesPerSnapshot: number): Operation {
  if (state.updatesSinceSnapshot >= updatesPerSnapshot) {
    const next = { ...state, snapshotEpoch: state.snapshotEpoch + 1, updatesSinceSnapshot: 0 };
    return { error: Errors.NONE, state: next, record: 'snapshot' };
  }
  const next = { ...state, updatesSinceSnapshot: state.updatesSinceSnapshot + 1 };
  return { error: Errors.NONE, state: next, record: 'update' };
}

/** A leader takes over: its epoch is recorded when it is newer, and fences the leaders before it. */
export function readState(state: State, leaderEpoch: number, updatesPerSnapshot: number): Operation {
  if (!state) return refuse(Errors.INVALID_REQUEST, state);
  if (leaderEpoch < state.leaderEpoch) return refuse(Errors.FENCED_LEADER_EPOCH, state);
  if (leaderEpoch === state.leaderEpoch) return refuse(Errors.NONE, state);
  return changed({ ...state, leaderEpoch }, updatesPerSnapshot);
}

export interface StateUpdate {
  readonly stateEpoch: number;
  readonly leaderEpoch: number;
  /** −1: unchanged. */
  readonly startOffset: number;
  readonly deliveryCompleteCount: number;
  readonly stateBatches: readonly StateBatch[];
}

/** The count belongs to its start offset: a request that is behind keeps the stored one. */
function completeCount(
  state: Pick<CoordinatorShareState, 'startOffset' | 'deliveryCompleteCount'>,
  update: StateUpdate,
): number {
  if (update.startOffset < state.startOffset) return state.deliveryCompleteCount;
  if (update.startOffset > state.startOffset) return update.deliveryCompleteCount;
  return Math.max(state.deliveryCompleteCount, update.deliveryCompleteCount);
}

/**
 * Writes of the same epochs, one after the other, as one that comes to the same: per offset the greatest count and state
 * win in any order, and so does the greatest start offset.
 */
export function joinUpdates(updates: readonly StateUpdate[]): StateUpdate {
  const [first, ...others] = updates as [StateUpdate, ...StateUpdate[]];
  let { startOffset, deliveryCompleteCount } = first;
  for (const update of others) {
    deliveryCompleteCount = completeCount({ startOffset, deliveryCompleteCount }, update);
    startOffset = Math.max(startOffset, update.startOffset);
  }
  return { ...first, startOffset, deliveryCompleteCount, stateBatches: updates.flatMap((one) => one.stateBatches) };
}

/** Writes state batches; epochs are checked, and stay. */
export function writeState(state: State, update: StateUpdate, updatesPerSnapshot: number): Operation {
  if (!state) return refuse(Errors.INVALID_REQUEST, state);
  if (update.leaderEpoch < state.leaderEpoch) return refuse(Errors.FENCED_LEADER_EPOCH, state);
  if (update.stateEpoch < state.stateEpoch) return refuse(Errors.FENCED_STATE_EPOCH, state);
  const startOffset = Math.max(state.startOffset, update.startOffset);
  const next: CoordinatorShareState = {
    ...state,
    startOffset,
    deliveryCompleteCount: completeCount(state, update),
    stateBatches: combineStateBatches(state.stateBatches, update.stateBatches, startOffset),
  };
  return changed(next, updatesPerSnapshot);
}

/** What monitoring sees; an unknown key answers defaults. */
export function summarizeState(
  state: State,
): Omit<CoordinatorShareState, 'stateBatches' | 'snapshotEpoch' | 'updatesSinceSnapshot'> {
  if (!state) return { startOffset: -1, deliveryCompleteCount: -1, leaderEpoch: 0, stateEpoch: 0 };
  const { startOffset, deliveryCompleteCount, leaderEpoch, stateEpoch } = state;
  return { startOffset, deliveryCompleteCount, leaderEpoch, stateEpoch };
}

export function deleteState(state: State): Operation {
  return { error: Errors.NONE, state: undefined, record: state ? 'tombstone' : null };
}
