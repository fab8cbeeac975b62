/**
 * What the tables of a coordinator must agree on, as queries that find where they do not: for `shoal doctor`. SQLite and
 * PostgreSQL have the same tables but for producer state, and both run these. Each answers rows of one column, `fault`: a
 * sentence for a person. They read whole tables; nothing else does.
 *
 * In SQLite a log's row may lag behind its coordinates: it counts those below the high watermark that it holds.
 */
import { MAX_SEQUENCE } from './producer-state.ts';

/** Faults that one query tells at most: the first ones say what is wrong. */
const FAULTS_PER_QUERY = 20;

const NAMED = `named AS (
  SELECT g.*, coalesce(t.name || '-' || g.partition, 'log ' || g.log_id || ' of a deleted topic') AS name
  FROM logs g LEFT JOIN topics t ON t.topic_id = g.topic_id
)`;

const LOGS = [
  `SELECT t.name || ': ' || count(g.log_id) || ' logs for ' || t.partitions || ' partitions' AS fault
   FROM topics t LEFT JOIN logs g ON g.topic_id = t.topic_id AND g.partition >= 0 AND g.partition < t.partitions
   GROUP BY t.topic_id, t.name, t.partitions HAVING count(g.log_id) <> t.partitions`,
  `SELECT 'log ' || g.log_id || ': there is no partition ' || g.partition || ' of a topic ' || g.topic_id AS fault
   FROM logs g WHERE g.topic_id IS NOT NULL AND NOT EXISTS (
     SELECT 1 FROM topics t WHERE t.topic_id = g.topic_id AND g.partition >= 0 AND g.partition < t.partitions)`,
  `WITH ${NAMED} SELECT name || ': whether its topic is gone is told in two ways' AS fault FROM named
   WHERE (topic_id IS NULL AND trim <> 2) OR (topic_id IS NOT NULL AND trim NOT IN (0, 1))`,
  `WITH ${NAMED}, counted AS (
     SELECT g.log_id, coalesce(sum(k.size), 0) AS bytes FROM logs g
     LEFT JOIN coordinates k ON k.log_id = g.log_id AND k.last_offset < g.high_watermark GROUP BY g.log_id
   ) SELECT g.name || ': its coordinates take ' || c.bytes || ' bytes, it counts ' || g.bytes AS fault
   FROM named g JOIN counted c ON c.log_id = g.log_id WHERE g.topic_id IS NOT NULL AND c.bytes <> g.bytes`,
  `WITH ${NAMED} SELECT g.name || ': ' || count(*) || ' of its coordinates lie below its log start offset '
     || g.log_start_offset || ', and nothing is to drop them' AS fault
   FROM named g JOIN coordinates k ON k.log_id = g.log_id AND k.last_offset < g.log_start_offset
   WHERE g.trim = 0 GROUP BY g.log_id, g.name, g.log_start_offset`,
];

const COORDINATES = [
  `SELECT 'a coordinate of log ' || k.log_id || ' ends at offset ' || k.last_offset || ', and there is no such log' AS fault
   FROM coordinates k WHERE NOT EXISTS (SELECT 1 FROM logs g WHERE g.log_id = k.log_id)`,
  `WITH ${NAMED} SELECT g.name || ' offset ' || k.base_offset || ': position ' || k.position || ' size ' || k.size
     || ' up to offset ' || k.last_offset || ' cannot be in an object of ' || coalesce(f.size, 0) || ' bytes' AS fault
   FROM coordinates k JOIN named g ON g.log_id = k.log_id LEFT JOIN files f ON f.file_id = k.file_id
   WHERE f.size IS NULL OR k.last_offset < k.base_offset OR k.size <= 0 OR k.position <= 0 OR k.position + k.size > f.size`,
];

