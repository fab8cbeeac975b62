/** The instruments that an engine feeds, through a meter that keeps what it is told. */
import { expect, it } from 'vitest';
import { type Meter, noopMeter } from '../../src/common/metrics.ts';
import { batchOf, EngineFixture } from '../support/engine-fixture.ts';

/** Sums and attributes by instrument. */
function recordingMeter(): { meter: Meter; sums: Map<string, number>; attributes: Set<string> } {
  const sums = new Map<string, number>();
  const attributes = new Set<string>();
  const instrument = (name: string) => {
    const record = (value: number, given?: object): void => {
      sums.set(name, (sums.get(name) ?? 0) + value);
      if (given) attributes.add(JSON.stringify(given));
    };
    return { add: record, record };
  };
  return { meter: { ...noopMeter, createCounter: instrument, createHistogram: instrument }, sums, attributes };
}

it('measures what was appended, stored, committed and refused', async () => {
  const { meter, sums, attributes } = recordingMeter();
  const fixture = await EngineFixture.open({ meter });
  const topicId = await fixture.createTopic('orders');
  await fixture.append({ topicId, partition: 0 }, batchOf('a'));
  await fixture.append({ topicId, partition: 5 }, batchOf('lost'));
  const { appendedBytes } = fixture.engine.stats();
  expect(appendedBytes).toBeGreaterThan(61);
  expect(sums.get('diskless.append.bytes')).toBe(appendedBytes);
  expect(sums.get('diskless.append.failed_batches')).toBe(1);
  expect(attributes).toContain('{"error.type":"UNKNOWN_TOPIC_OR_PARTITION"}');
  expect(sums.get('diskless.segment.size')).toBeGreaterThan(appendedBytes);
  expect(sums.get('diskless.segment.commit.duration')).toBeGreaterThanOrEqual(0);
  expect(sums.get('diskless.segment.upload.duration')).toBeGreaterThanOrEqual(0);
});
