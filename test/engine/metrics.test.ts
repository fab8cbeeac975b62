/** The instruments that an engine feeds, through a meter that keeps what it is told. */
import { expect, it } from 'vitest';
import { type Meter, noopMeter } from '../../src/common/metrics.ts';
import { MetricsRegistry } from '../../src/common/metrics-registry.ts';
import { registryMeter } from '../../src/common/registry-meter.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
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

it('measures storage, coordinator and cache for whoever reads a registry', async () => {
  const registry = new MetricsRegistry();
  let failing = true;
  const fixture = await EngineFixture.open({
    meter: registryMeter(registry),
    storage: (real) => ({
      put: (...args) => {
        if (!failing) return real.put(...args);
        failing = false;
        return Promise.reject(new StorageError('throttled', 'slow down'));
      },
    }),
  });
  const topicId = await fixture.createTopic('orders');
  await fixture.append({ topicId, partition: 0 }, batchOf('a', 'b'));
  for (let i = 0; i < 2; i++) await fixture.readAll({ topicId, partition: 0 });
  const values = new Map(
    registry
      .text()
      .split('\n')
      .map((line): [string, number] => [
        line.slice(0, line.lastIndexOf(' ')),
        Number(line.slice(line.lastIndexOf(' '))),
      ]),
  );
  const { appendedBytes } = fixture.engine.stats();
  const expected: [string, number][] = [
    ['diskless_append_bytes_total', appendedBytes],
    ['diskless_append_records_total', 2],
    ['diskless_append_batches_total', 1],
    ['diskless_object_storage_errors_total{error_type="throttled",operation="put"}', 1],
    ['diskless_object_storage_request_duration_seconds_count{operation="put"}', 2],
    ['diskless_coordinator_operation_duration_seconds_count{operation="commitFile"}', 1],
    ['diskless_coordinator_commit_batches_sum', 1],
    ['diskless_fetch_local_hits_total', 1],
    ['diskless_fetch_local_misses_total', 1],
    ['diskless_engine_open', 1],
  ];
  expect(expected.map(([name]) => [name, values.get(name)])).toEqual(expected);
  expect(values.get('diskless_object_storage_io_bytes_total{operation="put"}')).toBeGreaterThan(appendedBytes);
  await fixture.engine.close();
  expect(registry.text()).toContain('diskless_engine_open 0');
});

it('counts by topic, until the topic is gone', async () => {
  const fixture = await EngineFixture.open();
  const [orders, events] = [await fixture.createTopic('orders', 2), await fixture.createTopic('events')];
  await fixture.createTopic('unused');
  await fixture.append({ topicId: orders, partition: 0 }, batchOf('a', 'b'));
  await fixture.append({ topicId: orders, partition: 1 }, batchOf('c'));
  await fixture.append({ topicId: events, partition: 0 }, batchOf('d'));
  await fixture.append({ topicId: events, partition: 5 }, batchOf('refused'));
  await fixture.readAll({ topicId: orders, partition: 0 });
  const { appendedBytes, fetchedBytes } = fixture.engine.stats();
  const [first, second] = fixture.engine.topicStats();
  expect(first).toMatchObject({ topic: 'orders', topicId: orders, appendedRecords: 3, fetchedBytes });
  expect(second).toMatchObject({ topic: 'events', topicId: events, appendedRecords: 1, fetchedBytes: 0 });
  expect(first!.appendedBytes + second!.appendedBytes).toBe(appendedBytes);
  expect(fetchedBytes).toBeGreaterThan(0);
  await fixture.engine.deleteTopics([orders]);
  await expect.poll(() => fixture.engine.topicStats().map(({ topic }) => topic)).toEqual(['events']);
});
