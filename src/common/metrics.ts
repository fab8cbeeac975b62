/**
 * What Shoal measures with: the subset of OpenTelemetry's Meter that it needs, and a no-op for those who pass none.
 * Instruments are created once, at construction; recording on the hot path allocates nothing but its attributes.
 */
import type { Meter } from '@opentelemetry/api';

export type { Counter, Histogram, Meter, UpDownCounter } from '@opentelemetry/api';

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
  createUpDownCounter: make,
  createHistogram: make,
  createGauge: make,
  createObservableCounter: make,
  createObservableUpDownCounter: make,
  createObservableGauge: make,
  addBatchObservableCallback: () => {},
  removeBatchObservableCallback: () => {},
};
