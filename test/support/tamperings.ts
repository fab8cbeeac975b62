/** What `shoal doctor` must find: a filled data set, and statements that make its database contradict itself. */
import { expect } from 'vitest';
import type { Components } from '../../src/cli/components.ts';
import { openEngine } from '../../src/engine/engine.ts';
import { plainBatch } from './record-batches.ts';

const ROUNDS = 135;

/** Two partitions with an idempotent producer, a time index, deleted records, dropped coordinates and a deleted topic. */
export async function fillForTampering({ objectStorage, coordinator }: Components): Promise<void> {
  const settings = { workerThreads: 0, produceCommitIntervalMs: 0 };
  const engine = await openEngine({ objectStorage, coordinator }, settings);
  try {
    const made = await engine.createTopics([
      { name: 'ward', partitions: 2 },
      { name: 'gone', partitions: 1 },
    ]);
    const [ward, gone] = made.map(({ topicId }) => topicId) as [string, string];
    const logs = [0, 1].map((partition) => ({ topicId: ward, partition }));
    for (let round = 0; round < ROUNDS; round += 1) {
      const producer = { producerId: 7n, producerEpoch: 0, baseSequence: 2 * round };
      const records = plainBatch(2, 10, { ...producer, baseTimestamp: BigInt(Date.now()) });
      const both = round === 0 ? [...logs, { topicId: gone, partition: 0 }] : logs;
      const results = await engine.append(both.map((topicIdPartition) => ({ topicIdPartition, records })));
      for (const { error } of results) expect(error).toBe(0);
    }
    await engine.append([{ topicIdPartition: { topicId: gone, partition: 0 }, records: plainBatch(2, 10) }]);
    await engine.deleteRecords([{ topicIdPartition: logs[1]!, beforeOffset: 11n }]);
    await engine.deleteTopics([gone]);
  } finally {
    await engine.close();
  }
  for (let more = true; more; ) ({ more } = await coordinator.enforceRetention({ maxCoordinates: 1_000 }));
}

export interface Tampering {
  readonly name: string;
  /** One statement or several, in the words that SQLite and PostgreSQL share unless `only` says otherwise. */
  readonly sql: string;
  readonly says: RegExp;
  readonly only?: 'sqlite' | 'postgres';
}

const ONE = `log_id = (SELECT log_id FROM logs WHERE partition = 0 AND topic_id IS NOT NULL)`;
const TWO = `log_id = (SELECT log_id FROM logs WHERE partition = 1 AND topic_id IS NOT NULL)`;
const FILE = `file_id = (SELECT file_id FROM coordinates WHERE last_offset = 21 AND ${ONE})`;

