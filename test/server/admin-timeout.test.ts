import { expect, it } from 'vitest';
import { withinTimeout } from '../../src/server/admin-timeout.ts';
import { ManualTime } from '../support/manual-time.ts';

const never = new Promise<string>(() => {});

it('waits for the timeout and no longer', async () => {
  const time = new ManualTime();
  const outcome = withinTimeout(time, 1_000, never).catch((error: { code: string }) => error.code);
  await time.advance(999);
  const early = await Promise.race([outcome, Promise.resolve('waiting')]);
  expect(early).toBe('waiting');
  await time.advance(1);
  expect(await outcome).toBe('REQUEST_TIMED_OUT');
});

it.each([1_000, 0, -1])('hands on what comes in time, with a timeout of %d ms', async (timeoutMs) => {
  const time = new ManualTime();
  expect(await withinTimeout(time, timeoutMs, Promise.resolve('done'))).toBe('done');
  await expect(withinTimeout(time, timeoutMs, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
});