const FILES = [
  `WITH counted AS (
     SELECT f.file_id, count(k.log_id) AS coordinates, coalesce(sum(k.size), 0) AS bytes
     FROM files f LEFT JOIN coordinates k ON k.file_id = f.file_id GROUP BY f.file_id
   ) SELECT 'object ' || f.object_key || ': ' || c.coordinates || ' coordinates of ' || c.bytes
     || ' bytes refer to it, it counts ' || f.live_coordinates || ' of ' || f.live_bytes AS fault
   FROM files f JOIN counted c ON c.file_id = f.file_id
   WHERE c.coordinates <> f.live_coordinates OR c.bytes <> f.live_bytes`,
  `SELECT 'object ' || f.object_key || ' is to be deleted although ' || count(*) || ' coordinates refer to it' AS fault
   FROM files f JOIN coordinates k ON k.file_id = f.file_id
   WHERE f.state <> 0 OR f.useless_since_ms IS NOT NULL GROUP BY f.file_id, f.object_key`,
  `SELECT 'object ' || f.object_key || ' is in state ' || f.state || ', which its times contradict' AS fault FROM files f
   WHERE f.state NOT IN (0, 1, 2, 3) OR (f.state IN (0, 2) AND f.useless_since_ms IS NOT NULL)
     OR (f.state = 1 AND f.useless_since_ms IS NULL) OR (f.state IN (0, 1) AND f.deleted_ms IS NOT NULL)
     OR (f.state = 2 AND f.deleted_ms IS NULL)
     OR (f.state = 3 AND f.useless_since_ms IS NULL AND f.deleted_ms IS NULL)`,
  `SELECT 'object ' || f.object_key || ' counts as referred to, and no coordinate refers to it' AS fault
   FROM files f WHERE f.state = 0 AND f.live_coordinates = 0`,
];

/** A run of the time index from the one before it on; null for the first one, the beginning of whose run may be dropped. */
const RUNS = `runs AS (
  SELECT i.*, lag(i.last_offset) OVER (PARTITION BY i.log_id, i.level ORDER BY i.last_offset) AS previous FROM time_index i
)`;

function timeIndexOf(level: string, parts: string): string {
  return `WITH ${NAMED}, ${RUNS}, found AS (
    SELECT r.*, (SELECT count(*) FROM ${parts}) AS parts, (SELECT max(p.max_timestamp) FROM ${parts}) AS greatest
    FROM runs r WHERE r.level ${level}
  ) SELECT g.name || ': up to offset ' || f.last_offset || ' the time index has ' || f.max_timestamp || ' at level '
      || f.level || ', the log has ' || f.parts || ' entries with ' || coalesce(f.greatest, -1) AS fault
    FROM found f JOIN named g ON g.log_id = f.log_id
    WHERE g.topic_id IS NOT NULL AND (f.parts > 64 OR f.greatest > f.max_timestamp
      OR (f.previous IS NOT NULL AND (f.parts <> 64 OR f.greatest <> f.max_timestamp)))`;
}

const WITHIN_RUN =
  'p.log_id = r.log_id AND p.last_offset > coalesce(r.previous, -1) AND p.last_offset <= r.last_offset';

const TIME_INDEX = [
  timeIndexOf('= 1', `coordinates p WHERE ${WITHIN_RUN}`),
  timeIndexOf('> 1', `time_index p WHERE p.level = r.level - 1 AND ${WITHIN_RUN}`),
  `WITH ${NAMED}, ends AS (
     SELECT g.log_id, (SELECT max(i.last_offset) FROM time_index i WHERE i.log_id = g.log_id AND i.level = 1) AS last
     FROM logs g
   ), opened AS (
     SELECT e.log_id, e.last, count(k.log_id) AS coordinates, coalesce(max(k.max_timestamp), -1) AS greatest
     FROM ends e JOIN logs g ON g.log_id = e.log_id LEFT JOIN coordinates k
       ON k.log_id = e.log_id AND k.last_offset > coalesce(e.last, -1) AND k.last_offset < g.high_watermark
     GROUP BY e.log_id, e.last
   ) SELECT g.name || ': behind the time index lie ' || o.coordinates || ' coordinates up to time ' || o.greatest
       || ', it counts ' || (g.coordinates % 64) || ' up to ' || g.open_max_1 AS fault
     FROM named g JOIN opened o ON o.log_id = g.log_id
     WHERE g.topic_id IS NOT NULL AND (o.coordinates > g.coordinates % 64 OR o.greatest > g.open_max_1
       OR (o.last IS NOT NULL AND o.coordinates <> g.coordinates % 64))`,
];

