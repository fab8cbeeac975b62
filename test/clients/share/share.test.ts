/** Queues with the share consumers that people have: Java's, and librdkafka's through confluent-kafka. */
import { beforeAll, describe, expect, it } from 'vitest';
import { runScenario } from '../groups/scenario.ts';
import { javaProgram, pythonProgram } from '../install.ts';

const minutes = (count: number): number => count * 60_000;

/** What each scenario of the program must find; a scenario that failed is the text of its error. */
const JAVA: Readonly<Record<string, unknown>> = {
  implicit: { first: 100, second: ['v100'] },
  explicit: { delivered: 40, again: 10, rejected: 10 },
  locks: { lockMs: 15_000, count: 2, late: 'InvalidRecordStateException' },
  limit: { counts: [1, 2, 3], after: ['v1'] },
  modes: { optimized: 3000, limited: 5000, largest: 300, both: true },
  several: { distinct: 3000, all: 3000, each: true },
  killed: { back: 5, count: 2 },
  admins: {
    members: 1,
    refused: 'GroupNotEmptyException',
    start: 10,
    lag: 0,
    altered: '4+6',
    again: ['v4', 'v5', 'v6', 'v7', 'v8', 'v9'],
    tool: true,
    reset: 0,
    type: 'Share',
  },
  deadLetters: {
    'k1=v1': deadLetter(1, 1, 'Offset rejected by client.'),
    'k4=v4': deadLetter(4, 2, 'Offset delivery count exceeded the threshold.'),
    'k5=v5': deadLetter(5, 2, 'Offset delivery count exceeded the threshold.'),
  },
};

function deadLetter(offset: number, deliveries: number, message: string): string {
  const where = `topic: share-dead, partition: 0, offset: ${offset}, group: share-dead`;
  return `${where}, delivery.count: ${deliveries}, message: ${message}`;
}

describe('the Java share consumer', () => {
  let found: Record<string, unknown>;
  beforeAll(async () => {
    found = (await runScenario(javaProgram('4.4.0', 'Shares'), 'all')) as Record<string, unknown>;
  }, minutes(5));

  it('runs every scenario', () => {
    expect(Object.keys(found).toSorted()).toEqual(Object.keys(JAVA).toSorted());
  });

  it.each(Object.keys(JAVA))('%s', (scenario) => {
    expect(found[scenario]).toEqual(JAVA[scenario]);
  });
});

describe('the share consumer of librdkafka', () => {
  it('accepts, releases, rejects, and shares a partition', { timeout: minutes(3) }, async () => {
    expect(await runScenario(pythonProgram('share/share.py'), 'all')).toEqual({
      implicit: 100,
      counts: { accepted: 10, released: 10, rejected: 10, again: [2] },
      shared: { all: 1000, distinct: 1000, each: true },
    });
  });
});
