/** The hosts of one test, over one folder of objects and one coordinator: started, ended by their own steps, followed up. */
import { fileURLToPath } from 'node:url';
import { HostProcess } from '../server/host-process.ts';
import type { Step } from './steps.ts';

const ENTRY = fileURLToPath(new URL('./stepped-host.ts', import.meta.url));

/** Deadlines and graces of seconds, so that a test sees them pass; the order among them is that of the defaults. */
const QUICK = {
  produceCommitIntervalMs: 5,
  produceUploadDeadlineMs: 500,
  produceCommitDeadlineMs: 1_000,
  retryBackoffMs: 10,
  retryBackoffMaxMs: 200,
  retentionCheckIntervalMs: 500,
  fileDeletionIntervalMs: 200,
  fileDeletionGraceMs: 500,
  orphanSearchIntervalMs: 200,
  orphanGraceMs: 1_500,
};

/** For a host that is to leave what it finds. */
export const NO_SEARCH = { orphanSearchIntervalMs: 600_000 };

export interface HostOptions {
  readonly nodeId?: number;
  readonly step?: Step;
  /** Which time the step comes by. */
  readonly at?: number;
  readonly signal?: NodeJS.Signals;
  readonly settings?: object;
}

export class Hosts {
  readonly #folder: string;
  readonly #flags: readonly string[];
  readonly #running = new Set<HostProcess>();

  /** `flags`: the coordinator's, where it is not SQLite in the folder. */
  constructor(folder: string, flags: readonly string[] = []) {
    this.#folder = folder;
    this.#flags = flags;
  }

  async start({ nodeId = 1, step, at = 1, signal = 'SIGKILL', settings }: HostOptions = {}): Promise<HostProcess> {
    const acting = step === undefined ? [] : ['--step', step, '--at', String(at), '--signal', signal];
    const host = await HostProcess.start({
      data: this.#folder,
      command: [process.execPath, '--import', 'tsx', ENTRY],
      flags: [
        '--node-id',
        String(nodeId),
        ...this.#flags,
        ...acting,
        '--settings',
        JSON.stringify({ ...QUICK, ...settings }),
      ],
      env: { TSX_TSCONFIG_PATH: 'bench/tsconfig.json' },
    });
    this.#running.add(host);
    host.exited().then(() => this.#running.delete(host));
    return host;
  }

  get addresses(): readonly string[] {
    return [...this.#running].map(({ address }) => address);
  }

  /** Ends what still runs, whatever it does. */
  async end(): Promise<void> {
    await Promise.all([...this.#running].map((host) => host.stop('SIGKILL')));
  }
}

/** Objects that coordinates refer to, and others, as the host counts them now. */
export async function objectsOf(host: HostProcess): Promise<{ readonly referenced: number; readonly others: number }> {
  const reports = () => [...host.output.matchAll(/^objects (\d+) others (\d+)$/gm)];
  const before = reports().length;
  host.child.kill('SIGUSR2');
  await eventually('the host counts its objects', () => reports().length > before);
  const [, referenced, others] = reports().at(-1)!;
  return { referenced: Number(referenced), others: Number(others) };
}

/** Waits for a condition that comes about by itself. */
export async function eventually(
  what: string,
  holds: () => Promise<boolean> | boolean,
  withinMs = 60_000,
): Promise<void> {
  const untilMs = Date.now() + withinMs;
  while (!(await holds())) {
    if (Date.now() > untilMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
