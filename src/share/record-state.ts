/** The states of a record in a share partition (KIP-932, KIP-1191) and the moves between them. Pure. */
import { assert } from '../common/assert.ts';

/** Ids as they are persisted; ACQUIRED never is. */
export const RecordState = { AVAILABLE: 0, ACQUIRED: 1, ACKNOWLEDGED: 2, ARCHIVING: 3, ARCHIVED: 4 } as const;
export type RecordState = (typeof RecordState)[keyof typeof RecordState];

const NAMES = ['AVAILABLE', 'ACQUIRED', 'ACKNOWLEDGED', 'ARCHIVING', 'ARCHIVED'] as const;
export type RecordStateName = (typeof NAMES)[number];

export function recordStateName(state: RecordState): RecordStateName {
  return NAMES[state];
}

/** Nothing will be delivered again, and the start offset may pass. */
export function isTerminal(state: RecordState): boolean {
  return state === RecordState.ACKNOWLEDGED || state === RecordState.ARCHIVED;
}

/** Legal moves, by the state they leave; bit n stands for state n. AVAILABLE → ARCHIVED happens only by force. */
const MOVES = [
  (1 << RecordState.ACQUIRED) | (1 << RecordState.ARCHIVED),
  (1 << RecordState.AVAILABLE) |
    (1 << RecordState.ACKNOWLEDGED) |
    (1 << RecordState.ARCHIVING) |
    (1 << RecordState.ARCHIVED),
  0,
  1 << RecordState.ARCHIVED,
  0,
] as const;

/** Asserts that a record may go from one state to another; the callers have checked whatever a client can cause. */
export function assertTransition(from: RecordState, to: RecordState): void {
  assert((MOVES[from] >> to) & 1, `a record never goes from ${recordStateName(from)} to ${recordStateName(to)}`);
}
