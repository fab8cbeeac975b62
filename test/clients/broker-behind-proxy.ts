/** A broker in a process of its own that clients reach through a recording proxy, at one address through all restarts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEndpoint } from '../../src/server/listener.ts';
import { HostProcess } from '../server/host-process.ts';
import { RecordingProxy, type Unanswered } from './recording-proxy.ts';

export class BrokerBehindProxy {
  readonly data: string;
  readonly proxy: RecordingProxy;
  #host: HostProcess | undefined;
  readonly #output: string[] = [];

  private constructor(data: string, proxy: RecordingProxy) {
    this.data = data;
    this.proxy = proxy;
  }

  static async start(): Promise<BrokerBehindProxy> {
    const data = await mkdtemp(join(tmpdir(), 'shoal-clients-'));
    const broker = new BrokerBehindProxy(data, await RecordingProxy.open());
    await broker.#start();
    return broker;
  }

  /** Where clients connect. */
  get address(): string {
    return this.proxy.address;
  }

  get output(): string {
    return [...this.#output, this.#host?.output ?? ''].join('');
  }

  /** @returns what clients were waiting for when their connections ended */
  async restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<Unanswered> {
    const unanswered = await this.#stop(signal);
    await this.#start();
    return unanswered;
  }

  async close(): Promise<void> {
    await this.#stop('SIGTERM');
    await rm(this.data, { recursive: true });
  }

  async #start(): Promise<void> {
    const flags = ['--advertised-listener', this.address];
    this.#host = await HostProcess.start({ data: this.data, flags });
    await this.proxy.accept(parseEndpoint(this.#host.address).port);
  }

  /** A broker that drains keeps its connections until it has ended. */
  async #stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<Unanswered> {
    const host = this.#host!;
    const stopped = host.stop(signal);
    if (signal === 'SIGTERM') await stopped;
    const unanswered = await this.proxy.refuse();
    const end = await stopped;
    this.#output.push(host.output);
    this.#host = undefined;
    if (end !== (signal === 'SIGKILL' ? signal : 0)) throw new Error(`the broker ended with ${end}:\n${this.output}`);
    return unanswered;
  }
}
