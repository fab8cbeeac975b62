/** BrokerTopicMetrics by topic: however many topics there are, a scrape has a bounded number of series. */
import { expect, it } from 'vitest';
import { MetricsRegistry } from '../../src/common/metrics-registry.ts';
import type { DisklessEngine, EngineStats, TopicStats } from '../../src/engine/diskless-engine.ts';
import { observeTopics } from '../../src/server/topic-metrics.ts';

const SERIES = 2_000;

function linesOf(topics: number): string[] {
  const registry = new MetricsRegistry();
  const counts = { appendedRecords: 1, appendedBytes: 100, fetchedBytes: 7 };
  const topicStats = (): TopicStats[] =>
    Array.from({ length: topics }, (_, i) => ({ topic: `t${i}`, topicId: `${i}`, ...counts }));
  const stats = () => ({ ...counts, appendedBytes: 100 * topics }) as EngineStats;
  observeTopics(registry, { stats, topicStats } as DisklessEngine);
  return registry
    .text()
    .split('\n')
    .filter((line) => line.includes('_bytesin_total') && !line.startsWith('#'));
}

it('has a series for each of a few topics, and one for all', () => {
  expect(linesOf(2)).toEqual([
    'kafka_server_brokertopicmetrics_bytesin_total 200',
    'kafka_server_brokertopicmetrics_bytesin_total{topic="t0"} 100',
    'kafka_server_brokertopicmetrics_bytesin_total{topic="t1"} 100',
  ]);
});

it('counts the topics beyond the bound together', () => {
  const lines = linesOf(SERIES + 3);
  expect(lines).toHaveLength(SERIES + 2);
  expect(lines.at(-1)).toBe('kafka_server_brokertopicmetrics_bytesin_total{overflow="true"} 300');
});
