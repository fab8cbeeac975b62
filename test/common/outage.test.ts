import { expect, it } from 'vitest';
import { type Logger, silentLogger } from '../../src/common/logger.ts';
import { Outage } from '../../src/common/outage.ts';
import { ManualTime } from '../support/manual-time.ts';

function setUp() {
  const lines: object[] = [];
  const line = (fields: object, message: string): void => void lines.push({ ...fields, message });
  const logger: Logger = { ...silentLogger, info: line, warn: line };
  const time = new ManualTime();
  return { lines, time, outage: new Outage({ time, logger, what: 'segment upload' }) };
}

const error = new Error('the disk is full');
const failedLine = (failures: number) => ({
  objectKey: 'a',
  failures,
  error: 'Error: the disk is full',
  message: 'segment upload failed',
});
const recovered = { message: 'segment upload works again' };

it('logs the first failure, a count every ten seconds, and the end', async () => {
  const { lines, time, outage } = setUp();
  outage.succeeded();
  for (let i = 0; i < 5; i++) outage.failed(error, { objectKey: 'a' });
  expect(lines).toEqual([failedLine(1)]);
  await time.advance(10_000);
  outage.failed(error, { objectKey: 'a' });
  expect(lines).toEqual([failedLine(1), failedLine(5)]);
  outage.succeeded();
  outage.succeeded();
  expect(lines).toEqual([failedLine(1), failedLine(5), recovered]);
});

it('stays quiet where every second attempt fails, and loses no count', async () => {
  const { lines, time, outage } = setUp();
  for (let i = 0; i < 4; i++) {
    outage.failed(error, { objectKey: 'a' });
    outage.succeeded();
  }
  await time.advance(10_000);
  outage.failed(error, { objectKey: 'a' });
  expect(lines).toEqual([failedLine(1), recovered, failedLine(4)]);
});

it('knows the reason until an attempt succeeds, or nobody tries any more', async () => {
  const { time, outage } = setUp();
  expect(outage.reason).toBeUndefined();
  outage.failed(error, {});
  expect(outage.reason).toBe('segment upload failed: the disk is full');
  outage.succeeded();
  expect(outage.reason).toBeUndefined();
  outage.failed(error, {});
  await time.advance(29_999);
  expect(outage.reason).toBe('segment upload failed: the disk is full');
  await time.advance(1);
  expect(outage.reason).toBeUndefined();
});
