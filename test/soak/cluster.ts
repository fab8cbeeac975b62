/**
 * What a soak disturbs on the server's side: the real host process, and behind it a double of S3 that outlives it and goes
 * wrong on request. Keeps the host up as a supervisor would, counts what was done to it, and takes one disturbance at a time.
 */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, randomInt, seededRandom } from '../../src/common/random.ts';
import { HostProcess, root } from '../server/host-process.ts';
import { type FaultSchedule, seededFaults } from '../support/s3/faults.ts';
import { S3Double } from '../support/s3/s3-double.ts';
import { Turns } from './turns.ts';

/** Of requests to the storage while nothing special is done to it. */
const USUAL_FAULT_RATE = 0.01;
const BURST_FAULT_RATE = 0.4;
const START_MS = 60_000;
const DRAIN_MS = 60_000;
/** In which a disturbance of the storage must meet a request. */
const STRIKE_MS = 120_000;

export interface Counts {
  kills: number;
  restarts: number;
  pauses: number;
  /** Starts that did not reach `ready`, since the storage was not there. */
  failedStarts: number;
  /** Times in which at least one request was struck. */
  outages: number;
  bursts: number;
  slowdowns: number;
}

export class Cluster implements AsyncDisposable {
  readonly counts: Counts = { kills: 0, restarts: 0, pauses: 0, failedStarts: 0, outages: 0, bursts: 0, slowdowns: 0 };
  readonly storage: S3Double;
  readonly #data: string;
  readonly #seed: number;
  readonly #problems: string[] = [];
  #host: HostProcess | undefined;
  #address: string | undefined;
  /** Disturbances of the host. */
  readonly #turns = new Turns();
  /** Disturbances of the storage, which has one schedule of faults. */
  readonly #storageTurns = new Turns();

  private constructor(data: string, storage: S3Double, seed: number) {
    this.#data = data;
    this.storage = storage;
    this.#seed = seed;
  }

  static async start(data: string, seed: number): Promise<Cluster> {
    const cluster = new Cluster(data, await S3Double.start(), seed);
    await cluster.#start();
    cluster.heal();
    return cluster;
  }

  /** HOST:PORT, the same through all restarts. */
  get address(): string {
    return this.#address!;
  }

  /** What the host did that it may not do: end by itself, or not end when it was told to. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  get faults(): number {
    return this.storage.faultCount;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#turns.over;
    await this.#host?.stop('SIGKILL');
    await this.storage.stop();
  }

  /** At once, for a soak that is broken off. */
  abandon(): void {
    const host = this.#host;
    this.#host = undefined;
    host?.child.kill('SIGKILL');
  }

