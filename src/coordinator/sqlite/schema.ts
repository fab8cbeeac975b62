/**
 * The tables of the embedded coordinator, as numbered migrations: forward only, each in one transaction. A released
 * migration is never edited; the next one changes what it made. `PRAGMA user_version` holds the number of the last one.
 *
 * - `logs`: one row a partition, current up to its `high_watermark`: the coordinates from there on say the rest. `trim`
 *   is 1 while coordinates lie below the log start offset, 2 when its topic is gone (then `topic_id` is null).
 * - `coordinates`: found by their last offset. `producers` holds the idempotent batches in it, so that a partition's
 *   producer state can be rebuilt from its log, as in Kafka: the latest `producer_snapshots` row plus the coordinates
 *   from `logs.producers_from` on.
 * - `time_index`: the greatest timestamp of each run of 64, 4096 and 262144 coordinates, so that a search by time over
 *   unordered timestamps costs a few short range scans.
 * - `files`: `useless_since_ms` is set from when an object may be deleted until it is, `deleted_ms` from then on. Results
 *   are kept apart, because `files` rows change with every dropped coordinate.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE cluster (cluster_id TEXT NOT NULL);
  CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE topics (
    topic_id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, partitions INTEGER NOT NULL, configs TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE logs (
    log_id INTEGER PRIMARY KEY, topic_id TEXT, partition INTEGER NOT NULL, trim INTEGER NOT NULL DEFAULT 0,
    log_start_offset INTEGER NOT NULL DEFAULT 0, high_watermark INTEGER NOT NULL DEFAULT 0,
    leader_epoch INTEGER NOT NULL DEFAULT 0, last_append_time_ms INTEGER NOT NULL DEFAULT -1,
    bytes INTEGER NOT NULL DEFAULT 0, coordinates INTEGER NOT NULL DEFAULT 0,
    open_max_1 INTEGER NOT NULL DEFAULT -1, open_max_2 INTEGER NOT NULL DEFAULT -1, open_max_3 INTEGER NOT NULL DEFAULT -1,
    producers_from INTEGER NOT NULL DEFAULT 0,
    UNIQUE (topic_id, partition)
  );
  CREATE INDEX logs_to_trim ON logs (trim, log_id) WHERE trim > 0;
  CREATE TABLE coordinates (
    log_id INTEGER NOT NULL, last_offset INTEGER NOT NULL, base_offset INTEGER NOT NULL, file_id INTEGER NOT NULL,
    position INTEGER NOT NULL, size INTEGER NOT NULL, timestamp_type INTEGER NOT NULL, append_time_ms INTEGER NOT NULL,
    max_timestamp INTEGER NOT NULL, max_timestamp_offset INTEGER NOT NULL, leader_epoch INTEGER NOT NULL, producers BLOB,
    PRIMARY KEY (log_id, last_offset)
  ) WITHOUT ROWID;
  CREATE TABLE time_index (
    log_id INTEGER NOT NULL, level INTEGER NOT NULL, last_offset INTEGER NOT NULL, max_timestamp INTEGER NOT NULL,
    PRIMARY KEY (log_id, level, last_offset)
  ) WITHOUT ROWID;
  CREATE TABLE producer_snapshots (log_id INTEGER PRIMARY KEY, producers BLOB NOT NULL);
  CREATE TABLE files (
    file_id INTEGER PRIMARY KEY, object_key TEXT NOT NULL UNIQUE, state INTEGER NOT NULL, size INTEGER NOT NULL,
    live_bytes INTEGER NOT NULL, live_coordinates INTEGER NOT NULL, since_ms INTEGER NOT NULL, useless_since_ms INTEGER,
    format_version INTEGER NOT NULL, uploader_id INTEGER NOT NULL, uploader_epoch INTEGER NOT NULL,
    segment_sequence INTEGER NOT NULL
  );
  CREATE INDEX files_to_delete ON files (useless_since_ms, file_id) WHERE useless_since_ms IS NOT NULL;
  CREATE TABLE commit_results (file_id INTEGER PRIMARY KEY, batches INTEGER NOT NULL, results BLOB NOT NULL);
  CREATE TABLE uploaders (node_id INTEGER PRIMARY KEY, epoch INTEGER NOT NULL);
  CREATE TABLE configs (scope TEXT PRIMARY KEY, configs TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE groups (group_id TEXT PRIMARY KEY, type TEXT NOT NULL, epoch INTEGER NOT NULL, state TEXT NOT NULL)
    WITHOUT ROWID;
  CREATE TABLE group_offsets (
    group_id TEXT NOT NULL, topic_id TEXT NOT NULL, partition INTEGER NOT NULL, offset INTEGER NOT NULL,
    leader_epoch INTEGER NOT NULL, metadata TEXT NOT NULL, commit_time_ms INTEGER NOT NULL,
    PRIMARY KEY (group_id, topic_id, partition)
  ) WITHOUT ROWID;
  CREATE INDEX group_offsets_by_topic ON group_offsets (topic_id);
  CREATE TABLE share_states (
    group_id TEXT NOT NULL, topic_id TEXT NOT NULL, partition INTEGER NOT NULL, state_epoch INTEGER NOT NULL,
    leader_epoch INTEGER NOT NULL, start_offset INTEGER NOT NULL, delivery_complete_count INTEGER NOT NULL,
    state_batches BLOB NOT NULL, PRIMARY KEY (group_id, topic_id, partition)
  ) WITHOUT ROWID;
  CREATE INDEX share_states_by_topic ON share_states (topic_id);
  `,
  // Since when storage is known to be without an object; tombstones of earlier versions count from now.
  `
  ALTER TABLE files ADD COLUMN deleted_ms INTEGER;
  UPDATE files SET deleted_ms = 1000 * strftime('%s', 'now') WHERE state IN (2, 3) AND useless_since_ms IS NULL;
  CREATE INDEX files_to_forget ON files (deleted_ms) WHERE deleted_ms IS NOT NULL;
  `,
  // Rows of `logs` may lag behind their coordinates from here on, which an earlier version does not know: it must refuse.
  '',
];

/** Marks the file as Shoal's (`PRAGMA application_id`): "shoa" in ASCII. */
export const APPLICATION_ID = 0x73686f61;
