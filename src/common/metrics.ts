/**
 * What Shoal measures with: the subset of OpenTelemetry's Meter that it needs, and a no-op for those who pass none.
 * Instruments are created once, at construction; recording on the hot path allocates nothing but its attributes.
 * `registryMeter` (registry-meter.ts) is a meter that keeps what it is told, for `GET /metrics`.
 */
import type { Meter as OpenTelemetryMeter } from '@opentelemetry/api';

export type { Counter, Histogram } from '@opentelemetry/api';

export type Meter = Pick<
  OpenTelemetryMeter,
  'createCounter' | 'createHistogram' | 'createObservableCounter' | 'createObservableGauge'
>;

const instrument = {
  add: (): void => {},
  record: (): void => {},
  addCallback: (): void => {},
  removeCallback: (): void => {},
};
const make = (): typeof instrument => instrument;

/** Records nothing. The default recorder. */
export const noopMeter: Meter = {
  createCounter: make,
  createHistogram: make,
  createObservableCounter: make,
  createObservableGauge: make,
};

/** A value that is read from a source when metrics are exported, so that its hot path pays nothing for it. */
export type Observed<S> = readonly [name: string, unit: string, description: string, read: (source: S) => number];

export function observeCounters<S>(meter: Meter, rows: readonly Observed<S>[], source: () => S): void {
  for (const [name, unit, description, read] of rows) {
    const counter = meter.createObservableCounter(name, { unit, description });
    counter.addCallback((result) => result.observe(read(source())));
  }
}

export function observeGauges<S>(meter: Meter, rows: readonly Observed<S>[], source: () => S): void {
  for (const [name, unit, description, read] of rows) {
    const gauge = meter.createObservableGauge(name, { unit, description });
    gauge.addCallback((result) => result.observe(read(source())));
  }
}
