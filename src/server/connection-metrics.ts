/** Kafka's socket server metrics, and why connections were refused. Main thread; made by the server. */
import type { CounterSeries, Family, MetricsRegistry } from '../common/metrics-registry.ts';

export class ConnectionMetrics {
  readonly incomingBytes: CounterSeries;
  readonly outgoingBytes: CounterSeries;
  readonly created: CounterSeries;
  readonly closed: CounterSeries;
  readonly #refused: Family<CounterSeries>;

  constructor(registry: MetricsRegistry) {
    const counter = (name: string, help: string): CounterSeries =>
      registry.counter(`kafka_server_socket_server_metrics_${name}_total`, help).of();
    this.incomingBytes = counter('incoming_byte', 'Bytes read from clients.');
    this.outgoingBytes = counter('outgoing_byte', 'Bytes of answers handed to clients.');
    this.created = counter('connection_creation', 'Connections accepted.');
    this.closed = counter('connection_close', 'Connections closed.');
    this.#refused = registry.counter('shoal_connections_refused_total', 'Connections closed at once, by limit.');
  }

  refused(limit: string): void {
    this.#refused.of({ limit }).add(1);
  }
}
