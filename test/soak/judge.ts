/**
 * The invariants of a soak, each a function of what the clients wrote down and what the verifier read by itself: what it
 * compared, and what is wrong. Names as in Jepsen's workload for Kafka, I9 to I14 the project's own.
 */
import { type History, isIdempotent, type MemberEvent, type Send } from './history.ts';
import { kindOf, laneOf } from './journal.ts';
import type { PartitionLog } from './partition-log.ts';
import type { Problem } from './topic-reader.ts';

/** A topic from its creation to its deletion; the same name may come again with another id. */
export interface Generation {
  readonly topicId: string;
  readonly topic: string;
  /** When its creation was asked for, and when that had been answered. */
  readonly askedMs: number;
  readonly createdMs: number;
  /** When its deletion was asked for; undefined when it was not. */
  readonly deletedMs?: number;
}

export interface Recovery {
  readonly after: string;
  readonly tookMs: number;
  /** What had not come back within the bound; empty when all had. */
  readonly missing: string;
}

export interface Evidence {
  readonly history: History;
  readonly generations: readonly Generation[];
  /** What the verifier read while the soak ran. */
  readonly watched: readonly PartitionLog[];
  /** What it read of the topics that are there, after the host had been killed for the last time. */
  readonly final: readonly PartitionLog[];
  /** Topics that every group must have read to the end, as far as they are still there. */
  readonly consumedTopics: readonly string[];
  /** Topics whose log start does not move: what was read once is there. */
  readonly keptTopics: readonly string[];
  /** By `GROUP TOPIC-PARTITION`, at the end. */
  readonly committed: ReadonlyMap<string, number>;
  readonly recoveries: readonly Recovery[];
  /** What the reader itself found, and what it went by. */
  readonly readerProblems: readonly Problem[];
  readonly samples: number;
  readonly batches: number;
  readonly doctorProblems: readonly string[];
  readonly doctorCoordinates: number;
}

export interface Finding {
  readonly invariant: string;
  readonly meaning: string;
  /** How many things were looked at; none is a failure too. */
  readonly compared: number;
  readonly what: string;
  readonly problems: readonly string[];
}

/** The logs of one topic id's partition: read along the way and at the end. */
interface Logs {
  readonly generation: Generation;
  readonly watched: PartitionLog | undefined;
  readonly final: PartitionLog | undefined;
}

export function judge(evidence: Evidence): Finding[] {
  const facts = new Facts(evidence);
  const read = (invariant: string): string[] =>
    evidence.readerProblems.filter((problem) => problem.invariant === invariant).map(({ text }) => text);
  const finding = (invariant: string, meaning: string, what: string, [compared, problems]: Tally): Finding => {
    return { invariant, meaning, what, compared, problems: [...problems, ...read(invariant)] };
  };
  const { recoveries } = evidence;
  return [
    finding('I1', 'no acknowledged record goes unread', 'acknowledged records', facts.lostWrites()),
    finding('I2', 'what was refused, deleted or never sent is not there', 'records in the logs', facts.uninvited()),
    finding('I3', 'an offset has one record for every reader', 'reads', facts.inconsistentOffsets()),
    finding('I4', 'an idempotent record is there once', 'idempotent records', facts.duplicates()),
    finding('I5', 'members neither jump nor rewind', 'steps', facts.jumps()),
    finding('I6', 'the order of a producer is the order of offsets', 'pairs', facts.reordered()),
    finding('I7', 'every group has read all there is', 'records of groups', facts.unseen()),
    finding('I9', 'an acknowledged offset is the record’s own', 'acknowledgements', facts.wrongOffsets()),
    finding('I10', 'offsets tile the log; its ends never go back', 'answers', [evidence.samples, facts.gaps()]),
    finding('I11', 'every coordinate leads to bytes with a right CRC', 'batches and coordinates', [
      Math.min(evidence.batches, evidence.doctorCoordinates) && evidence.batches + evidence.doctorCoordinates,
      [...evidence.doctorProblems],
    ]),
    finding('I12', 'what was acknowledged is there after kill −9', 'acknowledged records', facts.lostAfterKill()),
    finding('I14', 'progress comes back within the bound', 'recoveries', [
      recoveries.length,
      recoveries.filter(({ missing }) => missing !== '').map(({ after, missing }) => `after ${after}: ${missing}`),
    ]),
  ];
}

