/** Dropping coordinates, topics, groups and share state inside the database: one round trip an operation. */
export const KEEPING_FUNCTIONS = `
-- One bounded step on one log: what its topic's deletion, its log start offset or retention (null: no limit) drops.
CREATE FUNCTION drop_step(p_origin text, p_log bigint, p_limit int, p_now bigint, p_retention_ms bigint, p_retention_bytes bigint)
RETURNS TABLE (o_count int, o_bytes bigint, o_moved_to bigint) LANGUAGE plpgsql AS $fn$
DECLARE
  g logs%ROWTYPE;
  r record;
  v_now bigint;
  v_last bigint;
  v_done boolean := true;
BEGIN
  o_count := 0; o_bytes := 0; o_moved_to := NULL;
  SELECT * INTO g FROM logs WHERE log_id = p_log FOR UPDATE;
  IF NOT FOUND THEN
    RETURN NEXT;
    RETURN;
  END IF;
  v_now := coalesce(p_now, clock_ms());
  FOR r IN
    SELECT k.last_offset, k.size, CASE WHEN k.max_timestamp >= 0 THEN k.max_timestamp ELSE k.append_time_ms END AS stamp
    FROM coordinates k WHERE k.log_id = p_log ORDER BY k.last_offset LIMIT p_limit + 1
  LOOP
    EXIT WHEN NOT (g.trim = 2 OR r.last_offset < g.log_start_offset OR coalesce(v_now - r.stamp > p_retention_ms, false)
      OR coalesce(g.bytes - o_bytes - r.size >= p_retention_bytes, false));
    IF o_count = p_limit THEN
      v_done := false;
      EXIT;
    END IF;
    o_count := o_count + 1;
    o_bytes := o_bytes + r.size;
    v_last := r.last_offset;
  END LOOP;
  IF o_count > 0 THEN
    WITH gone AS (
      DELETE FROM coordinates WHERE log_id = p_log AND last_offset <= v_last RETURNING file_id, size
    ), by_file AS (
      SELECT file_id, count(*)::int AS coordinates, sum(size) AS bytes FROM gone GROUP BY file_id
    )
    UPDATE files f SET live_bytes = f.live_bytes - x.bytes, live_coordinates = f.live_coordinates - x.coordinates,
      state = CASE WHEN f.live_coordinates = x.coordinates THEN 1 ELSE f.state END,
      useless_since_ms = CASE WHEN f.live_coordinates = x.coordinates THEN v_now ELSE f.useless_since_ms END
    FROM by_file x WHERE f.file_id = x.file_id;
    DELETE FROM time_index WHERE log_id = p_log AND level IN (1, 2, 3) AND last_offset <= v_last;
    IF g.trim <> 2 AND v_last >= g.log_start_offset THEN o_moved_to := v_last + 1; END IF;
  END IF;
  IF g.trim = 2 AND v_done THEN
    DELETE FROM producers WHERE log_id = p_log;
    DELETE FROM time_index WHERE log_id = p_log;
    DELETE FROM logs WHERE log_id = p_log;
  ELSE
    UPDATE logs SET bytes = bytes - o_bytes, log_start_offset = greatest(log_start_offset, v_last + 1),
      trim = CASE WHEN trim = 1 AND v_done THEN 0 ELSE trim END WHERE log_id = p_log AND (o_count > 0 OR trim > 0);
  END IF;
  IF o_moved_to IS NOT NULL THEN
    INSERT INTO changes (origin, kind, topic_ids, partitions, offsets)
    VALUES (p_origin, 'log-start', ARRAY[g.topic_id], ARRAY[g.partition], ARRAY[o_moved_to]);
  END IF;
  RETURN NEXT;
END
$fn$;

CREATE FUNCTION delete_topic(p_topic text) RETURNS boolean LANGUAGE plpgsql AS $fn$
BEGIN
  DELETE FROM topics WHERE topic_id = p_topic;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM group_offsets WHERE topic_id = p_topic;
  DELETE FROM share_states WHERE topic_id = p_topic;
  PERFORM 1 FROM logs WHERE topic_id = p_topic ORDER BY log_id FOR UPDATE;
  UPDATE logs SET topic_id = NULL, trim = 2 WHERE topic_id = p_topic;
  RETURN true;
END
$fn$;

CREATE FUNCTION add_logs(p_topic text, p_from int, p_to int) RETURNS void LANGUAGE sql AS $$
  -- Counting coordinates from different points spreads the logs' time index entries over time.
  INSERT INTO logs (topic_id, partition, coordinates) SELECT p_topic, x, (x * 7) % 64 FROM generate_series(p_from, p_to - 1) x;
$$;

-- Null when fenced; else an error for each partition. A topic cannot be deleted in between.
CREATE FUNCTION commit_offsets(
  p_group text, p_epoch bigint, p_topic text[], p_partition int[], p_offset bigint[], p_leader_epoch int[], p_metadata text[],
  p_time bigint[]
) RETURNS int[] LANGUAGE plpgsql AS $fn$
DECLARE
  v_epoch bigint;
  v_errors int[] := '{}';
BEGIN
  IF p_epoch IS NOT NULL THEN
    SELECT epoch INTO v_epoch FROM groups WHERE group_id = p_group FOR SHARE;
    IF v_epoch IS DISTINCT FROM p_epoch THEN RETURN NULL; END IF;
  END IF;
  FOR i IN 1..cardinality(p_topic) LOOP
    PERFORM 1 FROM topics WHERE topic_id = p_topic[i] AND p_partition[i] >= 0 AND p_partition[i] < partitions FOR KEY SHARE;
    IF FOUND THEN
      INSERT INTO group_offsets VALUES (p_group, p_topic[i], p_partition[i], p_offset[i], p_leader_epoch[i], p_metadata[i], p_time[i])
      ON CONFLICT (group_id, topic_id, partition) DO UPDATE SET "offset" = excluded."offset",
        leader_epoch = excluded.leader_epoch, metadata = excluded.metadata, commit_time_ms = excluded.commit_time_ms;
      v_errors := v_errors || 0;
    ELSE
      v_errors := v_errors || 3;
    END IF;
  END LOOP;
  RETURN v_errors;
END
$fn$;

-- Each write by itself, guarded by the epochs that the writer saw (null: there was nothing). 124: another state epoch,
-- 74: another leader epoch, 3: the partition is gone. A topic cannot be deleted in between.
CREATE FUNCTION write_share_states(p_writes jsonb) RETURNS int[] LANGUAGE plpgsql AS $fn$
DECLARE
  w jsonb;
  s share_states%ROWTYPE;
  v_error int;
  v_errors int[] := '{}';
BEGIN
  FOR w IN SELECT * FROM jsonb_array_elements(p_writes) LOOP
    PERFORM 1 FROM topics WHERE topic_id = w->>'topic' AND (w->>'partition')::int BETWEEN 0 AND partitions - 1 FOR KEY SHARE;
    IF NOT FOUND AND w->'stateEpoch' IS NOT NULL THEN
      v_errors := v_errors || 3;
      CONTINUE;
    END IF;
    PERFORM lock_key('share ' || (w->>'group') || ' ' || (w->>'topic') || ' ' || (w->>'partition'));
    SELECT * INTO s FROM share_states WHERE group_id = w->>'group' AND topic_id = w->>'topic' AND partition = (w->>'partition')::int;
    v_error := CASE
      WHEN s.state_epoch IS DISTINCT FROM (w->>'expectedStateEpoch')::int THEN 124
      WHEN s.leader_epoch IS DISTINCT FROM (w->>'expectedLeaderEpoch')::int THEN 74
      ELSE 0 END;
    v_errors := v_errors || v_error;
    CONTINUE WHEN v_error <> 0;
    DELETE FROM share_states WHERE group_id = w->>'group' AND topic_id = w->>'topic' AND partition = (w->>'partition')::int;
    CONTINUE WHEN w->'stateEpoch' IS NULL;
    INSERT INTO share_states SELECT w->>'group', w->>'topic', (w->>'partition')::int, (w->>'stateEpoch')::int,
      (w->>'leaderEpoch')::int, (w->>'startOffset')::bigint, (w->>'deliveryCompleteCount')::int,
      ARRAY(SELECT (b->>0)::bigint FROM jsonb_array_elements(w->'batches') WITH ORDINALITY x (b, i) ORDER BY i),
      ARRAY(SELECT (b->>1)::bigint FROM jsonb_array_elements(w->'batches') WITH ORDINALITY x (b, i) ORDER BY i),
      ARRAY(SELECT (b->>2)::int FROM jsonb_array_elements(w->'batches') WITH ORDINALITY x (b, i) ORDER BY i),
      ARRAY(SELECT (b->>3)::int FROM jsonb_array_elements(w->'batches') WITH ORDINALITY x (b, i) ORDER BY i);
  END LOOP;
  RETURN v_errors;
END
$fn$;
`;
