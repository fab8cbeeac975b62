/** What the process itself costs, under the names that Prometheus' own clients use for Node.js. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricsRegistry } from '../common/metrics-registry.ts';
import type { Time } from '../common/time.ts';

const NANOSECONDS = 1e9;
const RESOLUTION_MS = 10;

/** Begins to watch the event loop; returns what ends that. */
export function observeProcess(metrics: MetricsRegistry, time: Time): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const gauge = (name: string, help: string, read: () => number): void =>
    metrics.observe('gauge', name, help, (observe) => observe(read()));
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  gauge('nodejs_heap_size_used_bytes', 'Heap in use.', () => process.memoryUsage().heapUsed);
  gauge('nodejs_heap_size_total_bytes', 'Heap.', () => process.memoryUsage().heapTotal);
  gauge(
    'nodejs_external_memory_bytes',
    'Memory outside the heap, shared memory left out.',
    () => process.memoryUsage().external,
  );
  gauge('process_start_time_seconds', 'When it started.', () => time.nowMs() / 1e3 - process.uptime());
  metrics.observe('counter', 'process_cpu_seconds_total', 'CPU time of all threads.', (observe) => {
    const { user, system } = process.cpuUsage();
    observe((user + system) / 1e6);
  });
  metrics.observe(
    'gauge',
    'nodejs_eventloop_lag_seconds',
    'How late the event loop is, since the last time it was asked.',
    (observe) => {
      for (const quantile of [50, 90, 99]) {
        observe(Math.max(0, delay.percentile(quantile) / NANOSECONDS - RESOLUTION_MS / 1e3), {
          quantile: String(quantile / 100),
        });
      }
      observe(Math.max(0, delay.max / NANOSECONDS - RESOLUTION_MS / 1e3), { quantile: '1' });
      delay.reset();
    },
  );
  return () => delay.disable();
}
