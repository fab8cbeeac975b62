/** What every kind of group state machine offers to whoever drives it. */
import type { ErrorCode } from '../common/errors.ts';
import type { GroupType, StoredGroup } from '../coordinator/group-store.ts';
import type { Deadlines } from './deadlines.ts';
import type { GroupSettings } from './group-settings.ts';
import type { Outbox } from './reply.ts';

/** A reading of the monotonic clock, milliseconds. */
export type Instant = number;

/** By Kafka's names: `consumer.session.timeout.ms` and `consumer.heartbeat.interval.ms`, or `share.…`. */
export interface GroupTimes {
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
}

/** What a machine needs besides its requests. */
export interface GroupContext {
  readonly settings: GroupSettings;
  /** What is set for one group of the consumer protocol, within the bounds of the settings. */
  readonly groupConfig: (groupId: string) => GroupTimes;
  /** The same for a share group. */
  readonly shareGroupConfig: (groupId: string) => GroupTimes;
  /** A fresh member id, beginning with `prefix`. */
  readonly newMemberId: (prefix: string) => string;
  /** Wall clock, milliseconds. */
  readonly nowMs: () => number;
}

export interface GroupMachine {
  readonly type: GroupType;
  readonly groupId: string;
  readonly deadlines: Deadlines;
  /** Answers that may be sent once what `takeStored` returned is durable. */
  readonly outbox: Outbox;
  /** It may be deleted. */
  readonly hasNoMembers: boolean;
  /** Nobody is in it or about to be. */
  readonly isEmpty: boolean;
  /** When the group last became what it is, wall clock in milliseconds. */
  readonly stateSinceMs: number;
  /** Generation or group epoch, as it is stored. */
  readonly epoch: number;
  /** Does what was due at `now` or before. */
  advance(now: Instant): void;
  /** What has to be stored now; undefined when nothing changed since the last call. */
  takeStored(): StoredGroup | undefined;
  /** Puts an answer to everything that is parked into the outbox; for a group that this process gives up. */
  failParked(error: ErrorCode): void;
}
