import { expect, it } from 'vitest';
import { churn } from './s3-churn.ts';

it('keeps every promise through 1,500 requests of which a tenth fail, with sockets and handles flat', async () => {
  const result = await churn(1_500, 20_261_129);
  expect(result.requests).toBeGreaterThanOrEqual(1_500);
  expect(result.faults).toBeGreaterThan(100);
  expect(result.faultKinds).toBeGreaterThan(15);
  expect(result.failed).toBeLessThan(result.faults / 4);
  expect(result.mostSockets).toBeLessThanOrEqual(64);
  expect(result.handles[1]).toBeLessThanOrEqual(result.handles[0] + 80);
});
