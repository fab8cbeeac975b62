/**
 * Consumers with fetch sessions against producers, in any order: each record arrives once and in order, whatever else the
 * session was told meanwhile, and a fetch that waits is woken by whatever there is for it. fast-check prints the seed.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { RequestToSend } from '../../src/protocol/api.ts';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { batchOf } from '../support/engine-fixture.ts';
import { readRecords } from '../support/read-records.ts';
import { tellsSeed } from '../support/tells-seed.ts';
import { untilCovered } from '../support/until-covered.ts';
import { ServerFixture } from './server-fixture.ts';
import type { WireClient } from './wire-client.ts';

const PARTITIONS = 5;
const VERSION = 17;

type Step =
  | { readonly kind: 'append'; readonly partition: number; readonly size: number }
  | { readonly kind: 'toggle'; readonly partition: number }
  | { readonly kind: 'poll'; readonly maxBytes: number; readonly minBytes: number; readonly maxWaitMs: number }
  | { readonly kind: 'reopen' };

const partition = fc.nat(PARTITIONS - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('append' as const), partition, size: fc.integer({ min: 1, max: 300 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('toggle' as const), partition }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('poll' as const),
      maxBytes: fc.constantFrom(1, 400, 1 << 20),
      minBytes: fc.constantFrom(0, 1, 500),
      maxWaitMs: fc.constantFrom(0, 3),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'reopen' as const }) },
);

/** Keeps a session as the Java client does: it names what changed for it since the last request. */
class SessionConsumer {
  readonly #client: WireClient;
  readonly #topicId: string;
  /** Next offset by partition, of all that were ever fetched. */
  readonly #positions = new Map<number, bigint>();
  readonly #assigned = new Set<number>();
  readonly #changed = new Set<number>();
  readonly #forgotten = new Set<number>();
  #sessionId = 0;
  #sessionEpoch = 0;
  /** Values by partition, in the order in which they came. */
  readonly read: string[][] = Array.from({ length: PARTITIONS }, () => []);

  constructor(client: WireClient, topicId: string) {
    this.#client = client;
    this.#topicId = topicId;
  }

  get assigned(): ReadonlySet<number> {
    return this.#assigned;
  }

  toggle(index: number): void {
    if (this.#assigned.delete(index)) {
      this.#changed.delete(index);
      this.#forgotten.add(index);
      return;
    }
    this.#assigned.add(index);
    this.#forgotten.delete(index);
    this.#changed.add(index);
  }

  /** Closes the session with the next request, and asks for another. */
  reopen(): void {
    this.#sessionEpoch = 0;
  }

  async poll(limits: Pick<RequestToSend<typeof fetch>, 'maxBytes' | 'minBytes' | 'maxWaitMs'>): Promise<void> {
    const inFull = this.#sessionEpoch === 0;
    const asked = [...(inFull ? this.#assigned : this.#changed)];
    const forgotten = inFull ? [] : [...this.#forgotten];
    this.#changed.clear();
    this.#forgotten.clear();
    const answer = await this.#client.call(fetch, VERSION, {
      ...limits,
      sessionId: this.#sessionId,
      sessionEpoch: this.#sessionEpoch,
      topics: [{ topicId: this.#topicId, partitions: asked.map((index) => this.#ask(index)) }],
      forgottenTopicsData: [{ topicId: this.#topicId, partitions: forgotten }],
    });
    expect(answer.errorCode).toBe(0);
    this.#sessionId = answer.sessionId;
    this.#sessionEpoch = answer.sessionId === 0 ? 0 : this.#sessionEpoch + 1;
    for (const { partitions } of answer.responses) {
      for (const { partitionIndex, errorCode, records } of partitions) this.#take(partitionIndex, errorCode, records!);
    }
  }

  #ask(index: number) {
    return { partition: index, fetchOffset: this.#positions.get(index) ?? 0n, partitionMaxBytes: 1 << 20 };
  }

  #take(index: number, errorCode: number, records: Uint8Array): void {
    expect(errorCode).toBe(0);
    expect(this.#assigned.has(index)).toBe(true);
    const position = this.#positions.get(index) ?? 0n;
    const fresh = readRecords([records]).filter(({ offset }) => offset >= position);
    if (fresh.length === 0) return;
    this.read[index]!.push(...fresh.map(({ value }) => value!));
    this.#positions.set(index, fresh.at(-1)!.offset + 1n);
    this.#changed.add(index);
  }
}

it('show a consumer every record once and in order, and never leave one waiting', async () => {
  const fixture = await ServerFixture.open();
  const client = await fixture.client();
  let topics = 0;
  let polls = 0;
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
    const topicId = await fixture.parts.createTopic(`t${topics++}`, PARTITIONS);
    const consumer = new SessionConsumer(client, topicId);
    const written: string[][] = Array.from({ length: PARTITIONS }, () => []);
    const appends: Promise<unknown>[] = [];
    for (const one of steps) {
      if (one.kind === 'append') {
        const values = written[one.partition]!;
        values.push(`${values.length}`.padEnd(one.size, '.'));
        // Not awaited: commits fall before, into and behind the fetches that follow.
        appends.push(fixture.parts.append({ topicId, partition: one.partition }, batchOf(values.at(-1)!)));
      } else if (one.kind === 'toggle') consumer.toggle(one.partition);
      else if (one.kind === 'reopen') consumer.reopen();
      else {
        polls++;
        await consumer.poll(one);
      }
    }
    for (let index = 0; index < PARTITIONS; index++) if (!consumer.assigned.has(index)) consumer.toggle(index);
    const total = (all: readonly string[][]): number => all.reduce((sum, { length }) => sum + length, 0);
    let isWritten = false;
    const allWritten = Promise.all(appends).then(() => {
      isWritten = true;
    });
    while (total(consumer.read) < total(written)) {
      const before = isWritten ? total(consumer.read) : -1;
      await consumer.poll({ maxBytes: 300, minBytes: 1, maxWaitMs: 3_000 });
      // Who waited in vain for what is there was not woken, and would not be.
      expect(total(consumer.read)).toBeGreaterThan(before);
    }
    expect(consumer.read).toEqual(written);
    await allWritten;
  });
  await untilCovered(
    () => polls > 100,
    () =>
      fc.assert(property, { ...tellsSeed(), numRuns: Number(process.env.SHOAL_FUZZ_RUNS ?? 40), endOnFailure: true }),
  );
  expect(polls).toBeGreaterThan(100);
});
