/**
 * One share consumer of the stress, a process of its own that may be killed at any time: takes records of all partitions,
 * accepts most, releases some, and poison ones always; acknowledges at once or with its next fetch, whole or in parts, in
 * both acquire modes; forgets a few, so that their locks end. Journals what it sees and does.
 *
 * argv: address topic topicId partitions group journal seed poison
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Errors } from '../../../src/common/errors.ts';
import { type Random, seededRandom } from '../../../src/common/random.ts';
import type { ResponseRead } from '../../../src/protocol/api.ts';
import type { shareFetch } from '../../../src/protocol/messages/share-fetch.ts';
import { parseEndpoint } from '../../../src/server/listener.ts';
import { type Acknowledgement, ShareClient } from '../../server/share-client.ts';
import { WireClient } from '../../server/wire-client.ts';
import { isPoison } from './cluster.ts';
import { Journal, type JournalKind, monotonicMs } from './journal.ts';

const ACCEPT = 1;
const RELEASE = 2;
const HEARTBEAT_MS = 3_000;
/** Errors that say for certain that nothing was accepted. */
const CERTAIN: readonly number[] = [Errors.INVALID_RECORD_STATE, Errors.INVALID_REQUEST];

/** A range of offsets that this consumer holds. */
interface Held {
  readonly partition: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

interface Answered {
  readonly partition: number;
  readonly error: number;
}

/** What a worker is there for. */
interface Task {
  readonly topic: string;
  readonly topicId: string;
  readonly partitions: readonly number[];
  readonly group: string;
  /** One record in so many is poison. */
  readonly poison: number;
}

class Worker {
  readonly #task: Task;
  readonly #journal: Journal;
  readonly #random: Random;
  readonly #member: ShareClient;
  #heartbeatDueMs = 0;
  #waiting: Acknowledgement[] = [];

  constructor(client: WireClient, task: Task, journal: Journal, random: Random) {
    this.#task = task;
    this.#journal = journal;
    this.#random = random;
    this.#member = new ShareClient(client, task.group, randomUUID());
  }

