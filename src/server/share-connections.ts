/**
 * Which connection each share consumer was last heard on. When that one goes, the consumer's share session ends and the
 * records it holds come back, as in Kafka. Main thread; belongs to the share APIs.
 *
 * A connection works on one such request at a time, so a loss during a request is acted on when that is done: records
 * that it acquires for a client that is gone come back with the others.
 */
import { Errors } from '../common/errors.ts';
import type { Logger } from '../common/logger.ts';
import type { DisklessEngine, ShareAcknowledgeRequest } from '../engine/diskless-engine.ts';
import type { RequestContext } from './api-handler.ts';

type Member = Pick<ShareAcknowledgeRequest, 'groupId' | 'memberId' | 'sessionEpoch'>;

interface BoundConnection {
  readonly members: Map<string, Member>;
  isBusy: boolean;
}

/** The session ends with this request. */
const FINAL_EPOCH = -1;

export class ShareConnections {
  readonly #engine: Pick<DisklessEngine, 'shareConnectionLost'>;
  readonly #logger: Logger;
  readonly #connections = new Map<string, BoundConnection>();
  /** Member → the connection that has its session. */
  readonly #owners = new Map<string, BoundConnection>();
  readonly #releasing = new Set<Promise<void>>();

  constructor(engine: Pick<DisklessEngine, 'shareConnectionLost'>, logger: Logger) {
    this.#engine = engine;
    this.#logger = logger;
  }

  /** Runs a request of a member, whose session then belongs to the request's connection, unless it was refused. */
  async run<T extends { readonly error: number }>(
    context: Pick<RequestContext, 'connectionId' | 'signal'>,
    member: Member,
    request: () => Promise<T>,
  ): Promise<T> {
    const connection = this.#connection(context);
    const key = JSON.stringify([member.groupId, member.memberId]);
    const owner = this.#owners.get(key);
    connection.isBusy = true;
    try {
      const result = await request();
      // A member that has opened its session anew elsewhere while this waited is not taken back.
      if (result.error === Errors.NONE && this.#owners.get(key) === owner) this.#bind(connection, key, member);
      return result;
    } finally {
      connection.isBusy = false;
      if (context.signal.aborted) this.#lost(context.connectionId, connection);
    }
  }

  #connection({ connectionId, signal }: Pick<RequestContext, 'connectionId' | 'signal'>): BoundConnection {
    const known = this.#connections.get(connectionId);
    if (known) return known;
    const connection: BoundConnection = { members: new Map(), isBusy: false };
    this.#connections.set(connectionId, connection);
    signal.addEventListener('abort', () => this.#lost(connectionId, connection), { once: true });
    return connection;
  }

  #bind(connection: BoundConnection, key: string, member: Member): void {
    this.#owners.get(key)?.members.delete(key);
    this.#owners.delete(key);
    if (member.sessionEpoch === FINAL_EPOCH) return;
    connection.members.set(key, member);
    this.#owners.set(key, connection);
  }

  #lost(connectionId: string, connection: BoundConnection): void {
    if (connection.isBusy) return;
    this.#connections.delete(connectionId);
    for (const [key, { groupId, memberId }] of connection.members) {
      this.#owners.delete(key);
      this.#release(groupId, memberId);
    }
    connection.members.clear();
  }

  #release(groupId: string, memberId: string): void {
    const releasing = this.#engine
      .shareConnectionLost(groupId, memberId)
      .catch((err: unknown) => {
        this.#logger.error(
          { err, groupId, memberId },
          'records of a lost share consumer come back when their locks end',
        );
      })
      .finally(() => this.#releasing.delete(releasing));
    this.#releasing.add(releasing);
  }

  /** Resolves when what lost connections held has been given back. */
  async idle(): Promise<void> {
    await Promise.all(this.#releasing);
  }
}
