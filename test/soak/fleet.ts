/**
 * The client processes of a soak: of each kind one producer and two members of its group, each with a journal of its own
 * and, next to it, a log: what the process writes to stderr.
 * One that is killed is followed by another incarnation with a new name. Whoever starts a fleet stops it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClientProgram,
  installConfluentKafka,
  installJava,
  javaProgram,
  nodeProgram,
  pythonProgram,
} from '../clients/install.ts';
import { root } from '../server/host-process.ts';
import { argumentsFor, type ProgramTopic } from './programs/arguments.ts';
import { Turns } from './turns.ts';

const PROGRAMS = '../soak/programs';

/** How each kind's program is had; installs its library where it is lacking. */
export const CLIENT_KINDS: Readonly<Record<string, () => Promise<ClientProgram>>> = {
  kafkajs: async () => nodeProgram(`${PROGRAMS}/kafkajs.ts`),
  librdkafka: async () => {
    await installConfluentKafka();
    return pythonProgram(`${PROGRAMS}/librdkafka.py`);
  },
  java: async () => {
    await installJava('4.4.0');
    return javaProgram('4.4.0', 'Soak');
  },
};

const MEMBERS = 2;
const STOP_MS = 120_000;

export interface FleetOptions {
  readonly address: string;
  readonly folder: string;
  readonly topics: readonly ProgramTopic[];
  /** Records a second of each kind's producer. */
  readonly rate: number;
  readonly seed: number;
  /** What librdkafka is to log besides warnings, as its setting of that name takes it. */
  readonly debug: string;
}

/** One place in the fleet, taken by one process after another. */
export class Client {
  readonly kind: string;
  readonly mode: 'produce' | 'consume';
  readonly journals: string[] = [];
  kills = 0;
  pauses = 0;
  readonly #slot: number;
  readonly #program: ClientProgram;
  readonly #options: FleetOptions;
  readonly #problems: string[];
  #child: ChildProcess | undefined;
  #said: string[] = [];
  readonly #turns = new Turns();

  constructor(
    kind: string,
    mode: Client['mode'],
    slot: number,
    program: ClientProgram,
    options: FleetOptions,
    problems: string[],
  ) {
    this.kind = kind;
    this.mode = mode;
    this.#slot = slot;
    this.#program = program;
    this.#options = options;
    this.#problems = problems;
  }

  start(): void {
    const { address, folder, topics, rate, seed, debug } = this.#options;
    const incarnation = this.journals.length;
    const name = `${this.kind}.${this.mode[0]}${this.#slot}-${incarnation}`;
    const journal = join(folder, `${name}.journal`);
    this.journals.push(journal);
    const [command, ...before] = this.#program;
    const seedOfIt = seed + this.#slot * 1000 + incarnation;
    const args = argumentsFor({ mode: this.mode, address, name, topics, journal, rate, seed: seedOfIt, debug });
    const child = spawn(command, [...before, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stderr.pipe(createWriteStream(join(folder, `${name}.log`)));
    this.#child = child;
    this.#said = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => this.#said.push(chunk.toString()));
    }
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return;
      this.#problems.push(`${name} ended by itself with ${code ?? signal}:\n${this.#said.join('').slice(-2000)}`);
      this.start();
    });
  }

  /** kill −9, and a new incarnation. */
  kill(): Promise<void> {
    return this.#turns.take(async () => {
      this.kills++;
      await this.#end('SIGKILL');
      this.start();
    });
  }

  pause(ms: number): Promise<void> {
    return this.#turns.take(async () => {
      this.pauses++;
      const child = this.#child!;
      child.kill('SIGSTOP');
      await sleep(ms);
      child.kill('SIGCONT');
    });
  }

  /** Ends it in order, and starts a new incarnation after a while. */
  restart(awayMs: number): Promise<void> {
    return this.#turns.take(async () => {
      await this.#stop();
      await sleep(awayMs);
      this.start();
    });
  }

  /** Ends it in order, for good: a producer gets its answers, a member leaves its group. */
  stop(): Promise<void> {
    return this.#turns.take(() => this.#stop());
  }

  async #stop(): Promise<void> {
    const said = this.#said;
    const late = setTimeout(() => this.#child?.kill('SIGKILL'), STOP_MS);
    const code = await this.#end('SIGTERM');
    clearTimeout(late);
    // 143 is how a JVM ends on SIGTERM; one that had just been started dies of it.
    if (code !== 0 && code !== 143 && code !== 'SIGTERM') {
      this.#problems.push(
        `${this.journals.at(-1)} ended with ${code} when it was stopped:\n${said.join('').slice(-2000)}`,
      );
    }
  }

  async destroy(): Promise<void> {
    await this.#turns.over;
    if (this.#child) await this.#end('SIGKILL');
  }

  /** At once, for a soak that is broken off. */
  abandon(): void {
    const child = this.#child;
    this.#child = undefined;
    child?.kill('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    const child = this.#child!;
    this.#child = undefined;
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'exit');
    }
    return child.exitCode ?? child.signalCode!;
  }
}

export class Fleet implements AsyncDisposable {
  readonly kinds: readonly string[];
  readonly clients: readonly Client[];
  /** Clients that ended though nobody told them to, or not as they should. */
  readonly problems: string[] = [];

  private constructor(found: ReadonlyMap<string, ClientProgram>, options: FleetOptions) {
    this.kinds = [...found.keys()];
    this.clients = [...found].flatMap(([kind, program]) => [
      new Client(kind, 'produce', 0, program, options, this.problems),
      ...Array.from(
        { length: MEMBERS },
        (_, slot) => new Client(kind, 'consume', slot, program, options, this.problems),
      ),
    ]);
  }

  static start(found: ReadonlyMap<string, ClientProgram>, options: FleetOptions): Fleet {
    const fleet = new Fleet(found, options);
    for (const client of fleet.clients) client.start();
    return fleet;
  }

  get journals(): string[] {
    return this.clients.flatMap(({ journals }) => journals);
  }

  of(kind: string, mode: Client['mode']): Client[] {
    return this.clients.filter((client) => client.kind === kind && client.mode === mode);
  }

  /** Sum over a kind's processes of one mode. */
  count(kind: string, mode: Client['mode'], what: 'kills' | 'pauses'): number {
    return this.of(kind, mode).reduce((sum, client) => sum + client[what], 0);
  }

  async stop(mode: Client['mode']): Promise<void> {
    await Promise.all(this.clients.filter((client) => client.mode === mode).map((client) => client.stop()));
  }

  abandon(): void {
    for (const client of this.clients) client.abandon();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.clients) await client.destroy();
  }
}
