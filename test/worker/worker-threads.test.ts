import { expect, it } from 'vitest';
import { silentLogger } from '../../src/common/logger.ts';
import { systemTime } from '../../src/common/time.ts';
import { createKernelMemory, kernelModule } from '../../src/record/record-kernel.ts';
import { openWorkerThreads } from '../../src/worker/worker-threads.ts';

it('says so when the workers do not start', async () => {
  // No region is left for a worker: each fails while it loads, as it would without its file.
  const memory = createKernelMemory({ regions: 1, contentBytes: 65536, slabsBytes: 65536 });
  const options = { workers: 2, taskTimeoutMs: 1000, time: systemTime, logger: silentLogger };
  await expect(openWorkerThreads({ ...options, data: { module: kernelModule(), memory } })).rejects.toMatchObject({
    code: 'KAFKA_STORAGE_ERROR',
    message: 'the record workers do not start',
  });
});
