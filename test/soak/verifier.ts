/**
 * The judge of a soak, a process of its own that trusts nobody: it reads the topics over the wire all along (topic-reader.ts),
 * reads them again when the host has been killed for the last time, and holds both against the clients' journals.
 *
 * Messages in, each answered by one: `watch`, `drain` (until the end of every log is read), `reread`, `judge`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Errors } from '../../src/common/errors.ts';
import { apis } from '../../src/protocol/apis.ts';
import { parseEndpoint } from '../../src/server/listener.ts';
import { WireClient } from '../server/wire-client.ts';
import { type Codecs, openCodecs } from './codecs.ts';
import { History } from './history.ts';
import { JournalReader, laneOf } from './journal.ts';
import { type Finding, type Generation, judge, type Recovery } from './judge.ts';
import { TopicReader } from './topic-reader.ts';

export type Command =
  | { readonly command: 'watch'; readonly address: string; readonly topics: readonly string[] }
  | { readonly command: 'drain' }
  | { readonly command: 'reread'; readonly groups: readonly string[] }
  | ({ readonly command: 'judge' } & Case);

/** What the soak tells the judge beside the journals. */
export interface Case {
  readonly journals: readonly string[];
  readonly generations: readonly Generation[];
  readonly consumedTopics: readonly string[];
  readonly keptTopics: readonly string[];
  readonly recoveries: readonly Recovery[];
  readonly doctorProblems: readonly string[];
  readonly doctorCoordinates: number;
}

export interface Verdict {
  readonly findings: readonly Finding[];
  /** By client kind. */
  readonly acknowledged: Readonly<Record<string, number>>;
  readonly consumed: Readonly<Record<string, number>>;
  readonly rebalances: Readonly<Record<string, number>>;
  readonly refused: Readonly<Record<string, number>>;
  readonly indeterminate: number;
  /** Batches that the verifier read, by codec. */
  readonly codecs: Readonly<Record<string, number>>;
  readonly logStartMoves: number;
  readonly errors: Readonly<Record<string, number>>;
}

/** `ends`, of `drain`: the offset after the last record of every log that was watched, by `TOPIC-PARTITION`. */
export type Reply =
  | { readonly done: true }
  | { readonly ends: Readonly<Record<string, number>> }
  | { readonly verdict: Verdict };

/** How long a log may take to be read to its end. */
const READ_MS = 180_000;
const SHOWN_PROBLEMS = 10;

class Verifier {
  readonly #codecs: Codecs;
  #watcher: TopicReader | undefined;
  #watching: Promise<void> | undefined;
  #final: TopicReader | undefined;
  #committed = new Map<string, number>();
  #options: { readonly address: string; readonly topics: readonly string[] } | undefined;
  #stop = false;

  constructor(codecs: Codecs) {
    this.#codecs = codecs;
  }

