/** The long form of test/storage/s3/s3-churn.test.ts: SHOAL_CHURN_REQUESTS requests (default 100,000), a tenth failing. */
import { expect, it } from 'vitest';
import { churn } from '../storage/s3/s3-churn.ts';

const requests = Number(process.env.SHOAL_CHURN_REQUESTS ?? 100_000);

it(`keeps sockets, memory and handles flat over ${requests} requests with a tenth failing`, {
  timeout: 3_600_000,
}, async () => {
  const seed = Date.now() % 2 ** 32;
  console.log(`seed ${seed}`);
  const result = await churn(requests, seed);
  console.log(JSON.stringify(result));
  const { faults, faultKinds, failed, mostSockets, rssBytes, handles } = result;
  expect(faults).toBeGreaterThan(requests / 20);
  expect(faultKinds).toBeGreaterThan(15);
  expect(failed).toBeLessThan(faults / 4);
  expect(mostSockets).toBeLessThanOrEqual(64);
  expect(handles[1]).toBeLessThanOrEqual(handles[0] + 80);
  expect(rssBytes[1] - rssBytes[0]).toBeLessThan(150 * 1024 * 1024);
});
