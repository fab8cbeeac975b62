/** A traffic program (programs/arguments.ts) as a child process: waits for what it says, lets it go on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { within } from '../support/within.ts';
import type { ClientProgram } from './install.ts';

export interface TrafficReport {
  readonly version: string;
  readonly records: number;
  /** Of a consumer: what it read of each topic, and a sum over the timestamps that it saw. */
  readonly topics?: Readonly<Record<string, { readonly records: number; readonly timestamps: number }>>;
}

/** NAME → value of the program's arguments. */
export type TrafficFlags = Readonly<Record<string, string | number>>;

export class TrafficProgram {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #said: string[] = [];
  readonly #exited: Promise<number | NodeJS.Signals | null>;
  /** How often it said `ready` or `mark`. */
  #stops = 0;
  #waiting: { readonly stops: number; readonly resolve: () => void } | undefined;

  constructor(name: string, [command, ...args]: ClientProgram, flags: TrafficFlags) {
    this.name = name;
    const named = Object.entries(flags).map(([flag, value]) => `${flag}=${value}`);
    this.#child = spawn(command, [...args, ...named], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.#exited = new Promise((resolve) => {
      this.#child.once('error', (error) => this.#said.push(error.message));
      this.#child.once('close', (code, signal) => resolve(code ?? signal));
    });
    this.#child.stdin!.on('error', () => {});
    this.#child.stderr!.on('data', (chunk: Buffer) => this.#said.push(chunk.toString()));
    createInterface({ input: this.#child.stdout! }).on('line', (line) => this.#onLine(line));
  }

  #onLine(line: string): void {
    this.#said.push(`${line}\n`);
    if (line !== 'ready' && !line.startsWith('mark ')) return;
    this.#stops++;
    if (this.#stops === this.#waiting?.stops) this.#waiting.resolve();
  }

  /** Resolves when it has stopped so often in all. @throws Error with what it said when it ends before, or takes too long */
  async stopped(stops: number, timeoutMs: number): Promise<void> {
    const reached = new Promise<void>((resolve) => {
      this.#waiting = { stops, resolve };
      if (this.#stops >= stops) resolve();
    });
    const early = this.#exited.then((end) => {
      throw this.#error(`ended with ${end}`);
    });
    await this.#within(timeoutMs, Promise.race([reached, early]));
  }

  goOn(): void {
    this.#child.stdin!.write('\n');
  }

  /** What its last line reports. @throws Error with what it said unless it ends well in time */
  async report(timeoutMs: number): Promise<TrafficReport> {
    const end = await this.#within(timeoutMs, this.#exited);
    if (end !== 0) throw this.#error(`ended with ${end}`);
    return JSON.parse(this.#said.filter((line) => line.startsWith('{')).at(-1)!) as TrafficReport;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }

  #within<T>(timeoutMs: number, what: Promise<T>): Promise<T> {
    return within(timeoutMs, what, () => this.#error(`did not go on for ${timeoutMs / 1000} s`));
  }

  #error(what: string): Error {
    return new Error(`${this.name} ${what}; it said:\n${this.#said.join('').slice(-4000)}`);
  }
}
