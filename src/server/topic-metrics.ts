/** Kafka's BrokerTopicMetrics: of all topics together, and of each, whose name is the label `topic`. Main thread. */
import type { MetricsRegistry } from '../common/metrics-registry.ts';
import type { TopicCounts } from '../common/topic-traffic.ts';
import type { DisklessEngine } from '../engine/diskless-engine.ts';

/** Topics that have series of their own, as many as any other family has; those beyond it are counted together. */
const MAX_TOPICS = 2_000;

const metrics: readonly (readonly [name: string, help: string, read: (counts: TopicCounts) => number])[] = [
  ['bytesin', 'Bytes of record batches appended.', ({ appendedBytes }) => appendedBytes],
  ['messagesin', 'Records appended.', ({ appendedRecords }) => appendedRecords],
  ['bytesout', 'Bytes of record batches fetched.', ({ fetchedBytes }) => fetchedBytes],
];

export function observeTopics(registry: MetricsRegistry, engine: DisklessEngine): void {
  for (const [name, help, read] of metrics) {
    registry.observe('counter', `kafka_server_brokertopicmetrics_${name}_total`, help, (observe) => {
      observe(read(engine.stats()));
      const topics = engine.topicStats();
      for (const { topic, ...counts } of topics.slice(0, MAX_TOPICS)) observe(read(counts), { topic });
      if (topics.length <= MAX_TOPICS) return;
      const beyond = topics.slice(MAX_TOPICS).reduce((sum, counts) => sum + read(counts), 0);
      observe(beyond, { overflow: 'true' });
    });
  }
}
