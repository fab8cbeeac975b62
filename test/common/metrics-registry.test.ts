import { describe, expect, it } from 'vitest';
import { type Labels, MetricsRegistry } from '../../src/common/metrics-registry.ts';
import { registryMeter } from '../../src/common/registry-meter.ts';

/** The lines of one family, without the comments. */
const linesOf = (registry: MetricsRegistry, name: string): string[] =>
  registry
    .text()
    .split('\n')
    .filter((line) => line.startsWith(name));

describe('a registry', () => {
  it('tells counters and what it observes, in order of their names, with escaped labels', () => {
    const registry = new MetricsRegistry();
    const counter = registry.counter('b_total', 'Told\nin one line.');
    counter.of({ why: 'a "quoted" \\ name\n' }).add(2);
    counter.of({ why: 'other', api: 'x' }).add(1);
    counter.of({ api: 'x', why: 'other' }).add(1);
    registry.observe('gauge', 'a_bytes', 'Seen.', (observe) => observe(7));
    registry.observe('gauge', 'a_bytes', 'Seen.', (observe) => observe(0.5, { of: 'that' }));
    expect(registry.text()).toBe(
      [
        '# HELP a_bytes Seen.',
        '# TYPE a_bytes gauge',
        'a_bytes 7',
        'a_bytes{of="that"} 0.5',
        '# HELP b_total Told in one line.',
        '# TYPE b_total counter',
        'b_total{why="a \\"quoted\\" \\\\ name\\n"} 2',
        'b_total{api="x",why="other"} 2',
        '',
      ].join('\n'),
    );
  });

  it('tells histograms with buckets that add up', () => {
    const registry = new MetricsRegistry();
    const series = registry.histogram('took', 'Took.', [1, 10]).of({ api: 'x' });
    for (const value of [0, 1, 1.5, 10, 11, 1000]) series.record(value);
    expect(linesOf(registry, 'took')).toEqual([
      'took_bucket{api="x",le="1"} 2',
      'took_bucket{api="x",le="10"} 4',
      'took_bucket{api="x",le="+Inf"} 6',
      'took_sum{api="x"} 1023.5',
      'took_count{api="x"} 6',
    ]);
  });

  it('is one family however often it is asked for, and of one kind', () => {
    const registry = new MetricsRegistry();
    registry.counter('a_total', '').of().add(1);
    registry.counter('a_total', '').of().add(1);
    expect(linesOf(registry, 'a_total')).toEqual(['a_total 2']);
    expect(() => registry.histogram('a_total', '', [1])).toThrow('one kind');
    expect(() => registry.counter('no name', '')).toThrow('no name');
  });

  it('bounds the series of a family', () => {
    const registry = new MetricsRegistry();
    const counter = registry.counter('a_total', '');
    for (let i = 0; i < 5_000; i++) counter.of({ i: String(i) }).add(1);
    const lines = linesOf(registry, 'a_total');
    expect(lines).toHaveLength(2_001);
    expect(lines.at(-1)).toBe('a_total{overflow="true"} 3000');
    counter.of({ i: '7' }).add(1);
    expect(linesOf(registry, 'a_total{i="7"}')).toEqual(['a_total{i="7"} 2']);
  });

  it('leaves out what can no longer be read, and what something else has replaced', () => {
    const registry = new MetricsRegistry();
    registry.observe('gauge', 'a', '', (observe) => {
      observe(1);
      throw new Error('closed');
    });
    registry.observe('gauge', 'a', '', (observe) => observe(2, { still: 'there' }));
    registry.observe('gauge', 'a', '', (observe) => observe(3, { still: 'there' }));
    expect(linesOf(registry, 'a')).toEqual(['a{still="there"} 3']);
  });
});

describe('a meter over a registry', () => {
  it("names instruments as OpenTelemetry's exporters do", () => {
    const registry = new MetricsRegistry();
    const meter = registryMeter(registry);
    meter.createCounter('diskless.append.bytes', { unit: 'By' }).add(3);
    meter.createCounter('diskless.object_storage.io', { unit: 'By' }).add(4, { 'error.type': 'x' });
    meter.createCounter('segments', { unit: '{segment}' }).add(5);
    meter.createObservableGauge('view', { unit: 'By' }).addCallback((result) => result.observe(6, { on: true }));
    meter.createObservableCounter('fetches').addCallback((result) => result.observe(7));
    const values = registry
      .text()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(values).toEqual([
      'diskless_append_bytes_total 3',
      'diskless_object_storage_io_bytes_total{error_type="x"} 4',
      'fetches_total 7',
      'segments_total 5',
      'view_bytes{on="true"} 6',
    ]);
  });

  it('records with the same attributes into the same series, whichever object holds them', () => {
    const registry = new MetricsRegistry();
    const histogram = registryMeter(registry).createHistogram('took', { unit: 's' });
    const kept: Labels = Object.freeze({ operation: 'put' });
    for (const attributes of [kept, kept, { operation: 'put' }]) histogram.record(0.02, attributes);
    histogram.record(1);
    expect(linesOf(registry, 'took_seconds_count')).toEqual([
      'took_seconds_count{operation="put"} 3',
      'took_seconds_count 1',
    ]);
    expect(linesOf(registry, 'took_seconds_bucket{operation="put",le="0.025"}')).toHaveLength(1);
  });
});
