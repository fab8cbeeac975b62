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
  initializeState,
  type Operation,
  readState,
  type StateUpdate,
  summarizeState,
  writeState,
} from './share-coordinator-state.ts';

export interface ReadStateResult {
  /** NONE, INVALID_REQUEST (never initialised), FENCED_LEADER_EPOCH, COORDINATOR_NOT_AVAILABLE. */
  readonly error: ErrorCode;
  readonly state: CoordinatorShareState | undefined;
}

export interface Persister {
  initialize(key: SharePartitionKey, stateEpoch: number, startOffset: number): Promise<ErrorCode>;
  /** Takes a partition over: fences leaders with an older epoch. */
  read(key: SharePartitionKey, leaderEpoch: number): Promise<ReadStateResult>;
  write(key: SharePartitionKey, update: StateUpdate): Promise<ErrorCode>;
  summarize(keys: readonly SharePartitionKey[]): Promise<ReturnType<typeof summarizeState>[]>;
  delete(keys: readonly SharePartitionKey[]): Promise<void>;
}

interface Waiting {
  readonly apply: (state: CoordinatorShareState | undefined) => Operation;
  readonly answer: Deferred<Operation>;
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

  async read(key: SharePartitionKey, leaderEpoch: number): Promise<ReadStateResult> {
    const { error, state } = await this.#enqueue(key, (current) => readState(current, leaderEpoch));
    return { error, state: error === Errors.NONE ? state : undefined };
  }

  async write(key: SharePartitionKey, update: StateUpdate): Promise<ErrorCode> {
    return (await this.#enqueue(key, (state) => writeState(state, update, UPDATES_PER_SNAPSHOT))).error;
  }

  async summarize(keys: readonly SharePartitionKey[]): Promise<ReturnType<typeof summarizeState>[]> {
    const states = await this.#store.readShareStates(keys);
    return states.map((state) => summarizeState(fromStored(state)));
  }

  async delete(keys: readonly SharePartitionKey[]): Promise<void> {
    await Promise.all(
      keys.map((key) => this.#enqueue(key, () => ({ error: Errors.NONE, state: undefined, record: 'tombstone' }))),
    );
  }

  #enqueue(key: SharePartitionKey, apply: Waiting['apply']): Promise<Operation> {
    const id = `${partitionKey(key.topicIdPartition)}:${key.groupId}`;
    const waiting = { apply, answer: deferred<Operation>() };
    const queue = this.#queues.get(id);
    if (queue) {
      queue.push(waiting);
    } else {
      this.#queues.set(id, [waiting]);
      void this.#drain(id, key);
    }
    return waiting.answer.promise;
  }

  async #drain(id: string, key: SharePartitionKey): Promise<void> {
    for (let batch = this.#take(id); batch.length > 0; batch = this.#take(id)) await this.#run(key, batch);
    this.#queues.delete(id);
  }

  #take(id: string): Waiting[] {
    return this.#queues.get(id)!.splice(0);
  }

  /** Applies operations one after the other and stores what they come to in one guarded write. */
  async #run(key: SharePartitionKey, batch: readonly Waiting[]): Promise<void> {
    try {
      const stored = fromStored((await this.#store.readShareStates([key]))[0]);
      let state = stored;
      const operations = batch.map(({ apply }) => {
        const operation = apply(state);
        state = operation.state;
        return operation;
      });
      const error = state === stored ? Errors.NONE : await this.#replace(key, stored, state);
      batch.forEach(({ answer }, index) => {
        const operation = operations[index]!;
        answer.resolve(error === Errors.NONE ? operation : { ...operation, error });
      });
    } catch {
      // The store did not answer: whether the write happened is unknown, and the caller's records stay as they were.
      for (const { answer } of batch)
        answer.resolve({ error: Errors.COORDINATOR_NOT_AVAILABLE, state: undefined, record: null });
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
