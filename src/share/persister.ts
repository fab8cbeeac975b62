/**
 * The persister: how a share-partition leader makes record states durable and finds them again (KIP-932). Main thread;
 * constructed by the engine over the coordinator's ShareStateStore.
 *
 * One write of a key at a time; what queues up behind it becomes one write, so that many small acknowledgements cost one
 * transaction. Crash points: before the store commits, nothing was answered and the old state delivers the records again;
 * after it, the state is found by whoever leads next. A leader that was replaced is fenced inside the same transaction.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import { type Deferred, deferred } from '../common/lifecycle.ts';
import { partitionKey } from '../common/topic-id-partition.ts';
import type { SharePartitionKey, SharePartitionState, ShareStateStore } from '../coordinator/share-state-store.ts';
import type { RecordState } from './record-state.ts';
import {
  type CoordinatorShareState,
  deleteState,
  initializeState,
  joinUpdates,
  type Operation,
  readState,
  type StateUpdate,
  summarizeState,
  writeState,
} from './share-coordinator-state.ts';
import { ShareWindow } from './share-window.ts';

export interface ReadStateResult {
  /** NONE, INVALID_REQUEST (never initialised), FENCED_LEADER_EPOCH, COORDINATOR_NOT_AVAILABLE. */
  readonly error: ErrorCode;
  readonly state: CoordinatorShareState | undefined;
}

export interface Persister {
  initialize(key: SharePartitionKey, stateEpoch: number, startOffset: number): Promise<ErrorCode>;
  /** The same for a key without state; one that has some keeps it, and that is no error. */
  initializeNew(key: SharePartitionKey, stateEpoch: number, startOffset: number): Promise<ErrorCode>;
  /**
   * Takes a share partition over under a leader epoch of its own, which is in the state: one more than that of whoever led
   * before, so that two leaders never have the same and the older one is fenced, in another process or in this one.
   */
  takeOver(key: SharePartitionKey): Promise<ReadStateResult>;
  write(key: SharePartitionKey, update: StateUpdate): Promise<ErrorCode>;
  /** Where groups stand, as whoever leads the share partitions next would find it. */
  summarize(keys: readonly SharePartitionKey[]): Promise<ReturnType<typeof summarizeState>[]>;
  /** In the order of the keys; one that has no state is fine. */
  delete(keys: readonly SharePartitionKey[]): Promise<ErrorCode[]>;
}

interface Waiting {
  readonly apply: (state: CoordinatorShareState | undefined) => Operation;
  /** Of a write: what it writes. */
  readonly update: StateUpdate | undefined;
  readonly answer: Deferred<Operation>;
}

/** What the store holds of a key, once that is known. */
interface Stored {
  readonly state: CoordinatorShareState | undefined;
}

/** Every state is stored whole, so each write is a snapshot of its own and none are counted. */
const UPDATES_PER_SNAPSHOT = 0;

export class StoredSharePersister implements Persister {
  readonly #store: ShareStateStore;
  /** Operations by key, in order; a key is present while one of its operations runs. */
  readonly #queues = new Map<string, Waiting[]>();

  constructor(store: ShareStateStore) {
    this.#store = store;
  }

  async initialize(key: SharePartitionKey, stateEpoch: number, startOffset: number): Promise<ErrorCode> {
    return (await this.#enqueue(key, (state) => initializeState(state, stateEpoch, startOffset))).error;
  }

  async initializeNew(key: SharePartitionKey, stateEpoch: number, startOffset: number): Promise<ErrorCode> {
    const { error } = await this.#enqueue(key, (state) =>
      state ? { error: Errors.NONE, state, record: null } : initializeState(state, stateEpoch, startOffset),
    );
    // Fenced where nothing was expected: another process has just made it.
    return error === Errors.FENCED_STATE_EPOCH ? Errors.NONE : error;
  }

