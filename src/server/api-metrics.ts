/**
 * Kafka's RequestMetrics: how many requests of each API and version, their sizes, how long they took from their arrival
 * until the socket took their answer, and the error codes that were answered. Main thread; a series is found once for each
 * API and version, after that a request costs a few additions.
 */
import { errorName } from '../common/errors.ts';
import type { CounterSeries, Family, HistogramSeries, MetricsRegistry } from '../common/metrics-registry.ts';
import type { Time } from '../common/time.ts';
import type { Api } from '../protocol/api.ts';
import { errorCodeVisitor } from '../protocol/error-codes.ts';

const MILLISECONDS = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000];
const BYTES = [64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];

/** One request under way. */
export class RequestMeasure {
  readonly #series: ApiSeries;
  readonly #time: Time;
  readonly #startMs: number;

  constructor(series: ApiSeries, time: Time) {
    this.#series = series;
    this.#time = time;
    this.#startMs = time.monotonicMs();
  }

  /** The error codes of its answer, before that is written. */
  errorsOf(response: unknown): void {
    this.#series.countErrors(response);
  }

  /** The socket took the answer, or there is none. */
  done(responseBytes: number): void {
    this.#series.responseBytes.record(responseBytes);
    this.#series.totalTime.record(this.#time.monotonicMs() - this.#startMs);
  }
}

interface ApiSeries {
  readonly requests: CounterSeries[];
  readonly requestBytes: HistogramSeries;
  readonly responseBytes: HistogramSeries;
  readonly totalTime: HistogramSeries;
  readonly countErrors: (response: unknown) => void;
}

export class ApiMetrics {
  readonly #time: Time;
  readonly #requests: Family<CounterSeries>;
  readonly #errors: Family<CounterSeries>;
  readonly #requestBytes: Family<HistogramSeries>;
  readonly #responseBytes: Family<HistogramSeries>;
  readonly #totalTime: Family<HistogramSeries>;
  readonly #byApi = new Map<number, ApiSeries>();

  constructor(registry: MetricsRegistry, time: Time) {
    const name = (of: string): string => `kafka_network_requestmetrics_${of}`;
    this.#time = time;
    this.#requests = registry.counter(name('requests_total'), 'Requests by API and version.');
    this.#errors = registry.counter(name('errors_total'), 'Error codes answered, NONE included, by API.');
    this.#requestBytes = registry.histogram(name('requestbytes'), 'Sizes of requests.', BYTES);
    this.#responseBytes = registry.histogram(name('responsebytes'), 'Sizes of responses.', BYTES);
    const help = 'Milliseconds from the arrival of a request until its answer was taken by the socket.';
    this.#totalTime = registry.histogram(name('totaltimems'), help, MILLISECONDS);
  }

  begin(api: Api, version: number, requestBytes: number): RequestMeasure {
    const series = this.#byApi.get(api.key) ?? this.#seriesOf(api);
    series.requests[version] ??= this.#requests.of({ request: api.name, version: String(version) });
    series.requests[version].add(1);
    series.requestBytes.record(requestBytes);
    return new RequestMeasure(series, this.#time);
  }

  #seriesOf(api: Api): ApiSeries {
    const labels = { request: api.name };
    const series = {
      requests: [],
      requestBytes: this.#requestBytes.of(labels),
      responseBytes: this.#responseBytes.of(labels),
      totalTime: this.#totalTime.of(labels),
      countErrors: this.#errorCounter(api),
    };
    this.#byApi.set(api.key, series);
    return series;
  }

  #errorCounter({ name: request, response }: Api): (response: unknown) => void {
    const visit = errorCodeVisitor(response);
    const byCode = new Map<number, CounterSeries>();
    const count = (code: number): void => {
      let series = byCode.get(code);
      if (!series) {
        series = this.#errors.of({ request, error: errorName(code) });
        byCode.set(code, series);
      }
      series.add(1);
    };
    return (answer) => visit(answer, count);
  }
}
