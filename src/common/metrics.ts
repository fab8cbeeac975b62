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
