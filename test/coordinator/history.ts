/**
 * Random histories of a coordinator as data (fast-check shrinks them), and the runner that plays one on several
 * coordinators and compares everything they answer. The first coordinator is the reference.
 */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { TopicIdPartition } from '../../src/common/topic-id-partition.ts';
import type { Uuid } from '../../src/common/uuid.ts';
import {
  type CommitFileRequest,
  type CoordinatorChange,
  CoordinatorError,
  type DisklessCoordinator,
  ListOffsetsTimestamp,
} from '../../src/coordinator/diskless-coordinator.ts';
import { MIN_TOMBSTONE_AGE_MS } from '../../src/coordinator/tombstones.ts';
import { batch, by, file, newUuid, type SettableTime } from './fixture.ts';

const TOPICS = 3;
const PARTITIONS = 2;
const PRODUCERS = 3;
const MAX_INT32 = 2_147_483_647;
/** Of the coordinators that play histories: short, so that producers do expire in one. */
export const PRODUCER_ID_EXPIRATION_MS = 100;

interface BatchPlan {
  readonly topic: number;
  readonly partition: number;
  readonly records: number;
  readonly size: number;
  readonly timestamp: number;
  readonly timestampType: 0 | 1;
  readonly gap: boolean;
  /** undefined: not idempotent. */
  readonly producer:
    | { readonly id: number; readonly how: 'next' | 'again' | 'skip' | 'bump' | 'old-epoch' }
    | undefined;
}

export type Step =
  | { readonly kind: 'commit'; readonly batches: readonly BatchPlan[] }
  | { readonly kind: 'recommit' | 'abandon'; readonly which: number }
  | { readonly kind: 'delete-records'; readonly topic: number; readonly partition: number; readonly share: number }
  | { readonly kind: 'retain'; readonly maxCoordinates: number }
  | { readonly kind: 'delete-files'; readonly graceMs: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'recreate-topic'; readonly topic: number }
  | {
      readonly kind: 'configure';
      readonly topic: number;
      readonly retentionMs: number;
      readonly retentionBytes: number;
    }
  | { readonly kind: 'offsets'; readonly topic: number; readonly partition: number; readonly offset: number }
  | { readonly kind: 'reopen' | 'forget' };

const where = { topic: fc.nat(TOPICS - 1), partition: fc.nat(PARTITIONS) };

const batchPlan: fc.Arbitrary<BatchPlan> = fc.record({
  ...where,
  records: fc.oneof(
    { weight: 9, arbitrary: fc.integer({ min: 1, max: 9 }) },
    { weight: 1, arbitrary: fc.constant(2 ** 31) },
  ),
  size: fc.integer({ min: 61, max: 400 }),
  timestamp: fc.integer({ min: -1, max: 50 }),
  timestampType: fc.constantFrom(0, 0, 1),
  gap: fc.boolean(),
  producer: fc.option(
    fc.record({
      id: fc.nat(PRODUCERS - 1),
      how: fc.constantFrom('next', 'next', 'next', 'next', 'again', 'skip', 'bump', 'old-epoch'),
    }),
    { nil: undefined },
  ),
});

