import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/common/logger.ts';
import { systemTime } from '../../src/common/time.ts';
import { CLAIM_BYTES, CLAIMS } from '../../src/record/kernel-layout.ts';
import { createKernelMemory, kernelModule } from '../../src/record/record-kernel.ts';
import { openWorkerThreads, type WorkerThreads } from '../../src/worker/worker-threads.ts';

it('says so when the workers do not start', async () => {
  // No region is left for a worker: each fails while it loads, as it would without its file.
  const memory = createKernelMemory({ regions: 1, contentBytes: 65536, slabsBytes: 65536 });
  const options = { workers: 2, taskTimeoutMs: 1000, time: systemTime, logger: silentLogger };
  await expect(openWorkerThreads({ ...options, data: { module: kernelModule(), memory } })).rejects.toMatchObject({
    code: 'KAFKA_STORAGE_ERROR',
    message: 'the record workers do not start',
  });
});

describe('a replacement that does not start', () => {
  const started: Worker[] = [];
  let whenStarted: (worker: Worker) => void = () => {};
  const onWorker = (worker: Worker): void => {
    started.push(worker);
    whenStarted(worker);
  };
  const memory = createKernelMemory({ regions: 2, contentBytes: 65536, slabsBytes: 65536 });
  /** Who owns the only region that a worker can have. */
  const owner = new Int32Array(memory.memory.buffer, CLAIMS + CLAIM_BYTES, 1);
  let threads: WorkerThreads;

  beforeEach(async () => {
    process.on('worker', onWorker);
    const options = { workers: 1, taskTimeoutMs: 1000, time: systemTime, logger: silentLogger };
    threads = await openWorkerThreads({ ...options, data: { module: kernelModule(), memory } });
  });

  afterEach(async () => {
    process.off('worker', onWorker);
    whenStarted = () => {};
    await threads.close();
    owner[0] = 0;
  });

  it('fails what waits for it, until one starts', async () => {
    // It becomes somebody else's, who keeps it: no other worker finds one.
    owner[0] = 2 ** 31 - 1;
    await started.at(-1)!.terminate();
    await expect(threads.run([])).rejects.toThrow();
    await expect(threads.run([])).rejects.toThrow();
    owner[0] = 0;
    expect(await threads.run([])).toEqual([]);
  });

  it('fails what waits for it even if it ended without an error', async () => {
    whenStarted = (worker) => void worker.terminate();
    await started.at(-1)!.terminate();
    await expect(threads.run([])).rejects.toThrow();
    whenStarted = () => {};
    expect(await threads.run([])).toEqual([]);
  });
});
