/** The live line of a stress run: rates since the last line, latencies, and what the storage had to repeat. */
import type { ByteRange } from '../../src/common/byte-range.ts';
import type { GetOptions, ObjectStorage, PutOptions } from '../../src/index.ts';
import { intercept } from '../support/intercept.ts';
import type { LoadCounts } from './load.ts';
import type { StressTarget } from './target.ts';

const EVERY_MS = 5_000;
const MiB = 1024 * 1024;

interface Sample {
  puts: number;
  gets: number;
  putBytes: number;
  getBytes: number;
}

export class Progress {
  /** The target's storage, counted. */
  readonly observed: ObjectStorage;
  readonly #target: StressTarget;
  readonly #now: Sample = { puts: 0, gets: 0, putBytes: 0, getBytes: 0 };
  #before: Sample & { appendedBytes: number; consumedBytes: number; atMs: number };
  #timer: NodeJS.Timeout | undefined;
  readonly #startMs = performance.now();

  constructor(target: StressTarget) {
    this.#target = target;
    this.#before = { ...this.#now, appendedBytes: 0, consumedBytes: 0, atMs: performance.now() };
    const real = target.storage;
    this.observed = intercept(real, {
      put: async (key: string, body: readonly Uint8Array[], options?: PutOptions): Promise<void> => {
        await real.put(key, body, options);
        this.#now.puts++;
        for (const chunk of body) this.#now.putBytes += chunk.byteLength;
      },
      getRange: async (key: string, range: ByteRange, options?: GetOptions): Promise<Uint8Array> => {
        const bytes = await real.getRange(key, range, options);
        this.#now.gets++;
        this.#now.getBytes += range.size;
        return bytes;
      },
    });
  }

  start(counts: LoadCounts): void {
    this.#timer = setInterval(() => this.#print(counts), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #print(counts: LoadCounts): void {
    const nowMs = performance.now();
    const seconds = (nowMs - this.#before.atMs) / 1000;
    const rate = (now: number, before: number): string => ((now - before) / seconds).toFixed(0);
    const mib = (now: number, before: number): string => ((now - before) / seconds / MiB).toFixed(1);
    const { appendedBytes, consumedBytes, appendMs } = counts;
    const latencies = appendMs.splice(0).sort((a, b) => a - b);
    const at = (q: number): string => (latencies[Math.floor(latencies.length * q)] ?? 0).toFixed(0);
    const parts = [
      `${((nowMs - this.#startMs) / 1000).toFixed(0)} s`,
      `in ${mib(appendedBytes, this.#before.appendedBytes)} MiB/s`,
      `out ${mib(consumedBytes, this.#before.consumedBytes)} MiB/s`,
      `${rate(this.#now.puts, this.#before.puts)} PUT/s ${mib(this.#now.putBytes, this.#before.putBytes)} MiB/s`,
      `${rate(this.#now.gets, this.#before.gets)} GET/s ${mib(this.#now.getBytes, this.#before.getBytes)} MiB/s`,
      `append p50 ${at(0.5)} p99 ${at(0.99)} ms`,
      `records ${counts.appendedRecords} acked ${counts.consumedRecords} read`,
      `refused ${counts.refused}`,
    ];
    const s3 = this.#target.s3?.stats;
    if (s3) parts.push(`retries ${s3.retries} throttled ${s3.throttled} hedges ${s3.hedges}`);
    process.stdout.write(`${parts.join(' | ')}\n`);
    this.#before = { ...this.#now, appendedBytes, consumedBytes, atMs: nowMs };
  }
}
