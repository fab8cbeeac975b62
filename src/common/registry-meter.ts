/**
 * A meter over a registry, named as OpenTelemetry's Prometheus exporters name things: `diskless.segment.size` in `By`
 * becomes `diskless_segment_size_bytes`, a counter ends in `_total`.
 */
import type { Meter } from './metrics.ts';
import { type Family, type Labels, type MetricsRegistry, metricName } from './metrics-registry.ts';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const BYTES = [256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
const COUNTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000];
const SUFFIXES: Readonly<Record<string, string>> = { By: '_bytes', s: '_seconds' };

interface InstrumentOptions {
  readonly description?: string;
  /** `By`, `s`, or what is counted in braces. */
  readonly unit?: string;
}

type Attributes = Readonly<Record<string, unknown>>;

export function registryMeter(registry: MetricsRegistry): Meter {
  const observable = (kind: 'counter' | 'gauge', name: string, options: InstrumentOptions = {}) => ({
    addCallback(callback: (result: { observe(value: number, attributes?: Attributes): void }) => void): void {
      registry.observe(kind, exportedName(name, options, kind), describe(name, options), (observe) =>
        callback({ observe: (value, attributes) => observe(value, labelsOf(attributes)) }),
      );
    },
    removeCallback(): void {
      // An owner that is closed throws or answers what it knew last; its engine's meter goes with it.
    },
  });
  return {
    createCounter(name, options = {}) {
      const seriesOf = byAttributes(registry.counter(exportedName(name, options, 'counter'), describe(name, options)));
      return { add: (amount, attributes) => seriesOf(attributes).add(amount) };
    },
    createHistogram(name, options = {}) {
      const bounds = options.advice?.explicitBucketBoundaries ?? boundsOf(options);
      const exported = exportedName(name, options, 'histogram');
      const seriesOf = byAttributes(registry.histogram(exported, describe(name, options), bounds));
      return { record: (value, attributes) => seriesOf(attributes).record(value) };
    },
    createObservableCounter: (name, options) => observable('counter', name, options),
    createObservableGauge: (name, options) => observable('gauge', name, options),
  };
}

function exportedName(name: string, { unit = '' }: InstrumentOptions, kind: 'counter' | 'gauge' | 'histogram'): string {
  const suffix = SUFFIXES[unit] ?? '';
  const base = metricName(name);
  return `${base}${base.endsWith(suffix) ? '' : suffix}${kind === 'counter' ? '_total' : ''}`;
}

function describe(name: string, { description }: InstrumentOptions): string {
  return description ?? `${name}.`;
}

function boundsOf({ unit }: InstrumentOptions): readonly number[] {
  if (unit === 's') return SECONDS;
  return unit === 'By' ? BYTES : COUNTS;
}

function labelsOf(attributes: Attributes = {}): Labels {
  return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, String(value)]));
}

/** Finds series by attributes. An object that is used again and again, as on hot paths, is recognised as such. */
function byAttributes<S>(family: Family<S>): (attributes?: Attributes) => S {
  const none: Attributes = {};
  const known = new WeakMap<Attributes, S>();
  return (attributes = none) => {
    let series = known.get(attributes);
    if (!series) {
      series = family.of(labelsOf(attributes));
      known.set(attributes, series);
    }
    return series;
  };
}
