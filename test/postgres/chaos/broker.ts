/** A broker's process as the test sees it: it takes orders, is killed and started again. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TcpProxy } from '../tcp-proxy.ts';
import type { Answers, Operations } from './broker-process.ts';

const root = join(import.meta.dirname, '../../..');

export type Operation = keyof Operations;

/** A broker's process and the way to the database that only it takes. */
export class Broker {
  readonly #nodeId: number;
  readonly #folder: string;
  readonly proxy: TcpProxy;
  #child: ChildProcess | undefined;
  #ready: Promise<void> = Promise.resolve();
  readonly #pending = new Map<number, { resolve: (answer: never) => void; reject: (error: Error) => void }>();
  #nextId = 0;
  #isOver = false;

  constructor(nodeId: number, folder: string, proxy: TcpProxy) {
    this.#nodeId = nodeId;
    this.#folder = folder;
    this.proxy = proxy;
  }

  isReady = false;

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): Promise<void> {
    const url = `postgres://postgres@127.0.0.1:${this.proxy.port}/postgres`;
    const env = { ...process.env, TSX_TSCONFIG_PATH: 'bench/tsconfig.json' };
    const options = { cwd: root, env, execArgv: ['--import', 'tsx'], serialization: 'advanced' as const };
    const child = fork(join(import.meta.dirname, 'broker-process.ts'), [url, this.#folder, `${this.#nodeId}`], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#child = child;
    let stderr = '';
    child.stderr!.on('data', (bytes) => {
      stderr += bytes;
    });
    this.#ready = new Promise((resolve, reject) => {
      child.on('message', (message: { ready?: true; id: number; answer?: never; failure?: string }) => {
        if (message.ready) {
          this.isReady = true;
          return resolve();
        }
        const waiting = this.#pending.get(message.id);
        this.#pending.delete(message.id);
        if (message.failure === undefined) waiting?.resolve(message.answer!);
        else waiting?.reject(new Error(message.failure));
      });
      child.once('exit', () => {
        if (this.#child === child) this.#child = undefined;
        this.isReady = false;
        for (const { reject: fail } of this.#pending.values()) fail(new Error('the broker is gone'));
        this.#pending.clear();
        reject(new Error(`the broker is gone before it was ready: ${stderr.slice(-2_000)}`));
      });
    });
    this.#ready.catch(() => {});
    return this.#ready;
  }

  /** Until it starts: its database may be away. */
  async restart(): Promise<void> {
    for (; !this.#isOver; ) {
      try {
        await this.start();
        return;
      } catch {
        await sleep(100);
      }
    }
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.kill();
    await this.proxy.close();
  }

  async call<O extends Operation>(operation: O, body: Operations[O]): Promise<Answers[O]> {
    await this.#ready;
    const child = this.#child;
    if (!child?.connected) throw new Error('the broker is gone');
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (answer: never) => void, reject });
      child.send({ id, operation, body }, (error) => {
        if (error) reject(error);
      });
    });
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }
}