export const TAMPERINGS: readonly Tampering[] = [
  {
    name: 'a coordinate is gone',
    sql: `DELETE FROM coordinates WHERE last_offset = 21 AND ${ONE}`,
    says: /ward-0: offset 20 is followed by a coordinate of 22 to 23/,
  },
  {
    name: 'the last coordinate is gone and its log row says that it is there',
    sql: `UPDATE logs SET high_watermark = 270 WHERE ${ONE}; DELETE FROM coordinates WHERE last_offset = 269 AND ${ONE}`,
    says: /ward-0: no coordinate holds offset 268, below the high watermark 270/,
  },
  {
    name: 'the high watermark is too high',
    sql: `UPDATE logs SET high_watermark = 290 WHERE ${ONE}`,
    says: /ward-0: no coordinate holds offset 270, below the high watermark 290/,
  },
  {
    name: 'the high watermark is too low',
    sql: `UPDATE logs SET high_watermark = 100 WHERE ${ONE}`,
    says: /ward-0: (\d+ coordinates lie beyond its high watermark 100|its coordinates take \d+ bytes, it counts)/,
  },
  {
    name: 'the log start offset is too high',
    sql: `UPDATE logs SET log_start_offset = 50 WHERE ${ONE}`,
    says: /ward-0: 25 of its coordinates lie below its log start offset 50, and nothing is to drop them/,
  },
  {
    name: 'the log start offset is too low',
    sql: `UPDATE logs SET log_start_offset = 3 WHERE ${TWO}`,
    says: /ward-1: offset 3 is followed by a coordinate of 10 to 11/,
  },
  {
    name: 'the bytes of a log are counted wrong',
    sql: `UPDATE logs SET bytes = bytes + 1 WHERE ${ONE}`,
    says: /ward-0: its coordinates take \d+ bytes, it counts/,
  },
  {
    name: 'the coordinates of a log are counted wrong',
    sql: `UPDATE logs SET coordinates = coordinates + 1 WHERE ${ONE}`,
    says: /ward-0: behind the time index lie \d+ coordinates up to time -?\d+, it counts/,
  },
  {
    name: 'an entry of the time index is too low',
    sql: `UPDATE time_index SET max_timestamp = 5 WHERE ${ONE}`,
    says: /ward-0: up to offset \d+ the time index has 5 at level 1, the log has 64 entries with/,
  },
  {
    name: 'an entry of the time index is gone',
    sql: `DELETE FROM time_index WHERE last_offset = (SELECT max(last_offset) FROM time_index) AND ${ONE}`,
    says: /ward-0: behind the time index lie \d+ coordinates/,
  },
  {
    name: 'the coordinates of an object are counted wrong',
    sql: `UPDATE files SET live_coordinates = live_coordinates + 1 WHERE ${FILE}`,
    says: /object segments\/\S+: 2 coordinates of \d+ bytes refer to it, it counts 3 of/,
  },
  {
    name: 'an object that is referred to is about to be deleted',
    sql: `UPDATE files SET state = 1, useless_since_ms = 1 WHERE ${FILE}`,
    says: /object segments\/\S+ is to be deleted although 2 coordinates refer to it/,
  },
  {
    name: 'an object that nothing refers to is never deleted',
    sql: `UPDATE files SET useless_since_ms = NULL WHERE state = 1; UPDATE files SET state = 0 WHERE live_coordinates = 0 AND state = 1`,
    says: /object segments\/\S+ counts as referred to, and no coordinate refers to it/,
  },
  {
    name: 'the row of an object is gone',
    sql: `DELETE FROM files WHERE ${FILE}`,
    says: /ward-0 offset 20: position \d+ size \d+ up to offset 21 cannot be in an object of 0 bytes/,
  },
  {
    name: 'timestamps differ from the object’s',
    sql: `UPDATE coordinates SET max_timestamp = max_timestamp + 5000 WHERE last_offset = 21 AND ${ONE}`,
    says: /ward-0 offset 20: object segments\/\S+ has records up to time \d+, the coordinate up to/,
  },
  {
    name: 'offsets differ from the object’s',
    sql: `UPDATE coordinates SET base_offset = 21 WHERE last_offset = 23 AND ${ONE};
      UPDATE coordinates SET last_offset = 20 WHERE last_offset = 21 AND ${ONE}`,
    says: /ward-0 offset 21: object segments\/\S+ has 2 records of it in \d+ bytes, the coordinate 3 offsets/,
  },
  {
    name: 'a position differs from the object’s',
    sql: `UPDATE coordinates SET position = position + 1 WHERE last_offset = 21 AND ${ONE}`,
    says: /ward-0 offset 20: object segments\/\S+ has no run of it at position/,
  },
  {
    name: 'a topic has more partitions than logs',
    sql: 'UPDATE topics SET partitions = 3',
    says: /ward: 2 logs for 3 partitions/,
  },
  {
    name: 'a topic is gone and its logs are not',
    sql: 'DELETE FROM topics',
    says: /log \d+: there is no partition 0 of a topic/,
  },
  {
    name: 'a log is gone and its coordinates are not',
    sql: `DELETE FROM logs WHERE ${ONE}`,
    says: /a coordinate of log \d+ ends at offset 1, and there is no such log/,
  },
  {
    name: 'offsets of a group outlive their topic',
    sql: `INSERT INTO group_offsets VALUES ('readers', 'AAAAAAAAAAAAAAAAAAAAAQ', 0, 1, 0, '', 0)`,
    says: /group readers has an offset of a topic AAAAAAAAAAAAAAAAAAAAAQ, which there is not/,
  },
  {
    name: 'the answer to a commit is gone',
    sql: 'DELETE FROM commit_results WHERE file_id = 9',
    says: /object segments\/\S+: what its commit was answered is lost/,
    only: 'sqlite',
  },
  {
    name: 'the answer to a commit is gone',
    sql: 'UPDATE files SET layout = NULL WHERE file_id = 9',
    says: /object segments\/\S+: what its commit was answered is lost/,
    only: 'postgres',
  },
  {
    name: 'a snapshot of producers is garbage',
    sql: `UPDATE producer_snapshots SET producers = x'ffffffffffff' WHERE ${ONE}`,
    says: /ward-0: what is known of its producers cannot be read/,
    only: 'sqlite',
  },
  {
    name: 'a snapshot of producers is from behind where it says',
    sql: `UPDATE logs SET producers_from = 10 WHERE ${ONE}`,
    says: /ward-0: the batches of producer 7 do not follow each other at sequence/,
    only: 'sqlite',
  },
  {
    name: 'the sequences of a coordinate are another’s',
    sql: `UPDATE coordinates SET producers = (SELECT producers FROM coordinates WHERE last_offset = 21 AND ${ONE}) WHERE last_offset = 269`,
    says: /ward-0: the batches of producer 7 do not follow each other at sequence 20, or lie elsewhere/,
    only: 'sqlite',
  },
  {
    name: 'the next sequence of a producer is wrong',
    sql: `UPDATE producers SET next_sequence = next_sequence + 1 WHERE ${ONE}`,
    says: /ward-0: the batches of producer 7 do not follow each other up to sequence 271/,
    only: 'postgres',
  },
  {
    name: 'a batch of a producer has another sequence',
    sql: `UPDATE producers SET batches[6] = batches[6] + 1 WHERE ${ONE}`,
    says: /ward-0: the batches of producer 7 do not follow each other/,
    only: 'postgres',
  },
];