type Tally = [compared: number, problems: string[]];

class Facts {
  readonly #evidence: Evidence;
  readonly #logs: Logs[];
  /** The same by place: a topic's name and a partition. */
  readonly #logsAt = new Map<string, Logs[]>();
  /** Acknowledged records whose generation is beyond doubt. */
  readonly #certain: (readonly [send: Send, logs: Logs])[];
  /** By `GROUP TOPIC-PARTITION`: offsets that the group's members consumed. */
  readonly #consumed = new Map<string, Set<number>>();

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
    const keys = new Set([...evidence.watched, ...evidence.final].map(keyOf));
    const by = (logs: readonly PartitionLog[]) => new Map(logs.map((log) => [keyOf(log), log]));
    const [watched, final] = [by(evidence.watched), by(evidence.final)];
    this.#logs = [...keys].flatMap((key) => {
      const generation = evidence.generations.find(({ topicId }) => topicId === key.split('/')[0]);
      return generation ? [{ generation, watched: watched.get(key), final: final.get(key) }] : [];
    });
    for (const logs of this.#logs) {
      const place = (logs.watched ?? logs.final)!.place;
      this.#logsAt.set(place, [...(this.#logsAt.get(place) ?? []), logs]);
    }
    this.#certain = [...evidence.history.sends.values()]
      .filter(({ outcome }) => outcome === 'acknowledged')
      .flatMap((send) => this.#logsOf(send));
    for (const [member, events] of evidence.history.members) {
      for (const event of events) {
        if (event.kind !== 'consumed') continue;
        const key = `${kindOf(member)} ${event.topic}-${event.partition}`;
        const offsets = this.#consumed.get(key) ?? new Set();
        offsets.add(event.offset);
        this.#consumed.set(key, offsets);
      }
    }
  }

  /** Sent after the topic was there and acknowledged before its deletion: in doubt around those. */
  #logsOf(send: Send): (readonly [Send, Logs])[] {
    const logs = this.#logsAt
      .get(placeOf(send))
      ?.find(
        ({ generation: { createdMs, deletedMs } }) =>
          send.sentMs >= createdMs && send.ackMs < (deletedMs ?? Number.POSITIVE_INFINITY),
      );
    return logs ? [[send, logs]] : [];
  }

  get #groups(): string[] {
    return [...new Set([...this.#evidence.history.members.keys()].map(kindOf))];
  }

  lostWrites(): Tally {
    const problems: string[] = [];
    let compared = 0;
    for (const [send, { watched, final }] of this.#certain) {
      if (send.offset < Math.max(watched?.start ?? 0, final?.start ?? 0)) continue;
      const highest = Math.max(watched?.end ?? 0, final?.end ?? 0);
      // Of a topic that was deleted meanwhile, the verifier may not have read the end.
      if (send.offset >= highest && !final) continue;
      compared++;
      const groups = this.#groups.some((group) => this.#consumed.get(`${group} ${placeOf(send)}`)?.has(send.offset));
      if (!groups && !watched?.at(send.offset) && !final?.at(send.offset)) problems.push(`nobody read ${nameIn(send)}`);
    }
    return [compared, problems];
  }

  uninvited(): Tally {
    const problems: string[] = [];
    let compared = 0;
    for (const { generation, log } of this.#allLogs()) {
      for (const [offset, name] of log.entries()) {
        compared++;
        const send = this.#evidence.history.send(log.topic, log.partition, name);
        const at = `${log.place} offset ${offset}`;
        if (!send) problems.push(`${at}: ${name} was never sent there`);
        else if (laneOf(send.producer) === 'refused') problems.push(`${at}: ${name} must be refused`);
        else if (send.outcome === 'acknowledged' && send.ackMs < generation.askedMs) {
          problems.push(`${at}: ${name} was acknowledged before this topic was created, in another of its name`);
        }
      }
    }
    for (const send of this.#evidence.history.sends.values()) {
      if (send.outcome === 'accepted') problems.push(`${nameIn(send)} must be refused, and was acknowledged`);
    }
    return [compared, problems];
  }

  inconsistentOffsets(): Tally {
    const problems: string[] = [];
    let compared = 0;
    for (const { watched, final } of this.#logs) {
      for (const [offset, name] of final?.entries() ?? []) {
        const before = watched?.at(offset);
        if (before === undefined) continue;
        compared++;
        if (before !== name) problems.push(`${final!.place} offset ${offset}: ${before}, later ${name}`);
      }
    }
    for (const [member, events] of this.#evidence.history.members) {
      for (const event of events) {
        if (event.kind !== 'consumed') continue;
        const { offset, name } = event;
        const names = this.#namesAt(placeOf(event), offset);
        if (names.length === 0) continue;
        compared++;
        if (!names.includes(name!))
          problems.push(`${member} read ${name} at ${placeOf(event)} offset ${offset}, the verifier ${names}`);
      }
    }
    return [compared, problems];
  }

  duplicates(): Tally {
    const problems: string[] = [];
    let compared = 0;
    for (const { watched, final } of this.#logs) {
      const offsets = new Map<string, number>();
      for (const log of [watched, final]) {
        for (const [offset, name] of log?.entries() ?? []) {
          const send = this.#evidence.history.send(log!.topic, log!.partition, name);
          if (!send || !isIdempotent(send)) continue;
          compared++;
          const first = offsets.get(name);
          if (first !== undefined && first !== offset)
            problems.push(`${log!.place}: ${name} at offsets ${first} and ${offset}`);
          offsets.set(name, offset);
        }
      }
    }
    return [compared, problems];
  }

  /** Only of topics that stay; a member may be anywhere in one that was deleted and created again. */
  jumps(): Tally {
    const tally: Tally = [0, []];
    const commits = this.#commits();
    for (const [member, events] of this.#evidence.history.members) {
      const next = new Map<string, number | { readonly assignedMs: number }>();
      for (const event of events) {
        if (!this.#evidence.consumedTopics.includes(event.topic)) continue;
        const place = placeOf(event);
        if (event.kind === 'assigned') next.set(place, { assignedMs: event.ms });
        else if (event.kind === 'revoked') next.delete(place);
        else if (event.kind === 'consumed') {
          const due = next.get(place);
          this.#checkStep(member, event, due, commits.get(`${kindOf(member)} ${place}`) ?? [], tally);
          next.set(place, event.offset + 1);
        }
      }
    }
    this.#checkCommitted(commits, tally);
    return tally;
  }

  #checkStep(
    member: string,
    { topic, partition, offset }: MemberEvent,
    due: number | { readonly assignedMs: number } | undefined,
    commits: readonly Commit[],
    tally: Tally,
  ): void {
    const [, problems] = tally;
    const place = `${topic}-${partition}`;
    tally[0]++;
    if (due === undefined) problems.push(`${member} read ${place} offset ${offset}, which it was not assigned`);
    else if (typeof due !== 'number') {
      const least = Math.max(0, ...commits.filter(({ ms }) => ms < due.assignedMs).map((commit) => commit.offset));
      if (offset < least) problems.push(`${member} began ${place} at offset ${offset}; ${least} had been committed`);
    } else if (offset < due) problems.push(`${member} read ${place} offset ${offset} again after ${due - 1}`);
    else if (offset > due && offset > this.#startOf(place)) {
      problems.push(`${member} jumped from ${place} offset ${due - 1} to ${offset}`);
    }
  }

  /** What members were told is committed is, at the end. */
  #checkCommitted(commits: ReadonlyMap<string, readonly Commit[]>, tally: Tally): void {
    for (const [key, all] of commits) {
      if (!this.#evidence.consumedTopics.includes(key.slice(key.indexOf(' ') + 1, key.lastIndexOf('-')))) continue;
      tally[0]++;
      const greatest = all.reduce((most, { offset }) => Math.max(most, offset), 0);
      const committed = this.#evidence.committed.get(key) ?? -1;
      if (committed < greatest) tally[1].push(`group ${key}: ${committed} is committed, ${greatest} was`);
    }
  }

  #commits(): Map<string, Commit[]> {
    const commits = new Map<string, Commit[]>();
    for (const [member, events] of this.#evidence.history.members) {
      for (const event of events) {
        if (event.kind !== 'committed') continue;
        const key = `${kindOf(member)} ${placeOf(event)}`;
        const all = commits.get(key) ?? [];
        all.push(event);
        commits.set(key, all);
      }
    }
    return commits;
  }

  reordered(): Tally {
    const problems: string[] = [];
    let compared = 0;
    const last = new Map<string, Send>();
    const sends = this.#certain.filter(([send]) => isIdempotent(send));
    for (const [send, { generation }] of sends.sort(([a], [b]) => a.number - b.number)) {
      const key = `${generation.topicId}/${send.partition} ${send.producer}`;
      const before = last.get(key);
      if (before) {
        compared++;
        if (before.offset >= send.offset) problems.push(`${nameIn(before)} lies behind ${nameIn(send)}`);
      }
      last.set(key, send);
    }
    return [compared, problems];
  }

  unseen(): Tally {
    const problems: string[] = [];
    let compared = 0;
    for (const { final } of this.#logs) {
      if (!final || !this.#evidence.consumedTopics.includes(final.topic)) continue;
      for (const group of this.#groups) {
        const consumed = this.#consumed.get(`${group} ${final.place}`);
        for (let offset = final.start; offset < final.end; offset++) {
          compared++;
          if (!consumed?.has(offset)) problems.push(`group ${group} has not read ${final.place} offset ${offset}`);
        }
      }
    }
    return [compared, problems];
  }

  wrongOffsets(): Tally {
    const problems: string[] = [];
    let compared = 0;
    for (const [send, { watched, final }] of this.#certain) {
      for (const log of [watched, final]) {
        const found = log?.at(send.offset);
        if (found === undefined) continue;
        compared++;
        const name = `${send.producer}/${send.number}`;
        if (found !== name) problems.push(`${log!.place} offset ${send.offset} holds ${found}, acknowledged ${name}`);
      }
    }
    return [compared, problems];
  }

  gaps(): string[] {
    const problems: string[] = [];
    for (const { final } of this.#logs) {
      if (!final) continue;
      for (let offset = final.start; offset < final.end; offset++) {
        if (final.at(offset) === undefined) problems.push(`${final.place} has no offset ${offset}`);
      }
      if (final.start > 0 && this.#evidence.keptTopics.includes(final.topic)) {
        problems.push(`${final.place} begins at ${final.start}; nothing was to be deleted`);
      }
    }
    return problems;
  }

  lostAfterKill(): Tally {
    const problems: string[] = [];
    let compared = 0;
    for (const [send, { final }] of this.#certain) {
      if (!final || send.offset < final.start) continue;
      compared++;
      if (final.at(send.offset) === undefined) problems.push(`${nameIn(send)} is lost; the log ends at ${final.end}`);
    }
    return [compared, problems];
  }

  /** The log start at the end of a topic that stays. */
  #startOf(place: string): number {
    return this.#logsAt.get(place)?.[0]?.final?.start ?? 0;
  }

  /** What the verifier read at an offset of a place, whichever topic of that name it was in. */
  #namesAt(place: string, offset: number): string[] {
    const names: string[] = [];
    for (const { watched, final } of this.#logsAt.get(place) ?? []) {
      for (const log of [watched, final]) {
        const name = log?.at(offset);
        if (name !== undefined) names.push(name);
      }
    }
    return names;
  }

  *#allLogs(): Generator<{ readonly generation: Generation; readonly log: PartitionLog }> {
    for (const { generation, watched, final } of this.#logs) {
      for (const log of [watched, final]) if (log) yield { generation, log };
    }
  }
}

type Commit = Pick<MemberEvent, 'ms' | 'offset'>;

const keyOf = ({ topicId, partition }: PartitionLog): string => `${topicId}/${partition}`;
const placeOf = ({ topic, partition }: Pick<Send, 'topic' | 'partition'>): string => `${topic}-${partition}`;
const nameIn = (send: Send): string =>
  `${send.producer}/${send.number} (acknowledged at ${placeOf(send)} offset ${send.offset})`;