  async takeOver(key: SharePartitionKey): Promise<ReadStateResult> {
    const { error, state } = await this.#enqueue(key, (current) =>
      readState(current, (current?.leaderEpoch ?? 0) + 1, UPDATES_PER_SNAPSHOT),
    );
    return { error, state: error === Errors.NONE ? state : undefined };
  }

  async write(key: SharePartitionKey, update: StateUpdate): Promise<ErrorCode> {
    return (await this.#enqueue(key, (state) => writeState(state, update, UPDATES_PER_SNAPSHOT), update)).error;
  }

  async summarize(keys: readonly SharePartitionKey[]): Promise<ReturnType<typeof summarizeState>[]> {
    const states = await this.#store.readShareStates(keys);
    return states.map((state) => summarizeState(asLoaded(fromStored(state))));
  }

  delete(keys: readonly SharePartitionKey[]): Promise<ErrorCode[]> {
    return Promise.all(keys.map(async (key) => (await this.#enqueue(key, deleteState)).error));
  }

  #enqueue(key: SharePartitionKey, apply: Waiting['apply'], update?: StateUpdate): Promise<Operation> {
    const id = `${partitionKey(key.topicIdPartition)}:${key.groupId}`;
    const waiting = { apply, update, answer: deferred<Operation>() };
    const queue = this.#queues.get(id);
    if (queue) {
      queue.push(waiting);
    } else {
      this.#queues.set(id, [waiting]);
      void this.#drain(id, key);
    }
    return waiting.answer.promise;
  }

  /**
   * Runs until nothing waits. What one write has stored is where the next one begins, so that it need not be read again:
   * the guard finds out when somebody else has written meanwhile.
   */
  async #drain(id: string, key: SharePartitionKey): Promise<void> {
    let known: Stored | undefined;
    for (let batch = this.#take(id); batch.length > 0; batch = this.#take(id)) {
      known = await this.#run(key, batch, known);
    }
    this.#queues.delete(id);
  }

  #take(id: string): Waiting[] {
    return this.#queues.get(id)!.splice(0);
  }

  /**
   * Applies operations one after the other and stores what they come to in one guarded write. Returns what is stored then;
   * undefined when that is not known.
   */
  async #run(
    key: SharePartitionKey,
    batch: readonly Waiting[],
    known: Stored | undefined,
  ): Promise<Stored | undefined> {
    try {
      const stored = known ? known.state : fromStored((await this.#store.readShareStates([key]))[0]);
      const { operations, state } = applyAll(stored, batch);
      const error = state === stored ? Errors.NONE : await this.#replace(key, stored, state);
      batch.forEach(({ answer }, index) => {
        const operation = operations[index]!;
        answer.resolve(error === Errors.NONE ? operation : { ...operation, error });
      });
      return error === Errors.NONE ? { state } : undefined;
    } catch {
      // The store did not answer: whether the write happened is unknown, and the caller's records stay as they were.
      for (const { answer } of batch)
        answer.resolve({ error: Errors.COORDINATOR_NOT_AVAILABLE, state: undefined, record: null });
      return undefined;
    }
  }

  async #replace(
    key: SharePartitionKey,
    stored: CoordinatorShareState | undefined,
    state: CoordinatorShareState | undefined,
  ): Promise<ErrorCode> {
    const expected = stored && { stateEpoch: stored.stateEpoch, leaderEpoch: stored.leaderEpoch };
    const [result] = await this.#store.writeShareStates([{ key, expected, state: state && toStored(state) }]);
    return result!.error;
  }
}

/** What operations come to, one after the other; what several writes in a row write is combined once for all of them. */
function applyAll(
  stored: CoordinatorShareState | undefined,
  batch: readonly Waiting[],
): { readonly operations: readonly Operation[]; readonly state: CoordinatorShareState | undefined } {
  const operations: Operation[] = [];
  let state = stored;
  while (operations.length < batch.length) {
    const row = writesInARow(batch, operations.length);
    const { apply } = batch[operations.length]!;
    const operation = row.length > 1 ? writeState(state, joinUpdates(row), UPDATES_PER_SNAPSHOT) : apply(state);
    state = operation.state;
    for (let i = 0; i < Math.max(1, row.length); i++) operations.push(operation);
  }
  return { operations, state };
}

/** Updates from an index on, as far as they are of the same epochs. */
function writesInARow(batch: readonly Waiting[], from: number): StateUpdate[] {
  const row: StateUpdate[] = [];
  for (let index = from; index < batch.length; index++) {
    const { update } = batch[index]!;
    const first = row[0] ?? update;
    if (!update || update.stateEpoch !== first!.stateEpoch || update.leaderEpoch !== first!.leaderEpoch) break;
    row.push(update);
  }
  return row;
}

/** A start offset is stored with the write after the one that moved it; whoever loads the state finds out. */
function asLoaded(state: CoordinatorShareState | undefined): CoordinatorShareState | undefined {
  if (!state || state.startOffset < 0) return state;
  const window = ShareWindow.load(state.startOffset, state.stateBatches);
  if (!window) return state;
  const { startOffset, deliveryCompleteCount } = window;
  return { ...state, startOffset, deliveryCompleteCount };
}

function fromStored(state: SharePartitionState | undefined): CoordinatorShareState | undefined {
  if (!state) return undefined;
  return {
    stateEpoch: state.stateEpoch,
    leaderEpoch: state.leaderEpoch,
    startOffset: Number(state.startOffset),
    deliveryCompleteCount: state.deliveryCompleteCount,
    snapshotEpoch: 0,
    updatesSinceSnapshot: 0,
    stateBatches: state.stateBatches.map((batch) => ({
      firstOffset: Number(batch.firstOffset),
      lastOffset: Number(batch.lastOffset),
      state: batch.deliveryState as RecordState,
      deliveryCount: batch.deliveryCount,
    })),
  };
}

function toStored(state: CoordinatorShareState): SharePartitionState {
  return {
    stateEpoch: state.stateEpoch,
    leaderEpoch: state.leaderEpoch,
    startOffset: BigInt(state.startOffset),
    deliveryCompleteCount: state.deliveryCompleteCount,
    stateBatches: state.stateBatches.map((batch) => ({
      firstOffset: BigInt(batch.firstOffset),
      lastOffset: BigInt(batch.lastOffset),
      deliveryState: batch.state,
      deliveryCount: batch.deliveryCount,
    })),
  };
}