  /** kill −9, and up again. */
  kill(): Promise<void> {
    return this.#turns.take(async () => {
      this.counts.kills++;
      await this.#end('SIGKILL');
      await this.#start();
    });
  }

  /** SIGTERM, which drains, and up again. */
  restart(): Promise<void> {
    return this.#turns.take(async () => {
      this.counts.restarts++;
      await this.#drain();
      await this.#start();
    });
  }

  pause(ms: number): Promise<void> {
    return this.#turns.take(async () => {
      this.counts.pauses++;
      const child = this.#host?.child;
      child?.kill('SIGSTOP');
      await sleep(ms);
      child?.kill('SIGCONT');
    });
  }

  /** SIGTERM, for good. */
  stop(): Promise<void> {
    return this.#turns.take(() => this.#drain());
  }

  outage(ms: number): Promise<void> {
    const faults = { at: 'before', do: 'status', status: 503, code: 'ServiceUnavailable' } as const;
    return this.#disturbStorage('outages', ms, () => faults);
  }

  slowdown(ms: number, random: Random): Promise<void> {
    return this.#disturbStorage('slowdowns', ms, () => ({ at: 'delay', ms: randomInt(random, 200, 1_500) }));
  }

  burst(ms: number, seed: number): Promise<void> {
    return this.#disturbStorage('bursts', ms, seededFaults(seed, { rate: BURST_FAULT_RATE }));
  }

  /** At least for `ms`, and until it has struck: a time in which the host asks for nothing, being dead or paused, is no test. */
  #disturbStorage(what: 'outages' | 'slowdowns' | 'bursts', ms: number, faults: FaultSchedule): Promise<void> {
    return this.#storageTurns.take(async () => {
      const endMs = performance.now() + STRIKE_MS;
      let struck = 0;
      this.storage.schedule = (method, path) => {
        const fault = faults(method, path);
        if (fault) struck++;
        return fault;
      };
      await sleep(ms);
      while (struck === 0 && performance.now() < endMs) await sleep(50);
      if (struck > 0) this.counts[what]++;
      this.heal();
    });
  }

  /** Back to a few faults now and then. */
  heal(): void {
    const faults: FaultSchedule = seededFaults(this.#seed, { rate: USUAL_FAULT_RATE, stalls: false });
    const random = seededRandom(this.#seed);
    this.storage.schedule = (method, path) =>
      faults(method, path) ?? (random.next() < USUAL_FAULT_RATE ? { at: 'delay', ms: 300 } : undefined);
  }

  noFaults(): void {
    this.storage.schedule = () => undefined;
  }

  /** `shoal doctor` over the stopped host's data. */
  async examine(): Promise<{ readonly problems: readonly string[]; readonly coordinates: number }> {
    const flags = ['--data', this.#data, '--storage', this.#storageUrl, '--json'];
    const child = spawn(process.execPath, ['dist/cli.js', 'doctor', ...flags], { cwd: root, env: this.#env });
    const [said, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
    if (said === '') return { coordinates: 0, problems: [`shoal doctor says: ${complaints}`] };
    const report = JSON.parse(said) as { coordinates: number; problems: string[]; databaseFaults: string[] };
    return { coordinates: report.coordinates, problems: [...report.problems, ...report.databaseFaults] };
  }

  async #drain(): Promise<void> {
    const late = setTimeout(() => {
      this.#problems.push('the host did not drain within its time');
      this.#host?.child.kill('SIGKILL');
    }, DRAIN_MS);
    const code = await this.#end('SIGTERM');
    clearTimeout(late);
    if (code !== 0) this.#problems.push(`the host ended with ${code} when it was told to drain`);
  }

  async #end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals> {
    const host = this.#host;
    this.#host = undefined;
    return host ? host.stop(signal) : 0;
  }

  /** Tries again, as a supervisor does, while the storage cannot be reached. */
  async #start(): Promise<void> {
    if (this.#host) return;
    const endMs = performance.now() + START_MS;
    const flags = ['--storage', this.#storageUrl, '--commit-interval-ms', '50', '--auto-create-topics', 'false'];
    for (;;) {
      try {
        const options = { data: this.#data, flags: [...flags, '--log-level', 'error'], env: this.#env };
        this.#host = await HostProcess.start(this.#address ? { ...options, listen: this.#address } : options);
        break;
      } catch (error) {
        this.counts.failedStarts++;
        if (performance.now() > endMs) throw error;
        await sleep(500);
      }
    }
    this.#address = this.#host.address;
    this.#watch(this.#host);
  }

  #watch(host: HostProcess): void {
    void host.exited().then((code) => {
      if (this.#host !== host) return;
      this.#problems.push(`the host ended by itself with ${code}:\n${host.output.slice(-2000)}`);
      this.#host = undefined;
      void this.#turns.take(() => this.#start());
    });
  }

  get #storageUrl(): string {
    return `s3://double/soak?endpoint=${this.storage.endpoint}&region=us-east-1&path-style=true`;
  }

  get #env(): NodeJS.ProcessEnv {
    const { accessKeyId, secretAccessKey } = this.storage.accounts[0]!;
    return { ...process.env, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
  }
}
