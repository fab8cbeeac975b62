/**
 * ShareFetch and ShareAcknowledge at the share-partition leader (KIP-932, KIP-1206, KIP-1222): sessions, acknowledgements
 * first, then one fetch with rotation, byte and record budgets, waiting. Main thread; constructed and closed by the engine.
 *
 * Reads go through the engine's ordinary fetch, so share consumers share GETs and cache with everybody else. A waiting
 * request is woken by appends, acknowledgements, lock expiry, released sessions, start offset movement, a finished load,
 * or another fetch's end, and never polls.
 */
import { type ErrorCode, Errors } from '../common/errors.ts';
import type { Random } from '../common/random.ts';
import { sleep } from '../common/time.ts';
import {
  type PartitionKey,
  parsePartitionKey,
  partitionKey,
  type TopicIdPartition,
} from '../common/topic-id-partition.ts';
import { type AcknowledgementBatch, validateAcknowledgements } from './acknowledge.ts';
import { partitionMaxBytes, rotatePartitions } from './share-fetch-order.ts';
import type {
  ShareAcknowledgeRequest,
  ShareAcknowledgeResult,
  ShareFetchPartitionData,
  ShareFetchRequest,
  ShareFetchResult,
  SharePartitionRequest,
} from './share-fetch-request.ts';
import type { SharePartitionConfig } from './share-partition.ts';
import {
  type LedPartition,
  type LoadResult,
  SharePartitions,
  type SharePartitionsOptions,
} from './share-partitions.ts';
import { type ShareLogReader, ShareRead } from './share-read.ts';
import { type ShareSession, ShareSessionEpoch, ShareSessions } from './share-session.ts';

export interface ShareServiceOptions extends SharePartitionsOptions {
  readonly reader: ShareLogReader;
  readonly random: Random;
  /** `group.share.max.share.sessions` */
  readonly maxShareSessions: number;
  /** `fetch.max.bytes` */
  readonly fetchMaxBytes: number;
  /** The earliest offset of a partition, when a read was out of range. */
  earliestOffset(topicIdPartition: TopicIdPartition): Promise<{ readonly error: ErrorCode; readonly offset: number }>;
}

/** Bounds what one client can make this process hold; Kafka knows no bound. */
const MAX_SESSION_PARTITIONS = 100_000;

const NOTHING: ShareFetchResult['release'] = () => {};

export class ShareService {
  readonly partitions: SharePartitions;
  readonly #options: ShareServiceOptions;
  readonly #sessions: ShareSessions;
  /** Wakes every waiting fetch at close. */
  readonly #waiting = new Set<() => void>();
  #closed = false;

  constructor(options: ShareServiceOptions) {
    this.#options = options;
    this.partitions = new SharePartitions(options);
    this.#sessions = new ShareSessions(options.maxShareSessions);
  }

  get sessionCount(): number {
    return this.#sessions.size;
  }