  async answer(message: Command): Promise<Reply> {
    if (message.command === 'judge') return { verdict: this.#judge(message) };
    if (message.command === 'watch') this.#watch(message);
    else if (message.command === 'drain') return { ends: await this.#drain() };
    else await this.#reread(message.groups);
    return { done: true };
  }

  #watch(options: { readonly address: string; readonly topics: readonly string[] }): void {
    this.#options = options;
    this.#watcher = new TopicReader({ ...options, codecs: this.#codecs });
    this.#watching = this.#watcher.run(() => this.#stop);
  }

  async #drain(): Promise<Record<string, number>> {
    await readToEnd(this.#watcher!, 'the soak');
    this.#stop = true;
    await this.#watching;
    return Object.fromEntries(this.#watcher!.logs.map(({ place, end }) => [place, end]));
  }

  async #reread(groups: readonly string[]): Promise<void> {
    const reader = new TopicReader({ ...this.#options!, codecs: this.#codecs });
    this.#final = reader;
    let stop = false;
    const reading = reader.run(() => stop);
    await readToEnd(reader, 'the last kill');
    stop = true;
    await reading;
    for (const group of groups) await this.#readCommitted(group);
  }

  async #readCommitted(group: string): Promise<void> {
    using client = await WireClient.connect(parseEndpoint(this.#options!.address));
    const groups = [{ groupId: group, topics: null }];
    const answer = await client.call(apis.offsetFetch, 8, { groups });
    const found = answer.groups[0]!;
    if (found.errorCode !== Errors.NONE) throw new Error(`OffsetFetch of ${group} answered ${found.errorCode}`);
    for (const { name, partitions } of found.topics) {
      for (const { partitionIndex, committedOffset } of partitions) {
        this.#committed.set(`${group.replace('soak-', '')} ${name}-${partitionIndex}`, Number(committedOffset));
      }
    }
  }

  #judge(given: Case): Verdict {
    const history = readJournals(given.journals);
    const [watcher, final] = [this.#watcher!, this.#final!];
    const codecs = new Map(watcher.batches);
    const evidence = {
      ...given,
      history,
      watched: watcher.logs,
      final: final.logs,
      committed: this.#committed,
      readerProblems: [...watcher.problems, ...final.problems],
      samples: watcher.samples + final.samples,
      batches: [...final.batches.values()].reduce((sum, count) => sum + count, 0),
    };
    const findings = judge(evidence).map((finding) => ({ ...finding, problems: shortened(finding.problems) }));
    return {
      findings,
      ...countedByKind(history),
      codecs: Object.fromEntries(codecs),
      logStartMoves: watcher.logStartMoves,
      errors: Object.fromEntries(history.errors),
    };
  }
}

async function readToEnd(reader: TopicReader, when: string): Promise<void> {
  const endMs = performance.now() + READ_MS;
  while (!reader.isAtEnd) {
    if (performance.now() > endMs) {
      reader.problems.push({
        invariant: 'I11',
        text: `after ${when} the logs could not be read to their ends: ${reader.lastError}`,
      });
      return;
    }
    await sleep(50);
  }
}

function readJournals(paths: readonly string[]): History {
  const history = new History();
  for (const path of paths) {
    const reader = new JournalReader(path);
    for (const fields of reader.next()) history.add(fields);
    reader.close();
  }
  return history;
}

function shortened(problems: readonly string[]): string[] {
  const more = problems.length - SHOWN_PROBLEMS;
  return more <= 0 ? [...problems] : [...problems.slice(0, SHOWN_PROBLEMS), `and ${more} more`];
}

type ByKind = Pick<Verdict, 'acknowledged' | 'consumed' | 'rebalances' | 'refused' | 'indeterminate'>;

function countedByKind(history: History): ByKind {
  const counts = { acknowledged: {}, consumed: {}, rebalances: {}, refused: {} } as Record<
    'acknowledged' | 'consumed' | 'rebalances' | 'refused',
    Record<string, number>
  >;
  const add = (counted: Record<string, number>, name: string): void => {
    const kind = name.slice(0, name.indexOf('.'));
    counted[kind] = (counted[kind] ?? 0) + 1;
  };
  let indeterminate = 0;
  for (const { outcome, producer, error } of history.sends.values()) {
    if (outcome === 'acknowledged') add(counts.acknowledged, producer);
    else if (outcome === 'refused' && /invalid_?timestamp/i.test(error)) add(counts.refused, producer);
    else if (laneOf(producer) !== 'refused') indeterminate++;
  }
  for (const [member, events] of history.members) {
    let before: string | undefined;
    for (const { kind } of events) {
      if (kind === 'consumed') add(counts.consumed, member);
      // Assignments come in rows, one line a partition.
      if (kind === 'assigned' && before !== 'assigned') add(counts.rebalances, member);
      before = kind;
    }
  }
  return { ...counts, indeterminate };
}

const verifier = new Verifier(await openCodecs());
process.on('message', (message: Command) => {
  verifier.answer(message).then(
    (reply) => process.send!(reply),
    (error) => {
      process.stderr.write(`the verifier failed: ${error instanceof Error ? error.stack : error}\n`);
      process.exit(1);
    },
  );
});
