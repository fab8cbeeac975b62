/**
 * Share sessions: what each member of each group fetches from this broker, and the epoch that orders its requests
 * (KIP-932). Pure; the owner releases the records of members whose session ends.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';

/** Epochs with a meaning of their own. */
export const ShareSessionEpoch = { OPEN: 0, CLOSE: -1, MAX: 2 ** 31 - 1 } as const;

/** The epoch after one; 0 and −1 are never reached by counting. */
function nextShareSessionEpoch(epoch: number): number {
  return epoch === ShareSessionEpoch.MAX ? 1 : epoch + 1;
}

export interface ShareSession {
  readonly groupId: string;
  readonly memberId: string;
  /** The epoch that the next request must carry. */
  epoch: number;
  /** Partition keys in the order in which they are fetched. */
  readonly partitions: Set<string>;
}

export interface ShareFetchSessionRequest {
  readonly groupId: string;
  readonly memberId: string;
  readonly epoch: number;
  readonly added: readonly string[];
  readonly forgotten: readonly string[];
  readonly hasAcknowledgements: boolean;
}

/**
 * `new`: opened, or replaced what the member had (its records stay with it). `existing`: goes on. `final`: acknowledge,
 * fetch nothing, then release the member's records; the session is gone already.
 */
export type ShareSessionOutcome =
  | { readonly error: ErrorCode; readonly context?: undefined }
  | { readonly error: 0; readonly context: 'new' | 'existing' | 'final'; readonly session: ShareSession };

export class ShareSessions {
  readonly #sessions = new Map<string, ShareSession>();
  readonly #maxSessions: number;

  /** @param maxSessions `group.share.max.share.sessions` */
  constructor(maxSessions: number) {
    this.#maxSessions = maxSessions;
  }

  get size(): number {
    return this.#sessions.size;
  }

  get(groupId: string, memberId: string): ShareSession | undefined {
    return this.#sessions.get(sessionKey(groupId, memberId));
  }

  /** Whether any member of the group has a session here. */
  hasGroup(groupId: string): boolean {
    return [...this.#sessions.values()].some((session) => session.groupId === groupId);
  }

  /** The session part of a ShareFetch. */
  fetch(request: ShareFetchSessionRequest): ShareSessionOutcome {
    if (request.epoch === ShareSessionEpoch.OPEN) return this.#open(request);
    const outcome = this.#continue(request.groupId, request.memberId, request.epoch);
    if (outcome.context === 'existing') {
      for (const partition of request.added) outcome.session.partitions.add(partition);
      for (const partition of request.forgotten) outcome.session.partitions.delete(partition);
    }
    return outcome;
  }

  /** The session part of a ShareAcknowledge, which cannot open one. */
  acknowledge(groupId: string, memberId: string, epoch: number): ShareSessionOutcome {
    if (epoch === ShareSessionEpoch.OPEN) return { error: Errors.INVALID_SHARE_SESSION_EPOCH };
    return this.#continue(groupId, memberId, epoch);
  }

  /** Ends a member's session (lost connection); undefined when there was none, else its records are to be released. */
  end(groupId: string, memberId: string): ShareSession | undefined {
    const session = this.get(groupId, memberId);
    this.#sessions.delete(sessionKey(groupId, memberId));
    return session;
  }

  /** Partitions that returned data go to the end of the list, so that the others come first next time. */
  demote(session: ShareSession, partitions: readonly string[]): void {
    for (const partition of partitions) {
      if (session.partitions.delete(partition)) session.partitions.add(partition);
    }
  }

  #open({ groupId, memberId, added, hasAcknowledgements }: ShareFetchSessionRequest): ShareSessionOutcome {
    if (hasAcknowledgements) return { error: Errors.INVALID_REQUEST };
    const key = sessionKey(groupId, memberId);
    if (!this.#sessions.has(key) && this.#sessions.size >= this.#maxSessions) {
      return { error: Errors.SHARE_SESSION_LIMIT_REACHED };
    }
    const session: ShareSession = { groupId, memberId, epoch: 1, partitions: new Set(added) };
    this.#sessions.set(key, session);
    return { error: 0, context: 'new', session };
  }

  #continue(groupId: string, memberId: string, epoch: number): ShareSessionOutcome {
    const session = this.get(groupId, memberId);
    if (!session) return { error: Errors.SHARE_SESSION_NOT_FOUND };
    if (epoch === ShareSessionEpoch.CLOSE) {
      this.#sessions.delete(sessionKey(groupId, memberId));
      return { error: 0, context: 'final', session };
    }
    if (epoch !== session.epoch) return { error: Errors.INVALID_SHARE_SESSION_EPOCH };
    session.epoch = nextShareSessionEpoch(epoch);
    return { error: 0, context: 'existing', session };
  }
}

function sessionKey(groupId: string, memberId: string): string {
  // Length first: group ids may hold any character, so no separator would be safe.
  return `${groupId.length}:${groupId}${memberId}`;
}