  #config(groupId: string): SharePartitionConfig {
    return this.#options.configOf(groupId);
  }

  async shareFetch(request: ShareFetchRequest, options: { signal?: AbortSignal } = {}): Promise<ShareFetchResult> {
    const lockMs = this.#config(request.groupId).lockTimeoutMs;
    const invalid = checkRequest(request) || checkRenew(request) || this.#checkSize(request);
    if (invalid) return refused(Errors.INVALID_REQUEST, invalid, lockMs);
    const hasAcknowledgements = request.partitions.some(({ acknowledgements }) => acknowledgements.length > 0);
    const asked = request.partitions.map(({ topicIdPartition }) => partitionKey(topicIdPartition));
    const outcome = this.#sessions.fetch({
      groupId: request.groupId,
      memberId: request.memberId,
      epoch: request.sessionEpoch,
      added: asked,
      forgotten: request.forgotten.map(partitionKey),
      hasAcknowledgements,
    });
    if (!outcome.context) {
      // A client that is told at once that there is no room would ask again at once.
      if (outcome.error === Errors.SHARE_SESSION_LIMIT_REACHED) await this.#pause(request.maxWaitMs, options.signal);
      return refused(outcome.error, describeRefusal(outcome.error, this.#options.maxShareSessions), lockMs);
    }

    const acknowledged = await this.#acknowledgeAll(request);
    if (outcome.context === 'final') {
      await this.#releaseSession(outcome.session);
      return { ...refused(Errors.NONE, '', lockMs), partitions: answers(acknowledged, new Map()) };
    }
    const fetched = await this.#fetch(request, outcome.session, options.signal);
    const added = outcome.context === 'new' ? [] : asked;
    for (const key of added) if (!fetched.data.has(key)) fetched.data.set(key, undefined);
    return {
      error: Errors.NONE,
      message: '',
      acquisitionLockTimeoutMs: lockMs,
      partitions: answers(acknowledged, fetched.data),
      release: fetched.release,
    };
  }

  /** What a session would hold is bounded before it holds it. */
  #checkSize({ groupId, memberId, sessionEpoch, partitions }: ShareFetchRequest): string {
    const goesOn = sessionEpoch !== ShareSessionEpoch.OPEN;
    const held = goesOn ? (this.#sessions.get(groupId, memberId)?.partitions.size ?? 0) : 0;
    if (held + partitions.length <= MAX_SESSION_PARTITIONS) return '';
    return `a share session has ${MAX_SESSION_PARTITIONS} partitions at most; ${held} and ${partitions.length} more are too many`;
  }

  /** Nobody has to be kept waiting who is not there any more. */
  #pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
    return sleep(this.#options.time, Math.max(0, delayMs), signal).catch(() => {});
  }

  async shareAcknowledge(request: ShareAcknowledgeRequest): Promise<ShareAcknowledgeResult> {
    const { groupId, memberId, sessionEpoch } = request;
    const acquisitionLockTimeoutMs = this.#config(groupId).lockTimeoutMs;
    const invalid = checkRequest(request);
    if (invalid) return { error: Errors.INVALID_REQUEST, message: invalid, acquisitionLockTimeoutMs, partitions: [] };
    const outcome = this.#sessions.acknowledge(groupId, memberId, sessionEpoch);
    if (!outcome.context)
      return { error: outcome.error, message: 'share session', acquisitionLockTimeoutMs, partitions: [] };
    const acknowledged = await this.#acknowledgeAll(request);
    if (outcome.context === 'final') await this.#releaseSession(outcome.session);
    const partitions = [...acknowledged].map(([key, error]) => ({ topicIdPartition: parsePartitionKey(key), error }));
    return { error: Errors.NONE, message: '', acquisitionLockTimeoutMs, partitions };
  }

  /** A client's connection is gone: its sessions end and its records come back. */
  async connectionLost(groupId: string, memberId: string): Promise<void> {
    const session = this.#sessions.end(groupId, memberId);
    if (!session) return;
    await this.#releaseSession(session);
    // The last member is gone: what it held is stored, and whoever comes next loads it.
    if (!this.#sessions.hasGroup(groupId)) this.partitions.drop((group) => group === groupId);
  }

  /** Every acknowledgement of a request, in its order within each partition; answered when durable. */
  async #acknowledgeAll(request: ShareFetchRequest | ShareAcknowledgeRequest): Promise<Map<PartitionKey, ErrorCode>> {
    const answered = new Map<PartitionKey, ErrorCode>();
    await Promise.all(
      request.partitions
        .filter(({ acknowledgements }) => acknowledgements.length > 0)
        .map(async (partition) => {
          answered.set(partitionKey(partition.topicIdPartition), await this.#acknowledge(request, partition));
        }),
    );
    return answered;
  }

  async #acknowledge(
    request: ShareFetchRequest | ShareAcknowledgeRequest,
    partition: SharePartitionRequest,
  ): Promise<ErrorCode> {
    const batches: AcknowledgementBatch[] = partition.acknowledgements.map((batch) => ({
      first: Number(batch.firstOffset),
      last: Number(batch.lastOffset),
      types: batch.acknowledgeTypes,
    }));
    const error = validateAcknowledgements(batches, request.apiVersion, request.isRenewAck);
    if (error !== Errors.NONE) return error;
    const led = this.partitions.get(request.groupId, partition.topicIdPartition);
    if (!led) return this.#errorOfUnloaded(partition.topicIdPartition);
    return new Promise((resolve) => {
      led.partition.acknowledge(request.memberId, batches, resolve);
      this.partitions.touched(led);
    });
  }

  /** Nothing can be held of a partition that is not loaded: whoever held records lost them with the leader before. */
  async #errorOfUnloaded(topicIdPartition: TopicIdPartition): Promise<ErrorCode> {
    const unknown = await this.#options.checkPartition(topicIdPartition);
    return unknown === Errors.NONE ? Errors.UNKNOWN_TOPIC_OR_PARTITION : unknown;
  }

  /** Releases what a member holds anywhere in its group, also in partitions that it had taken out of its session. */
  async #releaseSession({ groupId, memberId }: ShareSession): Promise<void> {
    const led = [...this.partitions.all()].filter((one) => one.groupId === groupId);
    await Promise.all(
      led.map(
        (one) =>
          new Promise<void>((resolve) => {
            one.partition.releaseMember(memberId, () => resolve());
            this.partitions.touched(one);
          }),
      ),
    );
  }

  /** The fetch part: tries, waits for a change, tries again, until something is there or the time is over. */
  async #fetch(request: ShareFetchRequest, session: ShareSession, signal: AbortSignal | undefined): Promise<Fetched> {
    const empty: Fetched = { data: new Map(), release: NOTHING };
    const keys = rotatePartitions([...session.partitions], request.sessionEpoch);
    if (request.maxBytes <= 0 || request.maxRecords <= 0 || keys.length === 0) return empty;
    const { time } = this.#options;
    const deadlineMs = time.monotonicMs() + request.maxWaitMs;
    for (;;) {
      if (this.#closed || signal?.aborted) return empty;
      const isLast = time.monotonicMs() >= deadlineMs;
      // Loaded first, since only a partition that is here can be watched; one that is dropped after that wakes.
      const loads = keys.map((key) => this.partitions.load(request.groupId, parsePartitionKey(key)));
      const loaded = await Promise.all(loads);
      const change = this.#nextChange(request.groupId, keys, deadlineMs, signal);
      try {
        const fetched = await this.#attempt(request, keys, loaded, isLast ? 0 : request.minBytes, change.wake);
        if (fetched) {
          const withData = [...fetched.data].filter(([, data]) => data && data.acquiredRecords.length > 0);
          this.#sessions.demote(
            session,
            withData.map(([key]) => key),
          );
          return fetched;
        }
        if (isLast) return empty;
        await change.happened;
      } finally {
        change.stop();
      }
    }
  }

  /** Registered before the look, so that no change falls between the look and the wait. */
  #nextChange(groupId: string, keys: readonly PartitionKey[], deadlineMs: number, signal: AbortSignal | undefined) {
    let wake!: () => void;
    const happened = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const { time } = this.#options;
    const timer = time.setTimer(Math.max(0, deadlineMs - time.monotonicMs()), wake);
    const watched = keys.map((key) => this.partitions.watch(groupId, parsePartitionKey(key), wake));
    signal?.addEventListener('abort', wake, { once: true });
    this.#waiting.add(wake);
    const stop = (): void => {
      timer.cancel();
      for (const unwatch of watched) unwatch();
      signal?.removeEventListener('abort', wake);
      this.#waiting.delete(wake);
    };
    return { happened, wake, stop };
  }

  /** One look at all partitions, loaded just now; undefined when there is nothing to answer yet. */
  async #attempt(
    request: ShareFetchRequest,
    keys: readonly PartitionKey[],
    loaded: readonly LoadResult[],
    minBytes: number,
    wake: () => void,
  ): Promise<Fetched | undefined> {
    const data: Fetched['data'] = new Map();
    const locked: LedPartition[] = [];
    for (const [index, key] of keys.entries()) {
      const failed = loaded[index]!.error !== Errors.NONE;
      // One that was dropped while others were loading is loaded anew.
      const { error, led } = failed
        ? loaded[index]!
        : await this.partitions.load(request.groupId, parsePartitionKey(key));
      if (!led) data.set(key, { ...nothing(key), error });
      else if (led.partition.canAcquire() && this.partitions.tryFetchLock(led, wake)) locked.push(led);
    }
    try {
      const fetched = locked.length === 0 ? undefined : await this.#read(request, locked, minBytes, data);
      if (fetched) return fetched;
      return data.size > 0 ? { data, release: NOTHING } : undefined;
    } finally {
      for (const led of locked) this.partitions.releaseFetchLock(led);
    }
  }

  async #read(
    request: ShareFetchRequest,
    locked: readonly LedPartition[],
    minBytes: number,
    data: Fetched['data'],
  ): Promise<Fetched | undefined> {
    const { reader, random, fetchMaxBytes } = this.#options;
    const maxBytes = Math.min(request.maxBytes, fetchMaxBytes);
    const budgets = partitionMaxBytes(maxBytes, locked.length, locked.length, random);
    const read = await ShareRead.start(reader, locked, budgets, maxBytes, this.#config(request.groupId).isolation);
    const enough = read.bytes >= Math.min(minBytes, maxBytes) || read.hasError;
    if (!enough) {
      read.release();
      return undefined;
    }
    let left = request.maxRecords;
    for (const [index, led] of locked.entries()) {
      const key = partitionKey(led.topicIdPartition);
      const error = read.errorOf(index);
      if (error === Errors.OFFSET_OUT_OF_RANGE) await this.#followLogStart(led);
      else if (error !== Errors.NONE) data.set(key, { ...nothing(key), error });
      else {
        const { acquiredRecords, records, count } = read.acquire(index, request, left);
        left -= count;
        if (count > 0) data.set(key, { ...nothing(key), acquiredRecords, records });
      }
    }
    if (data.size > 0) return { data, release: () => read.release() };
    read.release();
    return undefined;
  }

  /** Records before the log start are gone; the share partition learns it here (no error, no data this time). */
  async #followLogStart(led: LedPartition): Promise<void> {
    const { error, offset } = await this.#options.earliestOffset(led.topicIdPartition);
    if (error !== Errors.NONE || offset <= led.partition.startOffset) return;
    led.partition.moveToLogStart(offset);
    this.partitions.touched(led);
  }

  /** Records were appended to a partition. */
  onAppend(key: PartitionKey): void {
    this.partitions.onAppend(key);
  }

  /** Answers what waits with what there is, and forgets everything; locks and sessions end with the process. */
  close(): void {
    this.#closed = true;
    for (const wake of [...this.#waiting]) wake();
    this.partitions.close();
  }
}

interface Fetched {
  /** Undefined: the partition is answered with neither data nor error (it was just added). */
  readonly data: Map<PartitionKey, ShareFetchPartitionData | undefined>;
  readonly release: () => void;
}

function nothing(key: PartitionKey): ShareFetchPartitionData {
  return {
    topicIdPartition: parsePartitionKey(key),
    error: Errors.NONE,
    acknowledgeError: Errors.NONE,
    records: [],
    acquiredRecords: [],
  };
}

/** One answer per partition that was acknowledged, fetched or added. */
function answers(
  acknowledged: ReadonlyMap<PartitionKey, ErrorCode>,
  fetched: Fetched['data'],
): ShareFetchPartitionData[] {
  const keys = new Set([...acknowledged.keys(), ...fetched.keys()]);
  return [...keys].map((key) => ({
    ...(fetched.get(key) ?? nothing(key)),
    acknowledgeError: acknowledged.get(key) ?? Errors.NONE,
  }));
}

function refused(error: ErrorCode, message: string, acquisitionLockTimeoutMs: number): ShareFetchResult {
  return { error, message, acquisitionLockTimeoutMs, partitions: [], release: NOTHING };
}

function describeRefusal(error: ErrorCode, maxShareSessions: number): string {
  if (error === Errors.SHARE_SESSION_LIMIT_REACHED)
    return `this broker holds group.share.max.share.sessions=${maxShareSessions} sessions`;
  if (error === Errors.INVALID_REQUEST) return 'a request that opens a share session cannot acknowledge';
  return error === Errors.SHARE_SESSION_NOT_FOUND
    ? 'there is no such share session; open one with epoch 0'
    : 'wrong share session epoch';
}

/** What is wrong with a request as a whole; "" when nothing is. */
function checkRequest({ groupId, memberId }: ShareFetchRequest | ShareAcknowledgeRequest): string {
  if (groupId === '') return 'the group id is empty';
  if (memberId.length < 1 || memberId.length > 36)
    return `the member id has ${memberId.length} characters; 1 to 36 are allowed`;
  return '';
}

/** A fetch that renews fetches nothing. */
function checkRenew(request: ShareFetchRequest): string {
  const { isRenewAck, maxBytes, minBytes, maxRecords, maxWaitMs } = request;
  const asksForData = maxBytes !== 0 || minBytes !== 0 || maxRecords !== 0 || maxWaitMs !== 0;
  return isRenewAck && asksForData ? 'with IsRenewAck, MaxBytes, MinBytes, MaxRecords and MaxWaitMs must be 0' : '';
}
