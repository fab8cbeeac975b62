/** What the clients' journals say, gathered: every record that was to be sent and what came of it, every member's events. */
import { kindOf, laneOf, type RecordName } from './journal.ts';

export interface Send {
  readonly producer: string;
  readonly topic: string;
  readonly partition: number;
  readonly number: number;
  /** From its acknowledgement where there is one: producers keep the time themselves. */
  sentMs: number;
  outcome: 'sent' | 'acknowledged' | 'failed' | 'refused' | 'accepted';
  ackMs: number;
  offset: number;
  error: string;
}

export interface MemberEvent {
  readonly kind: 'assigned' | 'revoked' | 'consumed' | 'committed';
  readonly ms: number;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly name: RecordName | undefined;
}

export class History {
  /** By `TOPIC-PARTITION PRODUCER/NUMBER`. */
  readonly sends = new Map<string, Send>();
  /** By member, in the order that it wrote them down. */
  readonly members = new Map<string, MemberEvent[]>();
  /** How often clients met which error, by `KIND ERROR`. */
  readonly errors = new Map<string, number>();

  send(topic: string, partition: number, name: RecordName): Send | undefined {
    return this.sends.get(`${topic}-${partition} ${name}`);
  }

  /** Takes in one line of a journal. @throws Error for a line that is none */
  add(fields: readonly string[]): void {
    const [letter, ms, name, ...rest] = fields as [string, string, string, ...string[]];
    if ('SAFR'.includes(letter)) this.#addSend(letter, Number(ms), name, rest);
    else if (letter === 'E') this.#count(name, rest.join(' '));
    else if (letter === 'M') this.members.set(name, this.members.get(name) ?? []);
    else this.#addEvent(letter, Number(ms), name, rest);
  }

  #addSend(letter: string, ms: number, producer: string, [topic, partition, number, ...rest]: string[]): void {
    const key = `${topic}-${partition} ${producer}/${number}`;
    if (letter === 'S') {
      const place = { producer, topic: topic!, partition: Number(partition), number: Number(number) };
      this.sends.set(key, { ...place, sentMs: ms, outcome: 'sent', ackMs: 0, offset: -1, error: '' });
      return;
    }
    const send = this.sends.get(key);
    if (!send) throw new Error(`a journal answers for ${key}, which it never announced`);
    if (letter === 'A')
      Object.assign(send, { outcome: 'acknowledged', ackMs: ms, offset: Number(rest[0]), sentMs: Number(rest[1]) });
    else {
      const [error] = rest as [string];
      const outcome = letter === 'F' ? 'failed' : error === 'accepted' ? 'accepted' : 'refused';
      Object.assign(send, { outcome, error });
      if (letter === 'F') this.#count(producer, error);
    }
  }

  #addEvent(letter: string, ms: number, member: string, [topic, partition, offset, producer, number]: string[]): void {
    const kind = EVENTS[letter];
    if (!kind) throw new Error(`a journal of ${member} has a line that begins with ${letter}`);
    const name: RecordName | undefined = producer === undefined ? undefined : `${producer}/${Number(number)}`;
    const place = { topic: topic!, partition: Number(partition), offset: Number(offset ?? -1) };
    const events = this.members.get(member) ?? [];
    events.push({ kind, ms, ...place, name });
    this.members.set(member, events);
  }

  #count(name: string, error: string): void {
    const key = `${kindOf(name)} ${error}`;
    this.errors.set(key, (this.errors.get(key) ?? 0) + 1);
  }
}

const EVENTS: Readonly<Record<string, MemberEvent['kind']>> = {
  '+': 'assigned',
  '-': 'revoked',
  C: 'consumed',
  K: 'committed',
};

/** Of a producer whose retries must not double anything. */
export const isIdempotent = ({ producer }: Send): boolean => !['plain', 'refused'].includes(laneOf(producer));
