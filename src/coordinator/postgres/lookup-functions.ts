/** Lookups inside the database, one round trip each: the budget of findBatches and the time index of `sqlite/time-index.ts`. */
export const LOOKUP_FUNCTIONS = `
-- Spends the limits as find-budget.ts does; a row without a base offset tells of a partition only.
CREATE FUNCTION find_batches(
  p_topic text[], p_partition int[], p_offset bigint[], p_max_bytes bigint[], p_total bigint, p_owes_one boolean, p_rows int
) RETURNS TABLE (
  ix int, error int, log_start_offset bigint, high_watermark bigint, object_key text, "position" bigint, size int,
  base_offset bigint, last_offset bigint, timestamp_type smallint, append_time_ms bigint, max_timestamp bigint, leader_epoch int
) LANGUAGE plpgsql STABLE AS $fn$
DECLARE
  g logs%ROWTYPE;
  r record;
  v_limit bigint;
  v_used bigint;
  v_left bigint := p_total;
  v_rows int := p_rows;
  v_owes_one boolean := p_owes_one;
  v_next bigint;
  v_found int;
BEGIN
  FOR i IN 1..cardinality(p_topic) LOOP
    ix := i;
    base_offset := NULL;
    SELECT * INTO g FROM logs WHERE topic_id = p_topic[i] AND partition = p_partition[i];
    IF NOT FOUND THEN
      error := 3; log_start_offset := -1; high_watermark := -1;
      RETURN NEXT;
      CONTINUE;
    END IF;
    log_start_offset := g.log_start_offset;
    high_watermark := g.high_watermark;
    error := CASE WHEN p_offset[i] < g.log_start_offset OR p_offset[i] > g.high_watermark THEN 1 ELSE 0 END;
    RETURN NEXT;
    v_limit := CASE WHEN v_rows = 0 THEN 0 ELSE greatest(least(p_max_bytes[i], v_left), v_owes_one::int) END;
    CONTINUE WHEN error <> 0 OR v_limit <= 0 OR p_offset[i] = g.high_watermark;
    v_used := 0;
    v_next := p_offset[i];
    -- A limit that the planner knows, and no join: it must come by the index, however deep the log.
    <<log>>
    LOOP
      v_found := 0;
      FOR r IN
        SELECT k.*, (SELECT f.object_key FROM files f WHERE f.file_id = k.file_id) AS object_key FROM coordinates k
        WHERE k.log_id = g.log_id AND k.last_offset >= v_next ORDER BY k.last_offset LIMIT 256
      LOOP
        v_found := v_found + 1;
        v_next := r.last_offset + 1;
        object_key := r.object_key; "position" := r.position; size := r.size; base_offset := r.base_offset;
        last_offset := r.last_offset; timestamp_type := r.timestamp_type; append_time_ms := r.append_time_ms;
        max_timestamp := r.max_timestamp; leader_epoch := r.leader_epoch;
        RETURN NEXT;
        IF p_offset[i] <= r.base_offset THEN
          v_used := v_used + r.size;
        ELSE
          v_used := v_used + ceil(r.size::numeric * (r.last_offset - p_offset[i] + 1)
            / (r.last_offset - r.base_offset + 1)::numeric)::bigint;
        END IF;
        v_owes_one := false;
        v_rows := v_rows - 1;
        EXIT log WHEN v_used >= v_limit OR v_rows = 0;
      END LOOP;
      EXIT WHEN v_found < 256;
    END LOOP;
    v_left := v_left - v_used;
  END LOOP;
END
$fn$;

CREATE FUNCTION run_ends(p_log bigint, p_level int, p_after bigint, p_up_to bigint) RETURNS TABLE (last_offset bigint, max_timestamp bigint)
STABLE LANGUAGE sql AS $$
  SELECT last_offset, max_timestamp FROM coordinates
  WHERE p_level = 0 AND log_id = p_log AND last_offset > p_after AND last_offset <= p_up_to
  UNION ALL
  SELECT last_offset, max_timestamp FROM time_index
  WHERE p_level > 0 AND log_id = p_log AND level = p_level AND last_offset > p_after AND last_offset <= p_up_to;
$$;

-- Stretches of runs, as long as possible, that cover a log from an offset on.
CREATE FUNCTION cover(p_log bigint, p_from bigint) RETURNS TABLE (o_level int, o_after bigint, o_up_to bigint)
LANGUAGE plpgsql STABLE AS $fn$
DECLARE
  v_after bigint := p_from - 1;
  v_end bigint;
BEGIN
  FOR v_level IN 1..3 LOOP
    SELECT t.last_offset INTO v_end FROM time_index t WHERE t.log_id = p_log AND t.level = v_level AND t.last_offset > v_after
    ORDER BY t.last_offset LIMIT 1;
    CONTINUE WHEN v_end IS NULL;
    o_level := v_level - 1; o_after := v_after; o_up_to := v_end;
    RETURN NEXT;
    v_after := v_end;
  END LOOP;
  FOR v_level IN REVERSE 3..1 LOOP
    SELECT t.last_offset INTO v_end FROM time_index t WHERE t.log_id = p_log AND t.level = v_level ORDER BY t.last_offset DESC LIMIT 1;
    CONTINUE WHEN v_end IS NULL OR v_end <= v_after;
    o_level := v_level; o_after := v_after; o_up_to := v_end;
    RETURN NEXT;
    v_after := v_end;
  END LOOP;
  o_level := 0; o_after := v_after; o_up_to := 9223372036854775807;
  RETURN NEXT;
END
$fn$;

-- The first coordinate behind p_after and up to p_up_to with a max timestamp of at least p_timestamp, down from the runs of
-- a level. The run in which the stretch begins may owe its timestamp to a coordinate before it, or to one that is gone; the
-- search goes on behind it then. That can happen once a level.
CREATE FUNCTION search_runs(p_log bigint, p_level int, p_after bigint, p_up_to bigint, p_timestamp bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $fn$
DECLARE
  v_after bigint := p_after;
  v_end bigint;
  v_previous bigint;
  v_found bigint;
BEGIN
  IF p_level = 0 THEN
    SELECT k.last_offset INTO v_found FROM coordinates k WHERE k.log_id = p_log AND k.last_offset > p_after
      AND k.last_offset <= p_up_to AND k.max_timestamp >= p_timestamp ORDER BY k.last_offset LIMIT 1;
    RETURN v_found;
  END IF;
  LOOP
    SELECT t.last_offset INTO v_end FROM time_index t WHERE t.log_id = p_log AND t.level = p_level
      AND t.last_offset > v_after AND t.last_offset <= p_up_to AND t.max_timestamp >= p_timestamp
    ORDER BY t.last_offset LIMIT 1;
    IF v_end IS NULL THEN RETURN NULL; END IF;
    SELECT t.last_offset INTO v_previous FROM time_index t WHERE t.log_id = p_log AND t.level = p_level
      AND t.last_offset < v_end ORDER BY t.last_offset DESC LIMIT 1;
    v_found := search_runs(p_log, p_level - 1, greatest(v_after, v_previous), v_end, p_timestamp);
    IF v_found IS NOT NULL THEN RETURN v_found; END IF;
    v_after := v_end;
  END LOOP;
END
$fn$;

-- The last offset of the first coordinate from an offset on with a max timestamp of at least p_timestamp: in the longest
-- runs, and, where no finished run reaches, behind the last one in shorter runs.
CREATE FUNCTION first_at_least(p_log bigint, p_timestamp bigint, p_from bigint) RETURNS bigint
LANGUAGE plpgsql STABLE AS $fn$
DECLARE
  v_after bigint := p_from - 1;
  v_end bigint;
  v_found bigint;
BEGIN
  FOR v_level IN REVERSE 3..0 LOOP
    v_found := search_runs(p_log, v_level, v_after, 9223372036854775807, p_timestamp);
    EXIT WHEN v_found IS NOT NULL OR v_level = 0;
    SELECT t.last_offset INTO v_end FROM time_index t WHERE t.log_id = p_log AND t.level = v_level ORDER BY t.last_offset DESC LIMIT 1;
    v_after := greatest(v_after, v_end);
  END LOOP;
  RETURN v_found;
END
$fn$;

CREATE FUNCTION greatest_timestamp(p_log bigint, p_from bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(max(m), -1) FROM cover(p_log, p_from) s,
    LATERAL (SELECT max(e.max_timestamp) AS m FROM run_ends(p_log, s.o_level, s.o_after, s.o_up_to) e) x;
$$;

-- For each request its log and, for a time or the max timestamp (-3), the coordinate that decides.
CREATE FUNCTION list_offsets(p_topic text[], p_partition int[], p_timestamp bigint[], p_from bigint[]) RETURNS TABLE (
  ix int, log_start_offset bigint, high_watermark bigint, log_leader_epoch int, object_key text, "position" bigint, size int,
  base_offset bigint, last_offset bigint, timestamp_type smallint, append_time_ms bigint, max_timestamp bigint,
  max_timestamp_offset bigint, leader_epoch int
) LANGUAGE plpgsql STABLE AS $fn$
DECLARE
  g logs%ROWTYPE;
  v_last bigint;
  v_timestamp bigint;
BEGIN
  FOR i IN 1..cardinality(p_topic) LOOP
    SELECT * INTO g FROM logs WHERE topic_id = p_topic[i] AND partition = p_partition[i];
    CONTINUE WHEN NOT FOUND;
    v_last := NULL;
    IF p_timestamp[i] >= 0 THEN
      v_last := first_at_least(g.log_id, p_timestamp[i], greatest(g.log_start_offset, p_from[i]));
    ELSIF p_timestamp[i] = -3 THEN
      v_timestamp := greatest_timestamp(g.log_id, greatest(g.log_start_offset, p_from[i]));
      IF v_timestamp >= 0 THEN v_last := first_at_least(g.log_id, v_timestamp, greatest(g.log_start_offset, p_from[i])); END IF;
    END IF;
    RETURN QUERY SELECT i, g.log_start_offset, g.high_watermark, g.leader_epoch, f.object_key, k.position, k.size,
      k.base_offset, k.last_offset, k.timestamp_type, k.append_time_ms, k.max_timestamp, k.max_timestamp_offset, k.leader_epoch
    FROM (VALUES (1)) one (x) LEFT JOIN coordinates k ON k.log_id = g.log_id AND k.last_offset = v_last
      LEFT JOIN files f ON f.file_id = k.file_id;
  END LOOP;
END
$fn$;

CREATE FUNCTION delete_records(p_origin text, p_topic text[], p_partition int[], p_before bigint[]) RETURNS TABLE (
  ix int, error int, low_watermark bigint, moved boolean
) LANGUAGE plpgsql AS $fn$
DECLARE
  r record;
  v_target bigint;
  v_topic text[] := '{}'; v_partition int[] := '{}'; v_offset bigint[] := '{}';
BEGIN
  -- A partition may be named twice; the second time it must see what the first has done.
  PERFORM 1 FROM logs g JOIN unnest(p_topic, p_partition) p (topic_id, partition) USING (topic_id, partition)
  ORDER BY g.log_id FOR UPDATE OF g;
  FOR i IN 1..cardinality(p_topic) LOOP
    ix := i;
    moved := false;
    SELECT * INTO r FROM logs WHERE topic_id = p_topic[i] AND partition = p_partition[i];
    IF NOT FOUND THEN
      error := 3; low_watermark := -1;
      RETURN NEXT;
      CONTINUE;
    END IF;
    v_target := CASE p_before[i] WHEN -1 THEN r.high_watermark ELSE p_before[i] END;
    IF v_target < 0 OR v_target > r.high_watermark THEN
      error := 1; low_watermark := -1;
    ELSE
      error := 0; low_watermark := greatest(v_target, r.log_start_offset);
      IF v_target > r.log_start_offset THEN
        moved := true;
        UPDATE logs SET log_start_offset = v_target, trim = 1 WHERE log_id = r.log_id;
        v_topic := v_topic || p_topic[i]; v_partition := v_partition || p_partition[i]; v_offset := v_offset || v_target;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;
  IF cardinality(v_topic) > 0 THEN
    INSERT INTO changes (origin, kind, topic_ids, partitions, offsets) VALUES (p_origin, 'log-start', v_topic, v_partition, v_offset);
  END IF;
END
$fn$;
`;