const commit = fc.record({
  kind: fc.constant('commit' as const),
  batches: fc.array(batchPlan, { minLength: 1, maxLength: 12 }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: commit },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('recommit', 'abandon'), which: fc.nat(5) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('delete-records'), ...where, share: fc.integer({ min: -1, max: 11 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('retain'), maxCoordinates: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete-files'), graceMs: fc.nat(50) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait'), ms: fc.integer({ min: -10, max: 80 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('recreate-topic'), topic: where.topic }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('configure'),
      topic: where.topic,
      retentionMs: fc.integer({ min: -1, max: 100 }),
      retentionBytes: fc.integer({ min: -1, max: 3_000 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('offsets'), ...where, offset: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('reopen', 'forget') }) },
);

export const history: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' });

/** A coordinator under test that can be opened again over its storage. */
export interface Reopenable {
  current: DisklessCoordinator;
  reopen(): Promise<void>;
}

type Outcome = { readonly value: unknown } | { readonly refused: string };

export class HistoryRunner {
  readonly #coordinators: readonly Reopenable[];
  readonly #time: SettableTime;
  #topics: Uuid[] = [];
  readonly #committed: CommitFileRequest[] = [];
  /** What each producer of a partition sent last: epoch, next sequence, and its last batch. */
  readonly #producers = new Map<string, { epoch: number; next: number; last: [sequence: number, records: number] }>();
  /** When idempotent batches were sent. */
  readonly #sentMs: number[] = [];
  readonly #heard: CoordinatorChange[][];
  readonly #unsubscribe: (() => void)[] = [];
  /** Batches accepted, and faults of every kind provoked: a history that does nothing proves nothing. */
  readonly counts: Record<string, number> = {};

  constructor(coordinators: readonly Reopenable[], time: SettableTime) {
    this.#coordinators = coordinators;
    this.#time = time;
    this.#heard = coordinators.map(() => []);
  }

  async play(steps: readonly Step[]): Promise<void> {
    this.#listen();
    this.#topics = Array.from({ length: TOPICS }, newUuid);
    for (const topicId of this.#topics) await this.#createTopic(topicId);
    for (const one of steps) await this.#step(one);
    await this.#finish();
  }

  /** Does the same on all coordinators; the answers must be the same. */
  async #all<T>(operation: (coordinator: DisklessCoordinator) => Promise<T>): Promise<T | undefined> {
    const outcomes: Outcome[] = [];
    for (const { current } of this.#coordinators) {
      try {
        outcomes.push({ value: await operation(current) });
      } catch (error) {
        if (!(error instanceof CoordinatorError)) throw error;
        outcomes.push({ refused: error.kind });
      }
    }
    for (const outcome of outcomes.slice(1)) expect(outcome).toEqual(outcomes[0]);
    const first = outcomes[0]!;
    return 'value' in first ? (first.value as T) : undefined;
  }

  #listen(): void {
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
    for (const [index, { current }] of this.#coordinators.entries()) {
      this.#unsubscribe.push(current.onChange((change) => this.#heard[index]!.push(change)));
    }
  }

  /** Changes are the same but for their numbers. */
  #compareChanges(): void {
    const withoutNumbers = this.#heard.map((changes) => changes.map(({ changeNumber, ...rest }) => rest));
    for (const heard of withoutNumbers.slice(1)) expect(heard).toEqual(withoutNumbers[0]);
    for (const changes of this.#heard) changes.length = 0;
  }

  async #createTopic(topicId: Uuid): Promise<void> {
    const configs = { 'retention.ms': '-1' };
    await this.#all((c) => c.createTopics([{ topicId, name: `t-${topicId}`, partitions: PARTITIONS, configs }]));
  }

  #partition(topic: number, partition: number): TopicIdPartition {
    return { topicId: this.#topics[topic]!, partition };
  }

  async #step(one: Step): Promise<void> {
    switch (one.kind) {
      case 'commit':
        await this.#commit(one.batches);
        break;
      case 'recommit': {
        const request = this.#committed.at(-1 - one.which);
        if (request) await this.#all((c) => c.commitFile(request));
        break;
      }
      case 'abandon': {
        const key = this.#committed.at(-1 - one.which)?.objectKey ?? 'never';
        await this.#all((c) => c.abandonFile(one.which > 3 ? `lost-${key}` : key));
        break;
      }
      case 'delete-records':
        await this.#deleteRecords(one);
        break;
      case 'retain':
        await this.#retain(one.maxCoordinates);
        break;
      case 'delete-files': {
        const keys = await this.#all(async (c) =>
          (await c.filesToDelete({ graceMs: one.graceMs, limit: 1_000 })).sort(),
        );
        await this.#all((c) => c.deleteFiles(keys!));
        break;
      }
      case 'forget':
        this.#time.ms += MIN_TOMBSTONE_AGE_MS;
        await this.#all((c) => c.forgetFiles({ olderThanMs: MIN_TOMBSTONE_AGE_MS, limit: 1_000 }));
        break;
      case 'wait':
        this.#wait(one.ms);
        break;
      case 'recreate-topic': {
        const [topicId] = this.#topics.splice(one.topic, 1, newUuid());
        await this.#all((c) => c.deleteTopics([topicId!]));
        await this.#createTopic(this.#topics[one.topic]!);
        break;
      }
      case 'configure': {
        const changes = { 'retention.ms': `${one.retentionMs}`, 'retention.bytes': `${one.retentionBytes}` };
        await this.#all((c) => c.alterTopicConfigs([{ topicId: this.#topics[one.topic]!, changes }]));
        break;
      }
      case 'offsets': {
        const topicIdPartition = this.#partition(one.topic, one.partition);
        const offset = { topicIdPartition, offset: BigInt(one.offset), leaderEpoch: -1, metadata: '', commitTimeMs: 0 };
        await this.#all((c) => c.commitOffsets('g', [offset]));
        await this.#all((c) => c.fetchOffsets('g'));
        break;
      }
      case 'reopen':
        for (const coordinator of this.#coordinators) await coordinator.reopen();
        this.#listen();
        break;
    }
    this.#compareChanges();
    await this.#observe();
  }

  /**
   * Back too, as clocks are corrected, but not to before a producer had expired: whether one that had is known again then,
   * the contract leaves open (`producerIdExpirationMs`).
   */
  #wait(ms: number): void {
    const { ms: now } = this.#time;
    const expired = this.#sentMs.filter((sentMs) => now - sentMs >= PRODUCER_ID_EXPIRATION_MS);
    this.#time.ms = Math.max(now + ms, ...expired.map((sentMs) => sentMs + PRODUCER_ID_EXPIRATION_MS));
  }

  #sequence(of: TopicIdPartition, records: number, { id, how }: NonNullable<BatchPlan['producer']>) {
    const key = `${of.topicId}-${of.partition}-${id}`;
    const start = id === 0 ? MAX_INT32 - 9 : 0;
    this.#sentMs.push(this.#time.ms);
    const known = this.#producers.get(key) ?? { epoch: 3, next: start, last: [start, records] };
    const producerId = BigInt(1_000 + id);
    if (how === 'again') {
      const [sequence, again] = known.last;
      return { ...by(producerId, known.epoch, sequence), lastOffsetDelta: again - 1 };
    }
    if (how === 'old-epoch') return by(producerId, known.epoch - 1, known.next);
    if (how === 'skip') return by(producerId, known.epoch, (known.next + 1) % (MAX_INT32 + 1));
    const epoch = how === 'bump' ? known.epoch + 1 : known.epoch;
    const sequence = how === 'bump' ? 0 : known.next;
    const next = (sequence + records) % (MAX_INT32 + 1);
    this.#producers.set(key, { epoch, next, last: [sequence, records] });
    return by(producerId, epoch, sequence);
  }

  async #commit(plans: readonly BatchPlan[]): Promise<void> {
    let end = 1;
    const batches = plans.map((plan) => {
      const of = this.#partition(plan.topic, plan.partition);
      const position = end + (plan.gap ? 7 : 0);
      end = position + plan.size;
      return batch(of, plan.records, {
        position,
        size: plan.size,
        timestampType: plan.timestampType,
        maxTimestamp: plan.timestamp < 0 ? -1n : BigInt(this.#time.ms - plan.timestamp),
        ...(plan.producer ? this.#sequence(of, plan.records, plan.producer) : {}),
      });
    });
    const request = file(batches);
    this.#committed.push(request);
    const result = await this.#all((c) => c.commitFile(request));
    for (const { error, duplicate } of result?.batches ?? []) {
      const outcome = duplicate ? 'duplicate' : `error ${error}`;
      this.counts[outcome] = (this.counts[outcome] ?? 0) + 1;
    }
  }

  async #deleteRecords({
    topic,
    partition,
    share,
  }: {
    topic: number;
    partition: number;
    share: number;
  }): Promise<void> {
    const topicIdPartition = this.#partition(topic, partition);
    const timestamp = ListOffsetsTimestamp.latest;
    const end = (await this.#all((c) => c.listOffsets([{ topicIdPartition, timestamp }])))![0]!.offset;
    const beforeOffset = share < 0 ? -1n : (end * BigInt(share)) / 10n;
    await this.#all((c) => c.deleteRecords([{ topicIdPartition, beforeOffset }]));
  }

  /** Steps may drop in another order; a whole pass comes to the same. */
  async #retain(maxCoordinates: number): Promise<void> {
    await this.#all(async (coordinator) => {
      let [coordinatesDeleted, bytesDeleted] = [0, 0];
      for (let more = true; more; ) {
        const result = await coordinator.enforceRetention({ maxCoordinates });
        expect(result.coordinatesDeleted).toBeLessThanOrEqual(maxCoordinates);
        coordinatesDeleted += result.coordinatesDeleted;
        bytesDeleted += result.bytesDeleted;
        more = result.more;
      }
      return { coordinatesDeleted, bytesDeleted };
    });
    for (const changes of this.#heard) this.#mergeLogStarts(changes);
  }

  #mergeLogStarts(changes: CoordinatorChange[]): void {
    const moved = new Map<string, bigint>();
    for (const change of changes.splice(0)) {
      if (change.kind !== 'log-start') continue;
      for (const [key, offset] of change.logStartOffsets) moved.set(key, offset);
    }
    const logStartOffsets = new Map([...moved].sort(([a], [b]) => (a < b ? -1 : 1)));
    if (moved.size > 0) changes.push({ kind: 'log-start', changeNumber: 0, logStartOffsets });
  }

  /** Everything that can be asked. */
  async #observe(): Promise<void> {
    const partitions = this.#topics.flatMap((topicId) =>
      Array.from({ length: PARTITIONS }, (_, partition) => ({ topicId, partition })),
    );
    const starts = await this.#all((c) => this.#list(c, partitions, ListOffsetsTimestamp.earliest));
    const ends = await this.#all((c) => this.#list(c, partitions, ListOffsetsTimestamp.latest));
    for (const timestamp of [ListOffsetsTimestamp.maxTimestamp, BigInt(this.#time.ms - 25), 0n]) {
      await this.#all((c) => this.#list(c, partitions, timestamp));
    }
    const fetches = partitions.map((topicIdPartition, i) => {
      const [start, end] = [starts![i]!.offset, ends![i]!.offset];
      return { topicIdPartition, fetchOffset: i % 2 ? start : start + (end - start) / 2n, maxBytes: 1_500 };
    });
    await this.#all((c) => c.findBatches({ partitions: fetches, maxBytes: 4_000 }));
    const everything = partitions.map((topicIdPartition, i) => {
      return { topicIdPartition, fetchOffset: starts![i]!.offset, maxBytes: 1 << 30 };
    });
    await this.#all((c) => c.findBatches({ partitions: everything, maxBytes: 1 << 30 }));
    await this.#all((c) => c.describeProducers(partitions));
    await this.#all((c) => c.logSizes(this.#topics));
    await this.#all((c) => c.describeFiles(this.#committed.slice(-20).map(({ objectKey }) => objectKey)));
    await this.#all(async (c) => (await c.filesToDelete({ graceMs: 10, limit: 10_000 })).sort());
  }

  #list(coordinator: DisklessCoordinator, partitions: readonly TopicIdPartition[], timestamp: bigint) {
    return coordinator.listOffsets(partitions.map((topicIdPartition) => ({ topicIdPartition, timestamp })));
  }

  /** Leaves nothing behind but tombstones, so that the next history begins alike on the same storage. */
  async #finish(): Promise<void> {
    await this.#all((c) => c.deleteTopics(this.#topics));
    await this.#retain(1_000);
    this.#time.ms += 1_000;
    const keys = await this.#all(async (c) => (await c.filesToDelete({ graceMs: 0, limit: 100_000 })).sort());
    await this.#all((c) => c.deleteFiles(keys!));
    await this.#all((c) => c.describeFiles(this.#committed.map(({ objectKey }) => objectKey)));
    this.#compareChanges();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }
}
