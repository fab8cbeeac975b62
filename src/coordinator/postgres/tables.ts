/**
 * The tables of the PostgreSQL coordinator: those of SQLite (`sqlite/schema.ts`), but that producer state has a table of
 * its own, because commits are judged inside the database, and that changes are written down for other brokers.
 *
 * `producers.batches`: of the last five, oldest first: first sequence, last sequence, first offset, and twice the timestamp
 * plus the timestamp type. `producers.huge`: a batch of the window has so many sequences that the next one may equal an old one.
 *
 * `changes` is read by transaction id, not by number: numbers are given out before transactions commit, so one may become
 * visible after a greater one.
 */
export const TABLES = `
  CREATE TABLE cluster (cluster_id text NOT NULL);
  CREATE TABLE counters (name text PRIMARY KEY, value bigint NOT NULL);
  CREATE TABLE topics (
    topic_id text PRIMARY KEY, name text NOT NULL UNIQUE, partitions int NOT NULL, configs jsonb NOT NULL
  );
  CREATE TABLE logs (
    log_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, topic_id text, partition int NOT NULL,
    trim smallint NOT NULL DEFAULT 0, log_start_offset bigint NOT NULL DEFAULT 0,
    high_watermark bigint NOT NULL DEFAULT 0, leader_epoch int NOT NULL DEFAULT 0,
    last_append_time_ms bigint NOT NULL DEFAULT -1, bytes bigint NOT NULL DEFAULT 0, coordinates bigint NOT NULL DEFAULT 0,
    open_max_1 bigint NOT NULL DEFAULT -1, open_max_2 bigint NOT NULL DEFAULT -1, open_max_3 bigint NOT NULL DEFAULT -1,
    UNIQUE (topic_id, partition)
  ) WITH (fillfactor = 50);
  CREATE INDEX logs_to_trim ON logs (trim DESC, log_id) WHERE trim > 0;
  CREATE TABLE coordinates (
    log_id bigint NOT NULL, last_offset bigint NOT NULL, base_offset bigint NOT NULL, file_id bigint NOT NULL,
    position bigint NOT NULL, size int NOT NULL, timestamp_type smallint NOT NULL, append_time_ms bigint NOT NULL,
    max_timestamp bigint NOT NULL, max_timestamp_offset bigint NOT NULL, leader_epoch int NOT NULL,
    PRIMARY KEY (log_id, last_offset)
  );
  CREATE TABLE time_index (
    log_id bigint NOT NULL, level smallint NOT NULL, last_offset bigint NOT NULL, max_timestamp bigint NOT NULL,
    PRIMARY KEY (log_id, level, last_offset)
  );
  CREATE TABLE producers (
    log_id bigint NOT NULL, producer_id bigint NOT NULL, producer_epoch int NOT NULL, next_sequence int NOT NULL,
    last_append_time_ms bigint NOT NULL, huge boolean NOT NULL, batches bigint[] NOT NULL,
    PRIMARY KEY (log_id, producer_id)
  ) WITH (fillfactor = 60);
  CREATE TABLE files (
    file_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, object_key text NOT NULL UNIQUE, state smallint NOT NULL,
    size bigint NOT NULL, live_bytes bigint NOT NULL, live_coordinates int NOT NULL, since_ms bigint NOT NULL,
    useless_since_ms bigint, format_version int NOT NULL, uploader_id bigint NOT NULL, uploader_epoch bigint NOT NULL,
    segment_sequence bigint NOT NULL, errors int[], base_offsets bigint[], append_times bigint[], log_starts bigint[],
    duplicates boolean[]
  );
  CREATE INDEX files_to_delete ON files (useless_since_ms, file_id) WHERE useless_since_ms IS NOT NULL;
  CREATE TABLE uploaders (node_id bigint PRIMARY KEY, epoch bigint NOT NULL);
  CREATE TABLE configs (scope text PRIMARY KEY, configs jsonb NOT NULL);
  CREATE TABLE groups (group_id text PRIMARY KEY, type text NOT NULL, epoch bigint NOT NULL, state text NOT NULL);
  CREATE TABLE group_offsets (
    group_id text NOT NULL, topic_id text NOT NULL, partition int NOT NULL, "offset" bigint NOT NULL,
    leader_epoch int NOT NULL, metadata text NOT NULL, commit_time_ms bigint NOT NULL,
    PRIMARY KEY (group_id, topic_id, partition)
  );
  CREATE INDEX group_offsets_by_topic ON group_offsets (topic_id);
  CREATE TABLE share_states (
    group_id text NOT NULL, topic_id text NOT NULL, partition int NOT NULL, state_epoch int NOT NULL,
    leader_epoch int NOT NULL, start_offset bigint NOT NULL, delivery_complete_count int NOT NULL,
    first_offsets bigint[] NOT NULL, last_offsets bigint[] NOT NULL, delivery_states int[] NOT NULL,
    delivery_counts int[] NOT NULL, PRIMARY KEY (group_id, topic_id, partition)
  );
  CREATE INDEX share_states_by_topic ON share_states (topic_id);
  CREATE TABLE changes (
    change_number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    origin text NOT NULL, kind text NOT NULL, topic_ids text[], partitions int[], offsets bigint[],
    made_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX changes_by_xid ON changes (xid);
`;

/**
 * Commits of which every batch was accepted keep \`base_offsets\`, \`append_times\` and \`log_starts\` by log, and in \`layout\`
 * (see \`commit-plan.ts\`) where each batch stands; \`errors\` and \`duplicates\` are null then.
 */
export const COMMITS_BY_LOG = `
  ALTER TABLE files ADD COLUMN batches int, ADD COLUMN layout bytea;
`;

/** Since when storage is known to be without an object; tombstones of earlier versions count from now. */
export const FORGOTTEN_FILES = `
  ALTER TABLE files ADD COLUMN deleted_ms bigint;
  UPDATE files SET deleted_ms = (extract(epoch FROM clock_timestamp()) * 1000)::bigint
    WHERE state IN (2, 3) AND useless_since_ms IS NULL;
  CREATE INDEX files_to_forget ON files (deleted_ms) WHERE deleted_ms IS NOT NULL;
`;