const KEPT_BY_TOPIC = [
  `SELECT 'group ' || o.group_id || ' has an offset of a topic ' || o.topic_id || ', which there is not' AS fault
   FROM group_offsets o WHERE NOT EXISTS (SELECT 1 FROM topics t WHERE t.topic_id = o.topic_id)`,
  `SELECT 'share group ' || s.group_id || ' has state of a topic ' || s.topic_id || ', which there is not' AS fault
   FROM share_states s WHERE NOT EXISTS (SELECT 1 FROM topics t WHERE t.topic_id = s.topic_id)`,
];

const SQLITE_ONLY = [
  `SELECT 'object ' || f.object_key || ': what its commit was answered is lost' AS fault FROM files f
   WHERE f.state <> 3 AND NOT EXISTS (SELECT 1 FROM commit_results r WHERE r.file_id = f.file_id)`,
];

const SEQUENCES = MAX_SEQUENCE + 1;

/** The last of a producer's batches stands in the last four numbers: first sequence, last sequence, first offset, timestamp. */
const POSTGRES_ONLY = [
  `WITH ${NAMED} SELECT g.name || ': ' || count(*) || ' coordinates lie beyond its high watermark ' || g.high_watermark AS fault
   FROM named g JOIN coordinates k ON k.log_id = g.log_id AND k.last_offset >= g.high_watermark
   GROUP BY g.log_id, g.name, g.high_watermark`,
  `SELECT 'object ' || f.object_key || ': what its commit was answered is lost' AS fault FROM files f
   WHERE f.state <> 3 AND f.errors IS NULL AND (f.layout IS NULL OR f.base_offsets IS NULL)`,
  `SELECT 'producer ' || p.producer_id || ' is known to log ' || p.log_id || ', which there is not' AS fault
   FROM producers p WHERE NOT EXISTS (SELECT 1 FROM logs g WHERE g.log_id = p.log_id)`,
  `WITH ${NAMED} SELECT g.name || ': the batches of producer ' || p.producer_id || ' do not follow each other up to sequence '
     || p.next_sequence || ', or lie beyond the high watermark ' || g.high_watermark AS fault
   FROM producers p JOIN named g ON g.log_id = p.log_id CROSS JOIN LATERAL (SELECT cardinality(p.batches) AS n) x
   WHERE x.n NOT IN (4, 8, 12, 16, 20) OR p.next_sequence <> (p.batches[x.n - 2] + 1) % ${SEQUENCES}
     OR p.batches[x.n - 1] + (p.batches[x.n - 2] - p.batches[x.n - 3] + ${SEQUENCES}) % ${SEQUENCES} >= g.high_watermark
     OR EXISTS (SELECT 1 FROM generate_series(5, x.n, 4) w WHERE p.batches[w] <> (p.batches[w - 3] + 1) % ${SEQUENCES}
       OR p.batches[w + 2] <= p.batches[w - 2])`,
];

const SHARED = [...LOGS, ...COORDINATES, ...FILES, ...TIME_INDEX, ...KEPT_BY_TOPIC];

function limited(queries: readonly string[]): readonly string[] {
  return queries.map((query) => `${query} LIMIT ${FAULTS_PER_QUERY}`);
}

export const SQLITE_CONTRADICTIONS = limited([...SHARED, ...SQLITE_ONLY]);
export const POSTGRES_CONTRADICTIONS = limited([...SHARED, ...POSTGRES_ONLY]);
