/**
 * One group's place in the coordinator: the queue that serializes what happens to it, its state machine, its timer.
 *
 * Everything that touches the machine runs inside `run`, one operation at a time. An operation changes the machine and
 * ends with `settle`: store what changed, then send the answers. Crash points: before the store resolves nobody has
 * heard of the change; after it, clients whose answer was lost find the change when they ask again.
 */
import { ApiError, type ErrorCode, Errors } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { Time, Timer } from '../common/time.ts';
import { CoordinatorError, type CoordinatorErrorKind } from '../coordinator/diskless-coordinator.ts';
import type { GroupStore } from '../coordinator/group-store.ts';
import type { GroupContext } from './group.ts';
import type { Group } from './group-loader.ts';
import { downgradeToClassic } from './migration.ts';

/** A timer that is later than this tells of a stalled event loop: heartbeats may wait in the sockets, unread. */
const STALL_MS = 500;
/** How long a stalled loop gets to read them before anybody is declared dead. */
const STALL_GRACE_MS = 250;

const codeByKind: Readonly<Record<CoordinatorErrorKind, ErrorCode>> = {
  unavailable: Errors.COORDINATOR_NOT_AVAILABLE,
  'no-space': Errors.COORDINATOR_NOT_AVAILABLE,
  closed: Errors.COORDINATOR_NOT_AVAILABLE,
  fenced: Errors.NOT_COORDINATOR,
  abandoned: Errors.UNKNOWN_SERVER_ERROR,
  invalid: Errors.UNKNOWN_SERVER_ERROR,
};

/** What a client is told when the store failed: retriable wherever trying again can help. */
export function storeErrorCode(error: unknown): ErrorCode {
  if (error instanceof ApiError) return error.errorCode;
  return error instanceof CoordinatorError ? codeByKind[error.kind] : Errors.UNKNOWN_SERVER_ERROR;
}

export interface GroupSlotComponents {
  readonly store: GroupStore;
  readonly time: Time;
  readonly logger: Logger;
  readonly context: GroupContext;
}

export class GroupSlot {
  readonly groupId: string;
  /** undefined: there is no such group, or it has to be loaded first. */
  group: Group | undefined;
  /** False after a failed store: memory may be ahead of what is stored, or behind another process. */
  loaded = true;
  readonly #components: GroupSlotComponents;
  #tail: Promise<void> = Promise.resolve();
  #queued = 0;
  #stored: boolean;
  #timer: Timer | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #excused = false;

  constructor(groupId: string, group: Group | undefined, components: GroupSlotComponents) {
    this.groupId = groupId;
    this.group = group;
    this.#stored = group !== undefined;
    this.#components = components;
    this.#arm();
  }

  /** Nothing to keep the slot for. */
  get idle(): boolean {
    return this.#queued === 0 && this.group === undefined && this.loaded;
  }

  /** Runs operations one after another, in the order of the calls. One that throws costs the group its memory, no more. */
  run(operation: () => Promise<void>): Promise<void> {
    this.#queued += 1;
    const failed = (err: unknown): void => {
      this.#components.logger.error({ groupId: this.groupId, err }, 'group operation failed');
      this.giveUp(storeErrorCode(err));
    };
    this.#tail = this.#tail
      .then(operation)
      .catch(failed)
      .finally(() => {
        this.#queued -= 1;
      });
    return this.#tail;
  }

  /** Puts another machine in the place of this one: a new group, a restored one, a change of protocol. */
  replace(group: Group, stored = this.#stored): void {
    // What the one before still owes is sent when the other is stored.
    if (this.group) group.outbox.adopt(this.group.outbox);
    this.group = group;
    this.#stored = stored;
    this.loaded = true;
    this.#disarm();
  }

  /** Stores what changed and answers; forgets a group that has neither members nor a trace in the store. */
  async settle(): Promise<void> {
    this.#downgrade();
    const error = await this.store();
    const { group } = this;
    if (error !== Errors.NONE || !group) return;
    group.outbox.deliver();
    if (group.isEmpty && !this.#stored) this.forget();
    else this.#arm();
  }

  /** When the last member of the consumer protocol has gone, those of the classic one are by themselves again. */
  #downgrade(): void {
    if (this.group?.type !== 'consumer') return;
    const { context, time } = this.#components;
    const classic = downgradeToClassic(this.group, context, time.monotonicMs());
    if (classic) this.replace(classic);
  }

  /** Stores what changed. With an error the group has been given up and everything it owed was answered so. */
  async store(): Promise<ErrorCode> {
    const stored = this.group?.takeStored();
    if (!stored) return Errors.NONE;
    const error = await this.#tryStore(stored);
    if (error === Errors.NONE) this.#stored = true;
    else this.giveUp(error);
    return error;
  }

  async #tryStore(stored: Parameters<GroupStore['storeGroup']>[0]): Promise<ErrorCode> {
    const { groupId } = this;
    try {
      const { error } = await this.#components.store.storeGroup(stored);
      if (error === Errors.NONE) return error;
      this.#components.logger.warn({ groupId, epoch: stored.epoch, error }, 'group was moved on by another process');
      return Errors.NOT_COORDINATOR;
    } catch (cause) {
      this.#components.logger.error({ groupId, epoch: stored.epoch, err: cause }, 'group could not be stored');
      return storeErrorCode(cause);
    }
  }

  /** Drops what is in memory, answering everything with `error`; the next operation loads the group anew. */
  giveUp(error: ErrorCode): void {
    this.group?.failParked(error);
    this.group?.outbox.deliver(error);
    this.forget();
    this.loaded = false;
  }

  /** The group is gone, or never came to be. */
  forget(): void {
    this.group = undefined;
    this.#disarm();
  }

  /** Heartbeats only move deadlines away, so an armed timer is left alone unless something nearer has come up. */
  #arm(): void {
    const atMs = this.group?.deadlines.earliestMs;
    if (atMs === undefined || atMs >= this.#timerAtMs) return;
    this.#disarm();
    this.#setTimer(atMs);
  }

  #setTimer(atMs: number): void {
    const { time } = this.#components;
    this.#timerAtMs = atMs;
    this.#timer = time.setTimer(Math.max(0, atMs - time.monotonicMs()), () => this.#onTimer());
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
  }

  #onTimer(): void {
    const { time } = this.#components;
    const lateMs = time.monotonicMs() - this.#timerAtMs;
    this.#disarm();
    if (lateMs > STALL_MS && !this.#excused) {
      this.#excused = true;
      this.#setTimer(time.monotonicMs() + STALL_GRACE_MS);
      return;
    }
    this.#excused = false;
    // Behind whatever is queued: a heartbeat that has been read counts before the session it prolongs ends.
    void this.run(async () => {
      this.group?.advance(time.monotonicMs());
      await this.settle();
    });
  }
}