  /** Until stopped; throws when anything is not as it should be, and then the next session begins. */
  async run(isStopping: () => boolean): Promise<void> {
    while (!isStopping()) {
      await this.#heartbeat();
      const held = await this.#take();
      if (this.#random.next() < 0.1) await pause(this.#random.next() * 30);
      await this.#finish(held);
      if (this.#random.next() < 0.01) await this.#end();
    }
    await this.#end();
    await this.#member.heartbeat(null, -1);
  }

  async #heartbeat(): Promise<void> {
    if (monotonicMs() < this.#heartbeatDueMs) return;
    this.#heartbeatDueMs = monotonicMs() + HEARTBEAT_MS;
    const { errorCode } = await this.#member.heartbeat(this.#member.memberEpoch === 0 ? [this.#task.topic] : null);
    if (errorCode !== Errors.NONE) this.#member.memberEpoch = 0;
  }

  async #take(): Promise<Held[]> {
    const sentMs = monotonicMs();
    const acknowledgements = this.#waiting;
    this.#waiting = [];
    this.#noteSent(acknowledgements);
    const limited = this.#random.next() < 0.3;
    const opened = this.#member.sessionEpoch === 0 ? this.#task.partitions : [];
    const answer = await this.#member.fetch(this.#task.topicId, opened, acknowledgements, {
      maxWaitMs: 300,
      maxRecords: limited ? 200 : 500,
      batchSize: 100,
      shareAcquireMode: limited ? 1 : 0,
    });
    if (answer.errorCode !== Errors.NONE) throw new Error(`ShareFetch: ${answer.errorCode}`);
    const partitions = answer.responses.flatMap((topic) => topic.partitions);
    this.#noteAnswered(
      acknowledgements,
      partitions.map(({ partitionIndex, acknowledgeErrorCode }) => {
        return { partition: partitionIndex, error: acknowledgeErrorCode };
      }),
    );
    const held = heldOf(partitions);
    this.#journal.write(held.map((one) => ({ ...one, kind: 'delivered' as const, atMs: sentMs })));
    return held;
  }

  /** Acknowledges what is held: now, or with the next fetch; a few ranges not at all. */
  async #finish(held: readonly Held[]): Promise<void> {
    const kept = held.filter(() => this.#random.next() > 0.0005);
    const acknowledgements = kept.flatMap((one) => this.#decide(one));
    if (acknowledgements.length === 0) return;
    if (this.#random.next() < 0.3) {
      this.#waiting = acknowledgements;
      return;
    }
    // In two requests now and then, the second half first.
    const middle = this.#random.next() < 0.1 ? acknowledgements.length >> 1 : 0;
    for (const part of [acknowledgements.slice(middle), acknowledgements.slice(0, middle)]) {
      if (part.length > 0) await this.#acknowledge(part);
    }
  }

  async #acknowledge(acknowledgements: Acknowledgement[]): Promise<void> {
    this.#noteSent(acknowledgements);
    const answer = await this.#member.acknowledge(this.#task.topicId, acknowledgements);
    if (answer.errorCode !== Errors.NONE) throw new Error(`ShareAcknowledge: ${answer.errorCode}`);
    const partitions = answer.responses.flatMap((topic) => topic.partitions);
    this.#noteAnswered(
      acknowledgements,
      partitions.map(({ partitionIndex, errorCode }) => ({ partition: partitionIndex, error: errorCode })),
    );
  }

  /** One type for all where that will do. */
  #decide({ partition, first, last, count }: Held): DecidedAcknowledgement[] {
    const releases = this.#random.next() < 0.05 ? 0.3 : 0;
    const types = Array.from({ length: last - first + 1 }, (_, i) =>
      isPoison(partition, first + i, this.#task.poison) || this.#random.next() < releases ? RELEASE : ACCEPT,
    );
    const isUniform = types.every((type) => type === types[0]);
    return [{ partition, first, last, count, types: isUniform ? [types[0]!] : types }];
  }

  /** Closes the share session: what is held comes back. */
  async #end(): Promise<void> {
    if (this.#member.sessionEpoch === 0) return;
    this.#member.sessionEpoch = -1;
    await this.#member.fetch(this.#task.topicId, [], [], { maxWaitMs: 0 });
    this.#member.sessionEpoch = 0;
    this.#waiting = [];
  }

  #noteSent(acknowledgements: readonly Acknowledgement[]): void {
    this.#note('sent', acknowledgements);
  }

  #noteAnswered(acknowledgements: readonly Acknowledgement[], answers: readonly Answered[]): void {
    const errors = new Map(answers.map(({ partition, error }) => [partition, error]));
    const errorOf = ({ partition = 0 }: Acknowledgement): number =>
      errors.get(partition) ?? Errors.UNKNOWN_SERVER_ERROR;
    this.#note(
      'accepted',
      acknowledgements.filter((one) => errorOf(one) === Errors.NONE),
    );
    this.#note(
      'refused',
      acknowledgements.filter((one) => CERTAIN.includes(errorOf(one))),
    );
  }

  /** Of those acknowledgements, what is accepted in them. */
  #note(kind: JournalKind, acknowledgements: readonly Acknowledgement[]): void {
    const atMs = monotonicMs();
    this.#journal.write(
      acknowledgements.flatMap((one) =>
        acceptedRanges(one as DecidedAcknowledgement).map((range) => ({ ...range, kind, atMs })),
      ),
    );
  }
}

type DecidedAcknowledgement = Acknowledgement & { readonly partition: number; readonly count: number };

function acceptedRanges({ partition, first, last, count, types }: DecidedAcknowledgement): Held[] {
  if (types.length === 1) return types[0] === ACCEPT ? [{ partition, first, last, count }] : [];
  const ranges: Held[] = [];
  for (let offset = first; offset <= last; offset++) {
    if (types[offset - first] !== ACCEPT) continue;
    const before = ranges.at(-1);
    if (before?.last === offset - 1) ranges[ranges.length - 1] = { ...before, last: offset };
    else ranges.push({ partition, first: offset, last: offset, count });
  }
  return ranges;
}

type FetchedPartition = ResponseRead<typeof shareFetch>['responses'][number]['partitions'][number];

function heldOf(partitions: readonly FetchedPartition[]): Held[] {
  return partitions.flatMap(({ partitionIndex, acquiredRecords }) =>
    acquiredRecords.map(({ firstOffset, lastOffset, deliveryCount }) => {
      return { partition: partitionIndex, first: Number(firstOffset), last: Number(lastOffset), count: deliveryCount };
    }),
  );
}

async function main(): Promise<void> {
  const [address, topic, topicId, partitions, group, journalPath, seed, poison] = process.argv.slice(2) as [
    ...[string, string, string, string],
    ...[string, string, string, string],
  ];
  const all = Array.from({ length: Number(partitions) }, (_, index) => index);
  const task = { topic, topicId, partitions: all, group, poison: Number(poison) };
  const random = seededRandom(Number(seed));
  const journal = new Journal(journalPath);
  let stopping = false;
  process.once('SIGTERM', () => {
    stopping = true;
  });
  while (!stopping) {
    try {
      using client = await WireClient.connect(parseEndpoint(address));
      await new Worker(client, task, journal, random).run(() => stopping);
    } catch {
      // The broker is gone, or knows this session no more: whatever was held is for whoever gets it next.
      await pause(100);
    }
  }
}

await main();
