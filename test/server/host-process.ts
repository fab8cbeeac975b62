/** `shoal serve` as a process of its own, on the built command, for tests that kill it or look at it from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface HostProcessOptions {
  readonly data: string;
  /** @default a free port of 127.0.0.1 */
  readonly listen?: string;
  readonly flags?: readonly string[];
  /** What comes before the flags. @default node dist/cli.js serve */
  readonly command?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

export class HostProcess {
  readonly child: ChildProcess;
  /** `HOST:PORT` of the ready line. */
  readonly address: string;
  readonly #output: string[];
  readonly #exited: Promise<number | NodeJS.Signals>;

  private constructor(
    child: ChildProcess,
    address: string,
    output: string[],
    exited: Promise<number | NodeJS.Signals>,
  ) {
    this.child = child;
    this.address = address;
    this.#output = output;
    this.#exited = exited;
  }

  /** Resolves when it printed `ready HOST:PORT`. @throws Error with its output when it ends before */
  static async start({ data, listen, flags, command, env }: HostProcessOptions): Promise<HostProcess> {
    const [program, ...before] = command ?? [process.execPath, 'dist/cli.js', 'serve'];
    const args = [...before, '--data', data, '--listen', listen ?? '127.0.0.1:0', ...(flags ?? [])];
    const child = spawn(program!, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output: string[] = [];
    const exited = new Promise<number | NodeJS.Signals>((resolve) => {
      child.once('exit', (code, signal) => resolve(code ?? signal!));
    });
    child.stderr!.on('data', (chunk: Buffer) => output.push(chunk.toString()));
    for await (const line of createInterface({ input: child.stdout! })) {
      output.push(`${line}\n`);
      if (!line.startsWith('ready ')) continue;
      child.stdout!.on('data', (chunk: Buffer) => output.push(chunk.toString()));
      child.stdout!.resume();
      return new HostProcess(child, line.slice('ready '.length), output, exited);
    }
    throw new Error(`shoal serve ended with ${await exited} before it was ready:\n${output.join('')}`);
  }

  /** What it printed so far, both streams. */
  get output(): string {
    return this.#output.join('');
  }

  /** Sends a signal and resolves with the exit code, or the signal that ended it. */
  async stop(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    this.child.kill(signal);
    return this.#exited;
  }

  exited(): Promise<number | NodeJS.Signals> {
    return this.#exited;
  }
}
