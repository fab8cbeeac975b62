
CREATE SCHEMA schema_1;

CREATE FUNCTION schema_1.abandon_file(p_key text, p_now bigint) RETURNS TABLE(status text, o_errors integer[], o_base bigint[], o_append bigint[], o_start bigint[], o_duplicate boolean[])
    LANGUAGE plpgsql
    AS $$
DECLARE
  v_file files%ROWTYPE;
  v_now bigint;
BEGIN
  PERFORM lock_key(p_key);
  SELECT * INTO v_file FROM files WHERE object_key = p_key;
  IF NOT FOUND THEN
    v_now := coalesce(p_now, clock_ms());
    INSERT INTO files (object_key, state, size, live_bytes, live_coordinates, since_ms, useless_since_ms, format_version,
      uploader_id, uploader_epoch, segment_sequence) VALUES (p_key, 3, 0, 0, 0, v_now, v_now, 0, 0, 0, 0);
    status := 'abandoned';
  ELSIF v_file.state = 3 THEN
    status := 'abandoned';
  ELSE
    status := 'committed';
    o_errors := v_file.errors; o_base := v_file.base_offsets; o_append := v_file.append_times;
    o_start := v_file.log_starts; o_duplicate := v_file.duplicates;
  END IF;
  RETURN NEXT;
END
$$;

CREATE FUNCTION schema_1.add_logs(p_topic text, p_from integer, p_to integer) RETURNS void
    LANGUAGE sql
    AS $$
  -- Counting coordinates from different points spreads the logs' time index entries over time.
  INSERT INTO logs (topic_id, partition, coordinates) SELECT p_topic, x, (x * 7) % 64 FROM generate_series(p_from, p_to - 1) x;
$$;

CREATE FUNCTION schema_1.clock_ms() RETURNS bigint
    LANGUAGE sql
    AS $$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
$$;

CREATE FUNCTION schema_1.commit_file(p_key text, p_format integer, p_size bigint, p_uploader_id bigint, p_uploader_epoch bigint, p_segment_sequence bigint, p_now bigint, p_max_coordinate bigint, p_expiration bigint, p_origin text, l_topic text[], l_partition integer[], c_log integer[], c_producer bigint[], b_log integer[], b_chain integer[], b_position bigint[], b_size integer[], b_delta integer[], b_timestamp bigint[], b_timestamp_delta integer[], b_type integer[], b_epoch integer[], b_sequence integer[]) RETURNS TABLE(status text, o_errors integer[], o_base bigint[], o_append bigint[], o_start bigint[], o_duplicate boolean[], o_change bigint)
    LANGUAGE plpgsql
    AS $$
DECLARE
  n int := cardinality(b_log);
  logs_n int := cardinality(l_topic);
  chains_n int := cardinality(c_log);
  v_file files%ROWTYPE;
  v_file_id bigint;
  v_now bigint;
  r record;
  l int; c int; k int := 0; last_k int; verdict int;
  v_base bigint; v_last bigint; v_max bigint; v_max_offset bigint; v_run bigint;
  l_id bigint[] := array_fill(NULL::bigint, ARRAY[logs_n]);
  l_start bigint[] := array_fill(0::bigint, ARRAY[logs_n]);
  l_end bigint[] := array_fill(0::bigint, ARRAY[logs_n]);
  l_epoch int[] := array_fill(0, ARRAY[logs_n]);
  l_append bigint[] := array_fill(-1::bigint, ARRAY[logs_n]);
  l_bytes bigint[] := array_fill(0::bigint, ARRAY[logs_n]);
  l_count bigint[] := array_fill(0::bigint, ARRAY[logs_n]);
  l_max_1 bigint[] := array_fill(-1::bigint, ARRAY[logs_n]);
  l_max_2 bigint[] := array_fill(-1::bigint, ARRAY[logs_n]);
  l_max_3 bigint[] := array_fill(-1::bigint, ARRAY[logs_n]);
  l_last_k int[] := array_fill(0, ARRAY[logs_n]);
  -- A null epoch: nothing is known of the producer.
  c_epoch int[] := array_fill(NULL::int, ARRAY[chains_n]);
  c_next int[] := array_fill(0, ARRAY[chains_n]);
  -- Five batches of fewer sequences cannot go once around; with more, the next sequence may also be a duplicate's.
  huge_batch constant int := 400000000;
  c_huge boolean[] := array_fill(false, ARRAY[chains_n]);
  c_id bigint[] := array_fill(NULL::bigint, ARRAY[chains_n]);
  c_append bigint[] := array_fill(0::bigint, ARRAY[chains_n]);
  c_stored boolean[] := array_fill(false, ARRAY[chains_n]);
  -- Whether the stored batches are still of the producer's epoch; how many batches of it were accepted, and the last one.
  c_kept boolean[] := array_fill(false, ARRAY[chains_n]);
  c_count int[] := array_fill(0, ARRAY[chains_n]);
  c_first int[] := array_fill(0, ARRAY[chains_n]);
  c_base bigint[] := array_fill(0::bigint, ARRAY[chains_n]);
  c_stamp bigint[] := array_fill(0::bigint, ARRAY[chains_n]);
  errors int[] := array_fill(0, ARRAY[n]);
  base bigint[] := array_fill(-1::bigint, ARRAY[n]);
  appended bigint[] := array_fill(-1::bigint, ARRAY[n]);
  starts bigint[] := array_fill(-1::bigint, ARRAY[n]);
  duplicate boolean[] := array_fill(false, ARRAY[n]);
  accepted boolean[] := array_fill(false, ARRAY[n]);
  k_log int[] := '{}'; k_position bigint[] := '{}'; k_size bigint[] := '{}'; k_base bigint[] := '{}';
  k_last bigint[] := '{}'; k_type int[] := '{}'; k_max bigint[] := '{}'; k_max_offset bigint[] := '{}';
  t_log bigint[] := '{}'; t_level int[] := '{}'; t_last bigint[] := '{}'; t_max bigint[] := '{}';
  v_bytes bigint := 0;
BEGIN
  PERFORM lock_key(p_key);
  SELECT * INTO v_file FROM files WHERE object_key = p_key;
  IF FOUND THEN
    IF v_file.state = 3 THEN
      status := 'abandoned';
    ELSIF v_file.size <> p_size OR v_file.uploader_id <> p_uploader_id OR v_file.uploader_epoch <> p_uploader_epoch
      OR v_file.segment_sequence <> p_segment_sequence OR cardinality(v_file.base_offsets) <> n THEN
      status := 'invalid';
    ELSE
      status := 'repeated';
      o_errors := v_file.errors; o_base := v_file.base_offsets; o_append := v_file.append_times;
      o_start := v_file.log_starts; o_duplicate := v_file.duplicates;
    END IF;
    RETURN NEXT;
    RETURN;
  END IF;

  FOR r IN
    SELECT p.ix, g.* FROM unnest(l_topic, l_partition) WITH ORDINALITY p (topic_id, partition, ix)
    JOIN logs g ON g.topic_id = p.topic_id AND g.partition = p.partition ORDER BY g.log_id FOR UPDATE OF g
  LOOP
    l := r.ix;
    l_id[l] := r.log_id; l_start[l] := r.log_start_offset; l_end[l] := r.high_watermark; l_epoch[l] := r.leader_epoch;
    l_append[l] := r.last_append_time_ms; l_bytes[l] := r.bytes; l_count[l] := r.coordinates;
    l_max_1[l] := r.open_max_1; l_max_2[l] := r.open_max_2; l_max_3[l] := r.open_max_3;
  END LOOP;
  v_now := coalesce(p_now, clock_ms());
  FOR l IN 1..logs_n LOOP
    IF l_append[l] < v_now THEN l_append[l] := v_now; END IF;
  END LOOP;
  FOR c IN 1..chains_n LOOP
    c_id[c] := l_id[c_log[c]];
    c_append[c] := l_append[c_log[c]];
  END LOOP;
  IF chains_n > 0 THEN
    SELECT array_agg(s.stored), array_agg(s.kept), array_agg(CASE WHEN s.kept THEN s.producer_epoch END),
      array_agg(coalesce(s.next_sequence, 0)), array_agg(s.kept AND s.huge)
    INTO c_stored, c_kept, c_epoch, c_next, c_huge
    FROM (
      SELECT p.log_id IS NOT NULL AS stored, coalesce(v_now - p.last_append_time_ms < p_expiration, false) AS kept,
        p.producer_epoch, p.next_sequence, p.huge
      FROM unnest(c_id, c_producer) WITH ORDINALITY x (log_id, producer_id, ix)
      LEFT JOIN producers p ON p.log_id = x.log_id AND p.producer_id = x.producer_id ORDER BY x.ix
    ) s;
  END IF;

  FOR i IN 1..n LOOP
    l := b_log[i];
    IF l_id[l] IS NULL THEN
      errors[i] := 3;
      CONTINUE;
    END IF;
    starts[i] := l_start[l];
    c := b_chain[i];
    IF c > 0 THEN
      IF c_epoch[c] IS NOT NULL THEN
        IF b_epoch[i] < c_epoch[c] THEN
          errors[i] := 47;
          CONTINUE;
        ELSIF b_epoch[i] > c_epoch[c] THEN
          IF b_sequence[i] <> 0 THEN
            errors[i] := 45;
            CONTINUE;
          END IF;
        ELSIF b_sequence[i] <> c_next[c] OR c_huge[c] THEN
          -- A duplicate of one of the last five, or out of order unless it is the next one.
          SELECT d.first_offset, d.timestamp, d.timestamp_type INTO r FROM (
            SELECT * FROM (
              SELECT p.batches[w] AS first_sequence, p.batches[w + 1] AS last_sequence, p.batches[w + 2] AS first_offset,
                p.batches[w + 3] >> 1 AS timestamp, p.batches[w + 3] & 1 AS timestamp_type
              FROM producers p, generate_series(1, cardinality(p.batches), 4) w
              WHERE c_kept[c] AND p.log_id = c_id[c] AND p.producer_id = c_producer[c]
              UNION ALL
              SELECT b_sequence[j], next_sequence(b_sequence[j], b_delta[j]), base[j],
                CASE b_type[j] WHEN 1 THEN l_append[l] ELSE b_timestamp[j] END, b_type[j]
              FROM generate_series(1, i - 1) j WHERE b_chain[j] = c AND accepted[j] AND b_epoch[j] = c_epoch[c]
            ) known ORDER BY first_offset DESC LIMIT 5
          ) d WHERE d.first_sequence = b_sequence[i] AND d.last_sequence = next_sequence(b_sequence[i], b_delta[i]) LIMIT 1;
          IF FOUND THEN
            base[i] := r.first_offset;
            duplicate[i] := true;
            IF r.timestamp_type = 1 THEN appended[i] := r.timestamp; END IF;
            CONTINUE;
          END IF;
          IF b_sequence[i] <> c_next[c] THEN
            errors[i] := 45;
            CONTINUE;
          END IF;
        END IF;
      END IF;
      IF c_epoch[c] IS DISTINCT FROM b_epoch[i] THEN
        c_epoch[c] := b_epoch[i];
        c_kept[c] := false;
        c_count[c] := 0;
      END IF;
      c_count[c] := c_count[c] + 1;
      c_first[c] := b_sequence[i];
      c_base[c] := l_end[l];
      c_stamp[c] := CASE b_type[i] WHEN 1 THEN l_append[l] * 2 + 1 ELSE b_timestamp[i] * 2 END;
      IF b_delta[i] >= huge_batch THEN c_huge[c] := true; END IF;
      c_next[c] := (b_sequence[i]::bigint + b_delta[i] + 1) % 2147483648;
    END IF;
    accepted[i] := true;
    v_base := l_end[l];
    v_last := v_base + b_delta[i];
    base[i] := v_base;
    l_end[l] := v_last + 1;
    IF b_type[i] = 1 THEN
      appended[i] := l_append[l];
      v_max := l_append[l];
      v_max_offset := v_base;
    ELSE
      v_max := b_timestamp[i];
      v_max_offset := v_base + b_timestamp_delta[i];
    END IF;
    last_k := l_last_k[l];
    IF last_k > 0 AND k_position[last_k] + k_size[last_k] = b_position[i] AND k_type[last_k] = b_type[i]
      AND k_size[last_k] + b_size[i] <= p_max_coordinate THEN
      k_size[last_k] := k_size[last_k] + b_size[i];
      k_last[last_k] := v_last;
      IF v_max > k_max[last_k] THEN
        k_max[last_k] := v_max;
        k_max_offset[last_k] := v_max_offset;
      END IF;
    ELSE
      k := k + 1;
      l_last_k[l] := k;
      k_log[k] := l; k_position[k] := b_position[i]; k_size[k] := b_size[i]; k_base[k] := v_base; k_last[k] := v_last;
      k_type[k] := b_type[i]; k_max[k] := v_max; k_max_offset[k] := v_max_offset;
    END IF;
  END LOOP;

  FOR i IN 1..k LOOP
    l := k_log[i];
    v_max := k_max[i];
    v_bytes := v_bytes + k_size[i];
    l_bytes[l] := l_bytes[l] + k_size[i];
    l_count[l] := l_count[l] + 1;
    IF v_max > l_max_1[l] THEN l_max_1[l] := v_max; END IF;
    IF l_count[l] % 64 = 0 THEN
      t_log := t_log || l_id[l]; t_level := t_level || 1; t_last := t_last || k_last[i]; t_max := t_max || l_max_1[l];
      IF l_max_1[l] > l_max_2[l] THEN l_max_2[l] := l_max_1[l]; END IF;
      l_max_1[l] := -1;
      IF l_count[l] % 4096 = 0 THEN
        t_log := t_log || l_id[l]; t_level := t_level || 2; t_last := t_last || k_last[i]; t_max := t_max || l_max_2[l];
        IF l_max_2[l] > l_max_3[l] THEN l_max_3[l] := l_max_2[l]; END IF;
        l_max_2[l] := -1;
        IF l_count[l] % 262144 = 0 THEN
          t_log := t_log || l_id[l]; t_level := t_level || 3; t_last := t_last || k_last[i]; t_max := t_max || l_max_3[l];
          l_max_3[l] := -1;
        END IF;
      END IF;
    END IF;
  END LOOP;

  INSERT INTO files (object_key, state, size, live_bytes, live_coordinates, since_ms, useless_since_ms, format_version,
    uploader_id, uploader_epoch, segment_sequence, errors, base_offsets, append_times, log_starts, duplicates)
  VALUES (p_key, CASE WHEN k > 0 THEN 0 ELSE 1 END, p_size, v_bytes, k, v_now, CASE WHEN k > 0 THEN NULL ELSE v_now END,
    p_format, p_uploader_id, p_uploader_epoch, p_segment_sequence, errors, base, appended, starts, duplicate)
  RETURNING file_id INTO v_file_id;
  status := 'committed';
  o_errors := errors; o_base := base; o_append := appended; o_start := starts; o_duplicate := duplicate;
  IF k = 0 THEN
    RETURN NEXT;
    RETURN;
  END IF;

  INSERT INTO coordinates SELECT l_id[x.log], x.last, x.base, v_file_id, x.position, x.size, x.type, l_append[x.log],
    x.max, x.max_offset, l_epoch[x.log]
  FROM unnest(k_log, k_last, k_base, k_position, k_size, k_type, k_max, k_max_offset)
    AS x (log, last, base, position, size, type, max, max_offset);
  IF cardinality(t_log) > 0 THEN
    INSERT INTO time_index SELECT * FROM unnest(t_log, t_level, t_last, t_max);
  END IF;
  UPDATE logs g SET high_watermark = x.log_end, last_append_time_ms = x.append, bytes = x.bytes, coordinates = x.count,
    open_max_1 = x.max_1, open_max_2 = x.max_2, open_max_3 = x.max_3
  FROM unnest(l_id, l_end, l_append, l_bytes, l_count, l_max_1, l_max_2, l_max_3, l_last_k)
    AS x (id, log_end, append, bytes, count, max_1, max_2, max_3, last_k)
  WHERE x.last_k > 0 AND g.log_id = x.id;
  -- The window of each producer with one new batch: the last four of what is kept, then the new one.
  UPDATE producers p SET producer_epoch = x.epoch, next_sequence = x.next, last_append_time_ms = x.append, huge = x.huge,
    batches = CASE WHEN x.kept THEN p.batches[cardinality(p.batches) - 15:] ELSE '{}' END
      || ARRAY[x.first, previous_sequence(x.next), x.base, x.stamp]
  FROM unnest(c_id, c_producer, c_epoch, c_next, c_append, c_huge, c_kept, c_stored, c_count, c_first, c_base, c_stamp)
    AS x (log_id, producer_id, epoch, next, append, huge, kept, stored, count, first, base, stamp)
  WHERE x.count = 1 AND x.stored AND p.log_id = x.log_id AND p.producer_id = x.producer_id;
  INSERT INTO producers SELECT x.log_id, x.producer_id, x.epoch, x.next, x.append, x.huge,
    ARRAY[x.first, previous_sequence(x.next), x.base, x.stamp]
  FROM unnest(c_id, c_producer, c_epoch, c_next, c_append, c_huge, c_stored, c_count, c_first, c_base, c_stamp)
    AS x (log_id, producer_id, epoch, next, append, huge, stored, count, first, base, stamp)
  WHERE x.count = 1 AND NOT x.stored;
  -- Of those with several, the last five of both.
  IF 1 < ANY (c_count) THEN
    INSERT INTO producers AS p SELECT c_id[a.chain], c_producer[a.chain], c_epoch[a.chain], c_next[a.chain],
      c_append[a.chain], c_huge[a.chain], (kept.batches || a.batches)[greatest(1, coalesce(cardinality(kept.batches), 0) + cardinality(a.batches) - 19):]
    FROM (
      SELECT x.chain, array_agg(v.value ORDER BY x.ix, v.field) AS batches
      FROM unnest(b_chain, b_log, b_epoch, b_sequence, b_delta, base, b_timestamp, b_type, accepted) WITH ORDINALITY
        AS x (chain, log, epoch, sequence, delta, base, stamp, type, accepted, ix),
      LATERAL (VALUES (1, x.sequence::bigint), (2, (x.sequence::bigint + x.delta) % 2147483648), (3, x.base),
        (4, CASE x.type WHEN 1 THEN l_append[x.log] * 2 + 1 ELSE x.stamp * 2 END)) AS v (field, value)
      WHERE x.chain > 0 AND x.accepted AND c_count[x.chain] > 1 AND x.epoch = c_epoch[x.chain] GROUP BY x.chain
    ) a
    LEFT JOIN producers kept ON c_kept[a.chain] AND kept.log_id = c_id[a.chain] AND kept.producer_id = c_producer[a.chain]
    ON CONFLICT (log_id, producer_id) DO UPDATE SET producer_epoch = excluded.producer_epoch,
      next_sequence = excluded.next_sequence, last_append_time_ms = excluded.last_append_time_ms, huge = excluded.huge,
      batches = excluded.batches;
  END IF;
  INSERT INTO changes (origin, kind, topic_ids, partitions, offsets)
  SELECT p_origin, 'commit', array_agg(x.topic), array_agg(x.partition), array_agg(x.log_end)
  FROM unnest(l_topic, l_partition, l_end, l_last_k) AS x (topic, partition, log_end, last_k) WHERE x.last_k > 0
  RETURNING change_number INTO o_change;
  RETURN NEXT;
END
$$;

CREATE FUNCTION schema_1.commit_offsets(p_group text, p_epoch bigint, p_topic text[], p_partition integer[], p_offset bigint[], p_leader_epoch integer[], p_metadata text[], p_time bigint[]) RETURNS integer[]
    LANGUAGE plpgsql
    AS $$
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
$$;

CREATE FUNCTION schema_1.cover(p_log bigint, p_from bigint) RETURNS TABLE(o_level integer, o_after bigint, o_up_to bigint)
    LANGUAGE plpgsql STABLE
    AS $$
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
$$;

CREATE FUNCTION schema_1.delete_records(p_origin text, p_topic text[], p_partition integer[], p_before bigint[]) RETURNS TABLE(ix integer, error integer, low_watermark bigint, moved boolean)
    LANGUAGE plpgsql
    AS $$
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
$$;

CREATE FUNCTION schema_1.delete_topic(p_topic text) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
BEGIN
  DELETE FROM topics WHERE topic_id = p_topic;
  IF NOT FOUND THEN RETURN false; END IF;
  DELETE FROM group_offsets WHERE topic_id = p_topic;
  DELETE FROM share_states WHERE topic_id = p_topic;
  PERFORM 1 FROM logs WHERE topic_id = p_topic ORDER BY log_id FOR UPDATE;
  UPDATE logs SET topic_id = NULL, trim = 2 WHERE topic_id = p_topic;
  RETURN true;
END
$$;

CREATE FUNCTION schema_1.drop_step(p_origin text, p_log bigint, p_limit integer, p_now bigint, p_retention_ms bigint, p_retention_bytes bigint) RETURNS TABLE(o_count integer, o_bytes bigint, o_moved_to bigint)
    LANGUAGE plpgsql
    AS $$
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
$$;

CREATE FUNCTION schema_1.find_batches(p_topic text[], p_partition integer[], p_offset bigint[], p_max_bytes bigint[], p_total bigint, p_owes_one boolean, p_rows integer) RETURNS TABLE(ix integer, error integer, log_start_offset bigint, high_watermark bigint, object_key text, "position" bigint, size integer, base_offset bigint, last_offset bigint, timestamp_type smallint, append_time_ms bigint, max_timestamp bigint, leader_epoch integer)
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
  g logs%ROWTYPE;
  r record;
  v_limit bigint;
  v_used bigint;
  v_left bigint := p_total;
  v_rows int := p_rows;
  v_owes_one boolean := p_owes_one;
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
    FOR r IN
      SELECT k.*, f.object_key FROM coordinates k JOIN files f USING (file_id)
      WHERE k.log_id = g.log_id AND k.last_offset >= p_offset[i] ORDER BY k.last_offset
    LOOP
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
      EXIT WHEN v_used >= v_limit OR v_rows = 0;
    END LOOP;
    v_left := v_left - v_used;
  END LOOP;
END
$$;

CREATE FUNCTION schema_1.first_at_least(p_log bigint, p_timestamp bigint, p_from bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
  s record;
  v_found bigint;
  v_previous bigint;
  v_after bigint;
BEGIN
  FOR s IN SELECT * FROM cover(p_log, p_from) LOOP
    v_found := first_in_stretch(p_log, s.o_level, s.o_after, s.o_up_to, p_timestamp);
    CONTINUE WHEN v_found IS NULL;
    v_after := s.o_after;
    FOR v_level IN REVERSE s.o_level..1 LOOP
      SELECT t.last_offset INTO v_previous FROM time_index t WHERE t.log_id = p_log AND t.level = v_level
        AND t.last_offset < v_found ORDER BY t.last_offset DESC LIMIT 1;
      IF v_previous > v_after THEN v_after := v_previous; END IF;
      v_found := first_in_stretch(p_log, v_level - 1, v_after, v_found, p_timestamp);
    END LOOP;
    RETURN v_found;
  END LOOP;
  RETURN NULL;
END
$$;

CREATE FUNCTION schema_1.first_in_stretch(p_log bigint, p_level integer, p_after bigint, p_up_to bigint, p_timestamp bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE
    AS $$
DECLARE
  v_found bigint;
BEGIN
  IF p_level = 0 THEN
    SELECT k.last_offset INTO v_found FROM coordinates k WHERE k.log_id = p_log AND k.last_offset > p_after
      AND k.last_offset <= p_up_to AND k.max_timestamp >= p_timestamp ORDER BY k.last_offset LIMIT 1;
  ELSE
    SELECT t.last_offset INTO v_found FROM time_index t WHERE t.log_id = p_log AND t.level = p_level
      AND t.last_offset > p_after AND t.last_offset <= p_up_to AND t.max_timestamp >= p_timestamp
    ORDER BY t.last_offset LIMIT 1;
  END IF;
  RETURN v_found;
END
$$;

CREATE FUNCTION schema_1.greatest_timestamp(p_log bigint, p_from bigint) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
  SELECT coalesce(max(m), -1) FROM cover(p_log, p_from) s,
    LATERAL (SELECT max(e.max_timestamp) AS m FROM run_ends(p_log, s.o_level, s.o_after, s.o_up_to) e) x;
$$;

CREATE FUNCTION schema_1.list_offsets(p_topic text[], p_partition integer[], p_timestamp bigint[], p_from bigint[]) RETURNS TABLE(ix integer, log_start_offset bigint, high_watermark bigint, log_leader_epoch integer, object_key text, "position" bigint, size integer, base_offset bigint, last_offset bigint, timestamp_type smallint, append_time_ms bigint, max_timestamp bigint, max_timestamp_offset bigint, leader_epoch integer)
    LANGUAGE plpgsql STABLE
    AS $$
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
      v_timestamp := greatest_timestamp(g.log_id, g.log_start_offset);
      IF v_timestamp >= 0 THEN v_last := first_at_least(g.log_id, v_timestamp, g.log_start_offset); END IF;
    END IF;
    RETURN QUERY SELECT i, g.log_start_offset, g.high_watermark, g.leader_epoch, f.object_key, k.position, k.size,
      k.base_offset, k.last_offset, k.timestamp_type, k.append_time_ms, k.max_timestamp, k.max_timestamp_offset, k.leader_epoch
    FROM (VALUES (1)) one (x) LEFT JOIN coordinates k ON k.log_id = g.log_id AND k.last_offset = v_last
      LEFT JOIN files f ON f.file_id = k.file_id;
  END LOOP;
END
$$;

CREATE FUNCTION schema_1.lock_key(p_key text) RETURNS void
    LANGUAGE sql
    AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(p_key, 0));
$$;

CREATE FUNCTION schema_1.next_sequence(p_sequence integer, p_increment bigint) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT ((p_sequence::bigint + p_increment) % 2147483648)::int;
$$;

CREATE FUNCTION schema_1.previous_sequence(p_sequence integer) RETURNS bigint
    LANGUAGE sql IMMUTABLE
    AS $$
  SELECT (p_sequence::bigint + 2147483647) % 2147483648;
$$;

CREATE FUNCTION schema_1.run_ends(p_log bigint, p_level integer, p_after bigint, p_up_to bigint) RETURNS TABLE(last_offset bigint, max_timestamp bigint)
    LANGUAGE sql STABLE
    AS $$
  SELECT last_offset, max_timestamp FROM coordinates
  WHERE p_level = 0 AND log_id = p_log AND last_offset > p_after AND last_offset <= p_up_to
  UNION ALL
  SELECT last_offset, max_timestamp FROM time_index
  WHERE p_level > 0 AND log_id = p_log AND level = p_level AND last_offset > p_after AND last_offset <= p_up_to;
$$;

CREATE FUNCTION schema_1.write_share_states(p_writes jsonb) RETURNS integer[]
    LANGUAGE plpgsql
    AS $$
DECLARE
  w jsonb;
  s share_states%ROWTYPE;
  v_error int;
  v_errors int[] := '{}';
BEGIN
  FOR w IN SELECT * FROM jsonb_array_elements(p_writes) LOOP
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
$$;

CREATE TABLE schema_1.changes (
    change_number bigint NOT NULL,
    xid xid8 DEFAULT pg_current_xact_id() NOT NULL,
    origin text NOT NULL,
    kind text NOT NULL,
    topic_ids text[],
    partitions integer[],
    offsets bigint[],
    made_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE schema_1.changes ALTER COLUMN change_number ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME schema_1.changes_change_number_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE schema_1.cluster (
    cluster_id text NOT NULL
);

CREATE TABLE schema_1.configs (
    scope text NOT NULL,
    configs jsonb NOT NULL
);

CREATE TABLE schema_1.coordinates (
    log_id bigint NOT NULL,
    last_offset bigint NOT NULL,
    base_offset bigint NOT NULL,
    file_id bigint NOT NULL,
    "position" bigint NOT NULL,
    size integer NOT NULL,
    timestamp_type smallint NOT NULL,
    append_time_ms bigint NOT NULL,
    max_timestamp bigint NOT NULL,
    max_timestamp_offset bigint NOT NULL,
    leader_epoch integer NOT NULL
);

CREATE TABLE schema_1.counters (
    name text NOT NULL,
    value bigint NOT NULL
);

CREATE TABLE schema_1.files (
    file_id bigint NOT NULL,
    object_key text NOT NULL,
    state smallint NOT NULL,
    size bigint NOT NULL,
    live_bytes bigint NOT NULL,
    live_coordinates integer NOT NULL,
    since_ms bigint NOT NULL,
    useless_since_ms bigint,
    format_version integer NOT NULL,
    uploader_id bigint NOT NULL,
    uploader_epoch bigint NOT NULL,
    segment_sequence bigint NOT NULL,
    errors integer[],
    base_offsets bigint[],
    append_times bigint[],
    log_starts bigint[],
    duplicates boolean[]
);

ALTER TABLE schema_1.files ALTER COLUMN file_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME schema_1.files_file_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE schema_1.group_offsets (
    group_id text NOT NULL,
    topic_id text NOT NULL,
    partition integer NOT NULL,
    "offset" bigint NOT NULL,
    leader_epoch integer NOT NULL,
    metadata text NOT NULL,
    commit_time_ms bigint NOT NULL
);

CREATE TABLE schema_1.groups (
    group_id text NOT NULL,
    type text NOT NULL,
    epoch bigint NOT NULL,
    state text NOT NULL
);

CREATE TABLE schema_1.logs (
    log_id bigint NOT NULL,
    topic_id text,
    partition integer NOT NULL,
    "trim" smallint DEFAULT 0 NOT NULL,
    log_start_offset bigint DEFAULT 0 NOT NULL,
    high_watermark bigint DEFAULT 0 NOT NULL,
    leader_epoch integer DEFAULT 0 NOT NULL,
    last_append_time_ms bigint DEFAULT '-1'::integer NOT NULL,
    bytes bigint DEFAULT 0 NOT NULL,
    coordinates bigint DEFAULT 0 NOT NULL,
    open_max_1 bigint DEFAULT '-1'::integer NOT NULL,
    open_max_2 bigint DEFAULT '-1'::integer NOT NULL,
    open_max_3 bigint DEFAULT '-1'::integer NOT NULL
)
WITH (fillfactor='50');

ALTER TABLE schema_1.logs ALTER COLUMN log_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME schema_1.logs_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE schema_1.producers (
    log_id bigint NOT NULL,
    producer_id bigint NOT NULL,
    producer_epoch integer NOT NULL,
    next_sequence integer NOT NULL,
    last_append_time_ms bigint NOT NULL,
    huge boolean NOT NULL,
    batches bigint[] NOT NULL
)
WITH (fillfactor='60');

CREATE TABLE schema_1.schema_version (
    version integer NOT NULL
);

CREATE TABLE schema_1.share_states (
    group_id text NOT NULL,
    topic_id text NOT NULL,
    partition integer NOT NULL,
    state_epoch integer NOT NULL,
    leader_epoch integer NOT NULL,
    start_offset bigint NOT NULL,
    delivery_complete_count integer NOT NULL,
    first_offsets bigint[] NOT NULL,
    last_offsets bigint[] NOT NULL,
    delivery_states integer[] NOT NULL,
    delivery_counts integer[] NOT NULL
);

CREATE TABLE schema_1.time_index (
    log_id bigint NOT NULL,
    level smallint NOT NULL,
    last_offset bigint NOT NULL,
    max_timestamp bigint NOT NULL
);

CREATE TABLE schema_1.topics (
    topic_id text NOT NULL,
    name text NOT NULL,
    partitions integer NOT NULL,
    configs jsonb NOT NULL
);

CREATE TABLE schema_1.uploaders (
    node_id bigint NOT NULL,
    epoch bigint NOT NULL
);

INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (1, '725', 'pK72ZhyZQ2ad9wUtROvs-g', 'topics', NULL, NULL, NULL, '2026-11-29 18:21:26.161114+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (2, '727', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{2,1,3}', '2026-11-29 18:21:26.182315+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (3, '729', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{4,2,6}', '2026-11-29 18:21:26.212129+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (4, '731', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{6,3,9}', '2026-11-29 18:21:26.23344+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (5, '733', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{8,4,12}', '2026-11-29 18:21:26.242048+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (6, '735', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{10,5,15}', '2026-11-29 18:21:26.25032+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (7, '737', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{12,6,18}', '2026-11-29 18:21:26.261277+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (8, '739', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{14,7,21}', '2026-11-29 18:21:26.265182+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (9, '741', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{16,8,24}', '2026-11-29 18:21:26.268009+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (10, '743', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{18,9,27}', '2026-11-29 18:21:26.286692+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (11, '745', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{20,10,30}', '2026-11-29 18:21:26.293036+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (12, '747', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{22,11,33}', '2026-11-29 18:21:26.30102+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (13, '749', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{24,12,36}', '2026-11-29 18:21:26.307745+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (14, '751', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{26,13,39}', '2026-11-29 18:21:26.317203+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (15, '753', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{28,14,42}', '2026-11-29 18:21:26.321145+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (16, '755', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{30,15,45}', '2026-11-29 18:21:26.325143+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (17, '757', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{32,16,48}', '2026-11-29 18:21:26.329155+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (18, '759', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{34,17,51}', '2026-11-29 18:21:26.332523+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (19, '761', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{36,18,54}', '2026-11-29 18:21:26.336073+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (20, '763', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{38,19,57}', '2026-11-29 18:21:26.338932+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (21, '765', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{40,20,60}', '2026-11-29 18:21:26.341659+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (22, '767', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{42,21,63}', '2026-11-29 18:21:26.346889+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (23, '769', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{44,22,66}', '2026-11-29 18:21:26.350089+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (24, '771', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{46,23,69}', '2026-11-29 18:21:26.352958+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (25, '773', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{48,24,72}', '2026-11-29 18:21:26.356817+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (26, '775', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{50,25,75}', '2026-11-29 18:21:26.360657+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (27, '777', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{52,26,78}', '2026-11-29 18:21:26.363603+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (28, '779', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{54,27,81}', '2026-11-29 18:21:26.385613+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (29, '780', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{56,28,84}', '2026-11-29 18:21:26.388864+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (30, '783', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{58,29,87}', '2026-11-29 18:21:26.392964+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (31, '784', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{60,30,90}', '2026-11-29 18:21:26.396347+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (32, '787', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{62,31,93}', '2026-11-29 18:21:26.398304+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (34, '791', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{66,33,99}', '2026-11-29 18:21:26.411899+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (38, '798', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{74,37,111}', '2026-11-29 18:21:26.430109+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (44, '811', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{86,43,129}', '2026-11-29 18:21:26.447443+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (46, '815', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{90,45,135}', '2026-11-29 18:21:26.453892+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (48, '819', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{94,47,141}', '2026-11-29 18:21:26.45823+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (55, '833', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{108,54,162}', '2026-11-29 18:21:26.474901+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (57, '837', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{112,56,168}', '2026-11-29 18:21:26.47949+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (59, '840', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{116,58,174}', '2026-11-29 18:21:26.484877+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (61, '845', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{120,60,180}', '2026-11-29 18:21:26.495807+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (63, '848', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{124,62,186}', '2026-11-29 18:21:26.5006+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (66, '854', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{130,65,195}', '2026-11-29 18:21:26.506929+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (68, '859', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{134,67,201}', '2026-11-29 18:21:26.511383+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (70, '863', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{138,69,207}', '2026-11-29 18:21:26.5153+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (73, '869', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNDQw}', '{0}', '{1}', '2026-11-29 18:21:26.528704+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (75, '873', 'pK72ZhyZQ2ad9wUtROvs-g', 'log-start', '{TWlncmF0aW9uVG9waWNBQQ}', '{0}', '{11}', '2026-11-29 18:21:26.536664+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (33, '788', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{64,32,96}', '2026-11-29 18:21:26.405516+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (35, '792', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{68,34,102}', '2026-11-29 18:21:26.415061+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (37, '797', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{72,36,108}', '2026-11-29 18:21:26.421117+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (40, '803', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{78,39,117}', '2026-11-29 18:21:26.43576+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (42, '807', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{82,41,123}', '2026-11-29 18:21:26.440063+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (45, '812', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{88,44,132}', '2026-11-29 18:21:26.450995+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (47, '816', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{92,46,138}', '2026-11-29 18:21:26.455958+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (50, '823', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{98,49,147}', '2026-11-29 18:21:26.463615+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (52, '826', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{102,51,153}', '2026-11-29 18:21:26.468128+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (54, '831', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{106,53,159}', '2026-11-29 18:21:26.472582+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (58, '839', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{114,57,171}', '2026-11-29 18:21:26.481635+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (60, '843', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{118,59,177}', '2026-11-29 18:21:26.487299+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (62, '846', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{122,61,183}', '2026-11-29 18:21:26.498289+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (64, '850', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{126,63,189}', '2026-11-29 18:21:26.502716+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (65, '852', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{128,64,192}', '2026-11-29 18:21:26.504795+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (67, '857', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{132,66,198}', '2026-11-29 18:21:26.509286+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (69, '860', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{136,68,204}', '2026-11-29 18:21:26.513084+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (72, '866', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNCQg}', '{1}', '{2147483654}', '2026-11-29 18:21:26.519117+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (74, '871', 'pK72ZhyZQ2ad9wUtROvs-g', 'topics', NULL, NULL, NULL, '2026-11-29 18:21:26.53097+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (36, '794', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{70,35,105}', '2026-11-29 18:21:26.417075+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (39, '801', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{76,38,114}', '2026-11-29 18:21:26.433746+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (41, '805', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{80,40,120}', '2026-11-29 18:21:26.437789+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (43, '808', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{84,42,126}', '2026-11-29 18:21:26.441897+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (49, '821', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{96,48,144}', '2026-11-29 18:21:26.460387+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (51, '824', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{100,50,150}', '2026-11-29 18:21:26.465937+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (53, '828', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{104,52,156}', '2026-11-29 18:21:26.470335+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (56, '835', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{110,55,165}', '2026-11-29 18:21:26.477284+00');
INSERT INTO schema_1.changes OVERRIDING SYSTEM VALUE VALUES (71, '865', 'pK72ZhyZQ2ad9wUtROvs-g', 'commit', '{TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNBQQ,TWlncmF0aW9uVG9waWNCQg}', '{0,1,0}', '{140,70,210}', '2026-11-29 18:21:26.517034+00');

INSERT INTO schema_1.cluster VALUES ('TWlncmF0aW9uQ2x1c3RlcA');

INSERT INTO schema_1.coordinates VALUES (2, 0, 0, 1, 300, 100, 0, 1700000000010, 1000, 0, 0);
INSERT INTO schema_1.coordinates VALUES (3, 2, 0, 1, 500, 100, 1, 1700000000010, 1700000000010, 0, 0);
INSERT INTO schema_1.coordinates VALUES (2, 1, 1, 2, 300, 100, 0, 1700000000020, 1000, 1, 0);
INSERT INTO schema_1.coordinates VALUES (3, 5, 3, 2, 500, 100, 1, 1700000000020, 1700000000020, 3, 0);
INSERT INTO schema_1.coordinates VALUES (2, 2, 2, 3, 300, 100, 0, 1700000000030, 1000, 2, 0);
INSERT INTO schema_1.coordinates VALUES (3, 8, 6, 3, 500, 100, 1, 1700000000030, 1700000000030, 6, 0);
INSERT INTO schema_1.coordinates VALUES (2, 3, 3, 4, 300, 100, 0, 1700000000040, 1000, 3, 0);
INSERT INTO schema_1.coordinates VALUES (3, 11, 9, 4, 500, 100, 1, 1700000000040, 1700000000040, 9, 0);
INSERT INTO schema_1.coordinates VALUES (2, 4, 4, 5, 300, 100, 0, 1700000000050, 1000, 4, 0);
INSERT INTO schema_1.coordinates VALUES (3, 14, 12, 5, 500, 100, 1, 1700000000050, 1700000000050, 12, 0);
INSERT INTO schema_1.coordinates VALUES (1, 11, 10, 6, 1, 100, 0, 1700000000060, 1045, 10, 0);
INSERT INTO schema_1.coordinates VALUES (2, 5, 5, 6, 300, 100, 0, 1700000000060, 1000, 5, 0);
INSERT INTO schema_1.coordinates VALUES (3, 17, 15, 6, 500, 100, 1, 1700000000060, 1700000000060, 15, 0);
INSERT INTO schema_1.coordinates VALUES (1, 13, 12, 7, 1, 100, 0, 1700000000070, 1012, 12, 0);
INSERT INTO schema_1.coordinates VALUES (2, 6, 6, 7, 300, 100, 0, 1700000000070, 1000, 6, 0);
INSERT INTO schema_1.coordinates VALUES (3, 20, 18, 7, 500, 100, 1, 1700000000070, 1700000000070, 18, 0);
INSERT INTO schema_1.coordinates VALUES (1, 15, 14, 8, 1, 100, 0, 1700000000080, 1049, 14, 0);
INSERT INTO schema_1.coordinates VALUES (2, 7, 7, 8, 300, 100, 0, 1700000000080, 1000, 7, 0);
INSERT INTO schema_1.coordinates VALUES (3, 23, 21, 8, 500, 100, 1, 1700000000080, 1700000000080, 21, 0);
INSERT INTO schema_1.coordinates VALUES (1, 17, 16, 9, 1, 100, 0, 1700000000090, 1016, 16, 0);
INSERT INTO schema_1.coordinates VALUES (2, 8, 8, 9, 300, 100, 0, 1700000000090, 1000, 8, 0);
INSERT INTO schema_1.coordinates VALUES (3, 26, 24, 9, 500, 100, 1, 1700000000090, 1700000000090, 24, 0);
INSERT INTO schema_1.coordinates VALUES (1, 19, 18, 10, 1, 100, 0, 1700000000100, 1053, 18, 0);
INSERT INTO schema_1.coordinates VALUES (2, 9, 9, 10, 300, 100, 0, 1700000000100, 1000, 9, 0);
INSERT INTO schema_1.coordinates VALUES (3, 29, 27, 10, 500, 100, 1, 1700000000100, 1700000000100, 27, 0);
INSERT INTO schema_1.coordinates VALUES (1, 21, 20, 11, 1, 100, 0, 1700000000110, 1020, 20, 0);
INSERT INTO schema_1.coordinates VALUES (2, 10, 10, 11, 300, 100, 0, 1700000000110, 1000, 10, 0);
INSERT INTO schema_1.coordinates VALUES (3, 32, 30, 11, 500, 100, 1, 1700000000110, 1700000000110, 30, 0);
INSERT INTO schema_1.coordinates VALUES (1, 23, 22, 12, 1, 100, 0, 1700000000120, 1057, 22, 0);
INSERT INTO schema_1.coordinates VALUES (2, 11, 11, 12, 300, 100, 0, 1700000000120, 1000, 11, 0);
INSERT INTO schema_1.coordinates VALUES (3, 35, 33, 12, 500, 100, 1, 1700000000120, 1700000000120, 33, 0);
INSERT INTO schema_1.coordinates VALUES (1, 25, 24, 13, 1, 100, 0, 1700000000130, 1024, 24, 0);
INSERT INTO schema_1.coordinates VALUES (2, 12, 12, 13, 300, 100, 0, 1700000000130, 1000, 12, 0);
INSERT INTO schema_1.coordinates VALUES (3, 38, 36, 13, 500, 100, 1, 1700000000130, 1700000000130, 36, 0);
INSERT INTO schema_1.coordinates VALUES (1, 27, 26, 14, 1, 100, 0, 1700000000140, 1061, 26, 0);
INSERT INTO schema_1.coordinates VALUES (2, 13, 13, 14, 300, 100, 0, 1700000000140, 1000, 13, 0);
INSERT INTO schema_1.coordinates VALUES (3, 41, 39, 14, 500, 100, 1, 1700000000140, 1700000000140, 39, 0);
INSERT INTO schema_1.coordinates VALUES (1, 29, 28, 15, 1, 100, 0, 1700000000150, 1028, 28, 0);
INSERT INTO schema_1.coordinates VALUES (2, 14, 14, 15, 300, 100, 0, 1700000000150, 1000, 14, 0);
INSERT INTO schema_1.coordinates VALUES (3, 44, 42, 15, 500, 100, 1, 1700000000150, 1700000000150, 42, 0);
INSERT INTO schema_1.coordinates VALUES (1, 31, 30, 16, 1, 100, 0, 1700000000160, 1065, 30, 0);
INSERT INTO schema_1.coordinates VALUES (2, 15, 15, 16, 300, 100, 0, 1700000000160, 1000, 15, 0);
INSERT INTO schema_1.coordinates VALUES (3, 47, 45, 16, 500, 100, 1, 1700000000160, 1700000000160, 45, 0);
INSERT INTO schema_1.coordinates VALUES (1, 33, 32, 17, 1, 100, 0, 1700000000170, 1032, 32, 0);
INSERT INTO schema_1.coordinates VALUES (2, 16, 16, 17, 300, 100, 0, 1700000000170, 1000, 16, 0);
INSERT INTO schema_1.coordinates VALUES (3, 50, 48, 17, 500, 100, 1, 1700000000170, 1700000000170, 48, 0);
INSERT INTO schema_1.coordinates VALUES (1, 35, 34, 18, 1, 100, 0, 1700000000180, 1069, 34, 0);
INSERT INTO schema_1.coordinates VALUES (2, 17, 17, 18, 300, 100, 0, 1700000000180, 1000, 17, 0);
INSERT INTO schema_1.coordinates VALUES (3, 53, 51, 18, 500, 100, 1, 1700000000180, 1700000000180, 51, 0);
INSERT INTO schema_1.coordinates VALUES (1, 37, 36, 19, 1, 100, 0, 1700000000190, 1036, 36, 0);
INSERT INTO schema_1.coordinates VALUES (2, 18, 18, 19, 300, 100, 0, 1700000000190, 1000, 18, 0);
INSERT INTO schema_1.coordinates VALUES (3, 56, 54, 19, 500, 100, 1, 1700000000190, 1700000000190, 54, 0);
INSERT INTO schema_1.coordinates VALUES (1, 39, 38, 20, 1, 100, 0, 1700000000200, 1003, 38, 0);
INSERT INTO schema_1.coordinates VALUES (2, 19, 19, 20, 300, 100, 0, 1700000000200, 1000, 19, 0);
INSERT INTO schema_1.coordinates VALUES (3, 59, 57, 20, 500, 100, 1, 1700000000200, 1700000000200, 57, 0);
INSERT INTO schema_1.coordinates VALUES (1, 41, 40, 21, 1, 100, 0, 1700000000210, 1040, 40, 0);
INSERT INTO schema_1.coordinates VALUES (2, 20, 20, 21, 300, 100, 0, 1700000000210, 1000, 20, 0);
INSERT INTO schema_1.coordinates VALUES (3, 62, 60, 21, 500, 100, 1, 1700000000210, 1700000000210, 60, 0);
INSERT INTO schema_1.coordinates VALUES (1, 43, 42, 22, 1, 100, 0, 1700000000220, 1007, 42, 0);
INSERT INTO schema_1.coordinates VALUES (2, 21, 21, 22, 300, 100, 0, 1700000000220, 1000, 21, 0);
INSERT INTO schema_1.coordinates VALUES (3, 65, 63, 22, 500, 100, 1, 1700000000220, 1700000000220, 63, 0);
INSERT INTO schema_1.coordinates VALUES (1, 45, 44, 23, 1, 100, 0, 1700000000230, 1044, 44, 0);
INSERT INTO schema_1.coordinates VALUES (2, 22, 22, 23, 300, 100, 0, 1700000000230, 1000, 22, 0);
INSERT INTO schema_1.coordinates VALUES (3, 68, 66, 23, 500, 100, 1, 1700000000230, 1700000000230, 66, 0);
INSERT INTO schema_1.coordinates VALUES (1, 47, 46, 24, 1, 100, 0, 1700000000240, 1011, 46, 0);
INSERT INTO schema_1.coordinates VALUES (2, 23, 23, 24, 300, 100, 0, 1700000000240, 1000, 23, 0);
INSERT INTO schema_1.coordinates VALUES (3, 71, 69, 24, 500, 100, 1, 1700000000240, 1700000000240, 69, 0);
INSERT INTO schema_1.coordinates VALUES (1, 49, 48, 25, 1, 100, 0, 1700000000250, 1048, 48, 0);
INSERT INTO schema_1.coordinates VALUES (2, 24, 24, 25, 300, 100, 0, 1700000000250, 1000, 24, 0);
INSERT INTO schema_1.coordinates VALUES (3, 74, 72, 25, 500, 100, 1, 1700000000250, 1700000000250, 72, 0);
INSERT INTO schema_1.coordinates VALUES (1, 51, 50, 26, 1, 100, 0, 1700000000260, 1015, 50, 0);
INSERT INTO schema_1.coordinates VALUES (2, 25, 25, 26, 300, 100, 0, 1700000000260, 1000, 25, 0);
INSERT INTO schema_1.coordinates VALUES (3, 77, 75, 26, 500, 100, 1, 1700000000260, 1700000000260, 75, 0);
INSERT INTO schema_1.coordinates VALUES (1, 55, 54, 28, 1, 100, 0, 1700000000280, 1019, 54, 0);
INSERT INTO schema_1.coordinates VALUES (2, 27, 27, 28, 300, 100, 0, 1700000000280, 1000, 27, 0);
INSERT INTO schema_1.coordinates VALUES (3, 83, 81, 28, 500, 100, 1, 1700000000280, 1700000000280, 81, 0);
INSERT INTO schema_1.coordinates VALUES (1, 61, 60, 31, 1, 100, 0, 1700000000310, 1060, 60, 0);
INSERT INTO schema_1.coordinates VALUES (2, 30, 30, 31, 300, 100, 0, 1700000000310, 1000, 30, 0);
INSERT INTO schema_1.coordinates VALUES (3, 92, 90, 31, 500, 100, 1, 1700000000310, 1700000000310, 90, 0);
INSERT INTO schema_1.coordinates VALUES (1, 65, 64, 33, 1, 100, 0, 1700000000330, 1064, 64, 0);
INSERT INTO schema_1.coordinates VALUES (2, 32, 32, 33, 300, 100, 0, 1700000000330, 1000, 32, 0);
INSERT INTO schema_1.coordinates VALUES (3, 98, 96, 33, 500, 100, 1, 1700000000330, 1700000000330, 96, 0);
INSERT INTO schema_1.coordinates VALUES (1, 73, 72, 37, 1, 100, 0, 1700000000370, 1002, 72, 0);
INSERT INTO schema_1.coordinates VALUES (2, 36, 36, 37, 300, 100, 0, 1700000000370, 1000, 36, 0);
INSERT INTO schema_1.coordinates VALUES (3, 110, 108, 37, 500, 100, 1, 1700000000370, 1700000000370, 108, 0);
INSERT INTO schema_1.coordinates VALUES (1, 85, 84, 43, 1, 100, 0, 1700000000430, 1014, 84, 0);
INSERT INTO schema_1.coordinates VALUES (2, 42, 42, 43, 300, 100, 0, 1700000000430, 1000, 42, 0);
INSERT INTO schema_1.coordinates VALUES (3, 128, 126, 43, 500, 100, 1, 1700000000430, 1700000000430, 126, 0);
INSERT INTO schema_1.coordinates VALUES (1, 89, 88, 45, 1, 100, 0, 1700000000450, 1018, 88, 0);
INSERT INTO schema_1.coordinates VALUES (2, 44, 44, 45, 300, 100, 0, 1700000000450, 1000, 44, 0);
INSERT INTO schema_1.coordinates VALUES (3, 134, 132, 45, 500, 100, 1, 1700000000450, 1700000000450, 132, 0);
INSERT INTO schema_1.coordinates VALUES (1, 93, 92, 47, 1, 100, 0, 1700000000470, 1022, 92, 0);
INSERT INTO schema_1.coordinates VALUES (2, 46, 46, 47, 300, 100, 0, 1700000000470, 1000, 46, 0);
INSERT INTO schema_1.coordinates VALUES (3, 140, 138, 47, 500, 100, 1, 1700000000470, 1700000000470, 138, 0);
INSERT INTO schema_1.coordinates VALUES (1, 107, 106, 54, 1, 100, 0, 1700000000540, 1001, 106, 0);
INSERT INTO schema_1.coordinates VALUES (2, 53, 53, 54, 300, 100, 0, 1700000000540, 1000, 53, 0);
INSERT INTO schema_1.coordinates VALUES (3, 161, 159, 54, 500, 100, 1, 1700000000540, 1700000000540, 159, 0);
INSERT INTO schema_1.coordinates VALUES (1, 111, 110, 56, 1, 100, 0, 1700000000560, 1005, 110, 0);
INSERT INTO schema_1.coordinates VALUES (2, 55, 55, 56, 300, 100, 0, 1700000000560, 1000, 55, 0);
INSERT INTO schema_1.coordinates VALUES (3, 167, 165, 56, 500, 100, 1, 1700000000560, 1700000000560, 165, 0);
INSERT INTO schema_1.coordinates VALUES (1, 115, 114, 58, 1, 100, 0, 1700000000580, 1009, 114, 0);
INSERT INTO schema_1.coordinates VALUES (2, 57, 57, 58, 300, 100, 0, 1700000000580, 1000, 57, 0);
INSERT INTO schema_1.coordinates VALUES (3, 173, 171, 58, 500, 100, 1, 1700000000580, 1700000000580, 171, 0);
INSERT INTO schema_1.coordinates VALUES (1, 119, 118, 60, 1, 100, 0, 1700000000600, 1013, 118, 0);
INSERT INTO schema_1.coordinates VALUES (2, 59, 59, 60, 300, 100, 0, 1700000000600, 1000, 59, 0);
INSERT INTO schema_1.coordinates VALUES (3, 179, 177, 60, 500, 100, 1, 1700000000600, 1700000000600, 177, 0);
INSERT INTO schema_1.coordinates VALUES (1, 123, 122, 62, 1, 100, 0, 1700000000620, 1017, 122, 0);
INSERT INTO schema_1.coordinates VALUES (2, 61, 61, 62, 300, 100, 0, 1700000000620, 1000, 61, 0);
INSERT INTO schema_1.coordinates VALUES (3, 185, 183, 62, 500, 100, 1, 1700000000620, 1700000000620, 183, 0);
INSERT INTO schema_1.coordinates VALUES (1, 129, 128, 65, 1, 100, 0, 1700000000650, 1058, 128, 0);
INSERT INTO schema_1.coordinates VALUES (2, 64, 64, 65, 300, 100, 0, 1700000000650, 1000, 64, 0);
INSERT INTO schema_1.coordinates VALUES (3, 194, 192, 65, 500, 100, 1, 1700000000650, 1700000000650, 192, 0);
INSERT INTO schema_1.coordinates VALUES (1, 133, 132, 67, 1, 100, 0, 1700000000670, 1062, 132, 0);
INSERT INTO schema_1.coordinates VALUES (2, 66, 66, 67, 300, 100, 0, 1700000000670, 1000, 66, 0);
INSERT INTO schema_1.coordinates VALUES (3, 200, 198, 67, 500, 100, 1, 1700000000670, 1700000000670, 198, 0);
INSERT INTO schema_1.coordinates VALUES (1, 137, 136, 69, 1, 100, 0, 1700000000690, 1066, 136, 0);
INSERT INTO schema_1.coordinates VALUES (2, 68, 68, 69, 300, 100, 0, 1700000000690, 1000, 68, 0);
INSERT INTO schema_1.coordinates VALUES (3, 206, 204, 69, 500, 100, 1, 1700000000690, 1700000000690, 204, 0);
INSERT INTO schema_1.coordinates VALUES (1, 53, 52, 27, 1, 100, 0, 1700000000270, 1052, 52, 0);
INSERT INTO schema_1.coordinates VALUES (2, 26, 26, 27, 300, 100, 0, 1700000000270, 1000, 26, 0);
INSERT INTO schema_1.coordinates VALUES (3, 80, 78, 27, 500, 100, 1, 1700000000270, 1700000000270, 78, 0);
INSERT INTO schema_1.coordinates VALUES (1, 59, 58, 30, 1, 100, 0, 1700000000300, 1023, 58, 0);
INSERT INTO schema_1.coordinates VALUES (2, 29, 29, 30, 300, 100, 0, 1700000000300, 1000, 29, 0);
INSERT INTO schema_1.coordinates VALUES (3, 89, 87, 30, 500, 100, 1, 1700000000300, 1700000000300, 87, 0);
INSERT INTO schema_1.coordinates VALUES (1, 69, 68, 35, 1, 100, 0, 1700000000350, 1068, 68, 0);
INSERT INTO schema_1.coordinates VALUES (2, 34, 34, 35, 300, 100, 0, 1700000000350, 1000, 34, 0);
INSERT INTO schema_1.coordinates VALUES (3, 104, 102, 35, 500, 100, 1, 1700000000350, 1700000000350, 102, 0);
INSERT INTO schema_1.coordinates VALUES (1, 75, 74, 38, 1, 100, 0, 1700000000380, 1039, 74, 0);
INSERT INTO schema_1.coordinates VALUES (2, 37, 37, 38, 300, 100, 0, 1700000000380, 1000, 37, 0);
INSERT INTO schema_1.coordinates VALUES (3, 113, 111, 38, 500, 100, 1, 1700000000380, 1700000000380, 111, 0);
INSERT INTO schema_1.coordinates VALUES (1, 79, 78, 40, 1, 100, 0, 1700000000400, 1043, 78, 0);
INSERT INTO schema_1.coordinates VALUES (2, 39, 39, 40, 300, 100, 0, 1700000000400, 1000, 39, 0);
INSERT INTO schema_1.coordinates VALUES (3, 119, 117, 40, 500, 100, 1, 1700000000400, 1700000000400, 117, 0);
INSERT INTO schema_1.coordinates VALUES (1, 83, 82, 42, 1, 100, 0, 1700000000420, 1047, 82, 0);
INSERT INTO schema_1.coordinates VALUES (2, 41, 41, 42, 300, 100, 0, 1700000000420, 1000, 41, 0);
INSERT INTO schema_1.coordinates VALUES (3, 125, 123, 42, 500, 100, 1, 1700000000420, 1700000000420, 123, 0);
INSERT INTO schema_1.coordinates VALUES (1, 95, 94, 48, 1, 100, 0, 1700000000480, 1059, 94, 0);
INSERT INTO schema_1.coordinates VALUES (2, 47, 47, 48, 300, 100, 0, 1700000000480, 1000, 47, 0);
INSERT INTO schema_1.coordinates VALUES (3, 143, 141, 48, 500, 100, 1, 1700000000480, 1700000000480, 141, 0);
INSERT INTO schema_1.coordinates VALUES (1, 99, 98, 50, 1, 100, 0, 1700000000500, 1063, 98, 0);
INSERT INTO schema_1.coordinates VALUES (2, 49, 49, 50, 300, 100, 0, 1700000000500, 1000, 49, 0);
INSERT INTO schema_1.coordinates VALUES (3, 149, 147, 50, 500, 100, 1, 1700000000500, 1700000000500, 147, 0);
INSERT INTO schema_1.coordinates VALUES (1, 103, 102, 52, 1, 100, 0, 1700000000520, 1067, 102, 0);
INSERT INTO schema_1.coordinates VALUES (2, 51, 51, 52, 300, 100, 0, 1700000000520, 1000, 51, 0);
INSERT INTO schema_1.coordinates VALUES (3, 155, 153, 52, 500, 100, 1, 1700000000520, 1700000000520, 153, 0);
INSERT INTO schema_1.coordinates VALUES (1, 109, 108, 55, 1, 100, 0, 1700000000550, 1038, 108, 0);
INSERT INTO schema_1.coordinates VALUES (2, 54, 54, 55, 300, 100, 0, 1700000000550, 1000, 54, 0);
INSERT INTO schema_1.coordinates VALUES (3, 164, 162, 55, 500, 100, 1, 1700000000550, 1700000000550, 162, 0);
INSERT INTO schema_1.coordinates VALUES (1, 139, 138, 70, 1, 100, 0, 1700000000700, 1033, 138, 0);
INSERT INTO schema_1.coordinates VALUES (2, 69, 69, 70, 300, 100, 0, 1700000000700, 1000, 69, 0);
INSERT INTO schema_1.coordinates VALUES (3, 209, 207, 70, 500, 100, 1, 1700000000700, 1700000000700, 207, 0);
INSERT INTO schema_1.coordinates VALUES (1, 57, 56, 29, 1, 100, 0, 1700000000290, 1056, 56, 0);
INSERT INTO schema_1.coordinates VALUES (2, 28, 28, 29, 300, 100, 0, 1700000000290, 1000, 28, 0);
INSERT INTO schema_1.coordinates VALUES (3, 86, 84, 29, 500, 100, 1, 1700000000290, 1700000000290, 84, 0);
INSERT INTO schema_1.coordinates VALUES (1, 63, 62, 32, 1, 100, 0, 1700000000320, 1027, 62, 0);
INSERT INTO schema_1.coordinates VALUES (2, 31, 31, 32, 300, 100, 0, 1700000000320, 1000, 31, 0);
INSERT INTO schema_1.coordinates VALUES (3, 95, 93, 32, 500, 100, 1, 1700000000320, 1700000000320, 93, 0);
INSERT INTO schema_1.coordinates VALUES (1, 67, 66, 34, 1, 100, 0, 1700000000340, 1031, 66, 0);
INSERT INTO schema_1.coordinates VALUES (2, 33, 33, 34, 300, 100, 0, 1700000000340, 1000, 33, 0);
INSERT INTO schema_1.coordinates VALUES (3, 101, 99, 34, 500, 100, 1, 1700000000340, 1700000000340, 99, 0);
INSERT INTO schema_1.coordinates VALUES (1, 71, 70, 36, 1, 100, 0, 1700000000360, 1035, 70, 0);
INSERT INTO schema_1.coordinates VALUES (2, 35, 35, 36, 300, 100, 0, 1700000000360, 1000, 35, 0);
INSERT INTO schema_1.coordinates VALUES (3, 107, 105, 36, 500, 100, 1, 1700000000360, 1700000000360, 105, 0);
INSERT INTO schema_1.coordinates VALUES (1, 77, 76, 39, 1, 100, 0, 1700000000390, 1006, 76, 0);
INSERT INTO schema_1.coordinates VALUES (2, 38, 38, 39, 300, 100, 0, 1700000000390, 1000, 38, 0);
INSERT INTO schema_1.coordinates VALUES (3, 116, 114, 39, 500, 100, 1, 1700000000390, 1700000000390, 114, 0);
INSERT INTO schema_1.coordinates VALUES (1, 81, 80, 41, 1, 100, 0, 1700000000410, 1010, 80, 0);
INSERT INTO schema_1.coordinates VALUES (2, 40, 40, 41, 300, 100, 0, 1700000000410, 1000, 40, 0);
INSERT INTO schema_1.coordinates VALUES (3, 122, 120, 41, 500, 100, 1, 1700000000410, 1700000000410, 120, 0);
INSERT INTO schema_1.coordinates VALUES (1, 87, 86, 44, 1, 100, 0, 1700000000440, 1051, 86, 0);
INSERT INTO schema_1.coordinates VALUES (2, 43, 43, 44, 300, 100, 0, 1700000000440, 1000, 43, 0);
INSERT INTO schema_1.coordinates VALUES (3, 131, 129, 44, 500, 100, 1, 1700000000440, 1700000000440, 129, 0);
INSERT INTO schema_1.coordinates VALUES (1, 91, 90, 46, 1, 100, 0, 1700000000460, 1055, 90, 0);
INSERT INTO schema_1.coordinates VALUES (2, 45, 45, 46, 300, 100, 0, 1700000000460, 1000, 45, 0);
INSERT INTO schema_1.coordinates VALUES (3, 137, 135, 46, 500, 100, 1, 1700000000460, 1700000000460, 135, 0);
INSERT INTO schema_1.coordinates VALUES (1, 97, 96, 49, 1, 100, 0, 1700000000490, 1026, 96, 0);
INSERT INTO schema_1.coordinates VALUES (2, 48, 48, 49, 300, 100, 0, 1700000000490, 1000, 48, 0);
INSERT INTO schema_1.coordinates VALUES (3, 146, 144, 49, 500, 100, 1, 1700000000490, 1700000000490, 144, 0);
INSERT INTO schema_1.coordinates VALUES (1, 101, 100, 51, 1, 100, 0, 1700000000510, 1030, 100, 0);
INSERT INTO schema_1.coordinates VALUES (2, 50, 50, 51, 300, 100, 0, 1700000000510, 1000, 50, 0);
INSERT INTO schema_1.coordinates VALUES (3, 152, 150, 51, 500, 100, 1, 1700000000510, 1700000000510, 150, 0);
INSERT INTO schema_1.coordinates VALUES (1, 105, 104, 53, 1, 100, 0, 1700000000530, 1034, 104, 0);
INSERT INTO schema_1.coordinates VALUES (2, 52, 52, 53, 300, 100, 0, 1700000000530, 1000, 52, 0);
INSERT INTO schema_1.coordinates VALUES (3, 158, 156, 53, 500, 100, 1, 1700000000530, 1700000000530, 156, 0);
INSERT INTO schema_1.coordinates VALUES (1, 113, 112, 57, 1, 100, 0, 1700000000570, 1042, 112, 0);
INSERT INTO schema_1.coordinates VALUES (2, 56, 56, 57, 300, 100, 0, 1700000000570, 1000, 56, 0);
INSERT INTO schema_1.coordinates VALUES (3, 170, 168, 57, 500, 100, 1, 1700000000570, 1700000000570, 168, 0);
INSERT INTO schema_1.coordinates VALUES (1, 117, 116, 59, 1, 100, 0, 1700000000590, 1046, 116, 0);
INSERT INTO schema_1.coordinates VALUES (2, 58, 58, 59, 300, 100, 0, 1700000000590, 1000, 58, 0);
INSERT INTO schema_1.coordinates VALUES (3, 176, 174, 59, 500, 100, 1, 1700000000590, 1700000000590, 174, 0);
INSERT INTO schema_1.coordinates VALUES (1, 121, 120, 61, 1, 100, 0, 1700000000610, 1050, 120, 0);
INSERT INTO schema_1.coordinates VALUES (2, 60, 60, 61, 300, 100, 0, 1700000000610, 1000, 60, 0);
INSERT INTO schema_1.coordinates VALUES (3, 182, 180, 61, 500, 100, 1, 1700000000610, 1700000000610, 180, 0);
INSERT INTO schema_1.coordinates VALUES (1, 125, 124, 63, 1, 100, 0, 1700000000630, 1054, 124, 0);
INSERT INTO schema_1.coordinates VALUES (2, 62, 62, 63, 300, 100, 0, 1700000000630, 1000, 62, 0);
INSERT INTO schema_1.coordinates VALUES (3, 188, 186, 63, 500, 100, 1, 1700000000630, 1700000000630, 186, 0);
INSERT INTO schema_1.coordinates VALUES (1, 127, 126, 64, 1, 100, 0, 1700000000640, 1021, 126, 0);
INSERT INTO schema_1.coordinates VALUES (2, 63, 63, 64, 300, 100, 0, 1700000000640, 1000, 63, 0);
INSERT INTO schema_1.coordinates VALUES (3, 191, 189, 64, 500, 100, 1, 1700000000640, 1700000000640, 189, 0);
INSERT INTO schema_1.coordinates VALUES (1, 131, 130, 66, 1, 100, 0, 1700000000660, 1025, 130, 0);
INSERT INTO schema_1.coordinates VALUES (2, 65, 65, 66, 300, 100, 0, 1700000000660, 1000, 65, 0);
INSERT INTO schema_1.coordinates VALUES (3, 197, 195, 66, 500, 100, 1, 1700000000660, 1700000000660, 195, 0);
INSERT INTO schema_1.coordinates VALUES (1, 135, 134, 68, 1, 100, 0, 1700000000680, 1029, 134, 0);
INSERT INTO schema_1.coordinates VALUES (2, 67, 67, 68, 300, 100, 0, 1700000000680, 1000, 67, 0);
INSERT INTO schema_1.coordinates VALUES (3, 203, 201, 68, 500, 100, 1, 1700000000680, 1700000000680, 201, 0);
INSERT INTO schema_1.coordinates VALUES (4, 2147483652, 0, 71, 401, 300, 0, 1700000000710, 1000, 0, 0);
INSERT INTO schema_1.coordinates VALUES (4, 2147483653, 2147483653, 71, 701, 100, 1, 1700000000710, 1700000000710, 2147483653, 0);

INSERT INTO schema_1.counters VALUES ('next_producer_id', 1000);

INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (6, 'migrated/5', 0, 664, 300, 3, 1700000000060, NULL, 0, 1, 1, 5, '{0,0,0}', '{10,5,15}', '{-1,-1,1700000000060}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (7, 'migrated/6', 0, 664, 300, 3, 1700000000070, NULL, 0, 1, 1, 6, '{0,0,0}', '{12,6,18}', '{-1,-1,1700000000070}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (8, 'migrated/7', 0, 664, 300, 3, 1700000000080, NULL, 0, 1, 1, 7, '{0,0,0}', '{14,7,21}', '{-1,-1,1700000000080}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (9, 'migrated/8', 0, 664, 300, 3, 1700000000090, NULL, 0, 1, 1, 8, '{0,0,0}', '{16,8,24}', '{-1,-1,1700000000090}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (10, 'migrated/9', 0, 664, 300, 3, 1700000000100, NULL, 0, 1, 1, 9, '{0,0,0}', '{18,9,27}', '{-1,-1,1700000000100}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (11, 'migrated/10', 0, 664, 300, 3, 1700000000110, NULL, 0, 1, 1, 10, '{0,0,0}', '{20,10,30}', '{-1,-1,1700000000110}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (12, 'migrated/11', 0, 664, 300, 3, 1700000000120, NULL, 0, 1, 1, 11, '{0,0,0}', '{22,11,33}', '{-1,-1,1700000000120}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (13, 'migrated/12', 0, 664, 300, 3, 1700000000130, NULL, 0, 1, 1, 12, '{0,0,0}', '{24,12,36}', '{-1,-1,1700000000130}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (14, 'migrated/13', 0, 664, 300, 3, 1700000000140, NULL, 0, 1, 1, 13, '{0,0,0}', '{26,13,39}', '{-1,-1,1700000000140}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (15, 'migrated/14', 0, 664, 300, 3, 1700000000150, NULL, 0, 1, 1, 14, '{0,0,0}', '{28,14,42}', '{-1,-1,1700000000150}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (16, 'migrated/15', 0, 664, 300, 3, 1700000000160, NULL, 0, 1, 1, 15, '{0,0,0}', '{30,15,45}', '{-1,-1,1700000000160}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (17, 'migrated/16', 0, 664, 300, 3, 1700000000170, NULL, 0, 1, 1, 16, '{0,0,0}', '{32,16,48}', '{-1,-1,1700000000170}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (18, 'migrated/17', 0, 664, 300, 3, 1700000000180, NULL, 0, 1, 1, 17, '{0,0,0}', '{34,17,51}', '{-1,-1,1700000000180}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (19, 'migrated/18', 0, 664, 300, 3, 1700000000190, NULL, 0, 1, 1, 18, '{0,0,0}', '{36,18,54}', '{-1,-1,1700000000190}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (20, 'migrated/19', 0, 664, 300, 3, 1700000000200, NULL, 0, 1, 1, 19, '{0,0,0}', '{38,19,57}', '{-1,-1,1700000000200}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (21, 'migrated/20', 0, 664, 300, 3, 1700000000210, NULL, 0, 1, 1, 20, '{0,0,0}', '{40,20,60}', '{-1,-1,1700000000210}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (22, 'migrated/21', 0, 664, 300, 3, 1700000000220, NULL, 0, 1, 1, 21, '{0,0,0}', '{42,21,63}', '{-1,-1,1700000000220}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (23, 'migrated/22', 0, 664, 300, 3, 1700000000230, NULL, 0, 1, 1, 22, '{0,0,0}', '{44,22,66}', '{-1,-1,1700000000230}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (24, 'migrated/23', 0, 664, 300, 3, 1700000000240, NULL, 0, 1, 1, 23, '{0,0,0}', '{46,23,69}', '{-1,-1,1700000000240}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (25, 'migrated/24', 0, 664, 300, 3, 1700000000250, NULL, 0, 1, 1, 24, '{0,0,0}', '{48,24,72}', '{-1,-1,1700000000250}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (26, 'migrated/25', 0, 664, 300, 3, 1700000000260, NULL, 0, 1, 1, 25, '{0,0,0}', '{50,25,75}', '{-1,-1,1700000000260}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (27, 'migrated/26', 0, 664, 300, 3, 1700000000270, NULL, 0, 1, 1, 26, '{0,0,0}', '{52,26,78}', '{-1,-1,1700000000270}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (28, 'migrated/27', 0, 664, 300, 3, 1700000000280, NULL, 0, 1, 1, 27, '{0,0,0}', '{54,27,81}', '{-1,-1,1700000000280}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (30, 'migrated/29', 0, 664, 300, 3, 1700000000300, NULL, 0, 1, 1, 29, '{0,0,0}', '{58,29,87}', '{-1,-1,1700000000300}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (31, 'migrated/30', 0, 664, 300, 3, 1700000000310, NULL, 0, 1, 1, 30, '{0,0,0}', '{60,30,90}', '{-1,-1,1700000000310}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (33, 'migrated/32', 0, 664, 300, 3, 1700000000330, NULL, 0, 1, 1, 32, '{0,0,0}', '{64,32,96}', '{-1,-1,1700000000330}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (35, 'migrated/34', 0, 664, 300, 3, 1700000000350, NULL, 0, 1, 1, 34, '{0,0,0}', '{68,34,102}', '{-1,-1,1700000000350}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (37, 'migrated/36', 0, 664, 300, 3, 1700000000370, NULL, 0, 1, 1, 36, '{0,0,0}', '{72,36,108}', '{-1,-1,1700000000370}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (38, 'migrated/37', 0, 664, 300, 3, 1700000000380, NULL, 0, 1, 1, 37, '{0,0,0}', '{74,37,111}', '{-1,-1,1700000000380}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (40, 'migrated/39', 0, 664, 300, 3, 1700000000400, NULL, 0, 1, 1, 39, '{0,0,0}', '{78,39,117}', '{-1,-1,1700000000400}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (42, 'migrated/41', 0, 664, 300, 3, 1700000000420, NULL, 0, 1, 1, 41, '{0,0,0}', '{82,41,123}', '{-1,-1,1700000000420}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (43, 'migrated/42', 0, 664, 300, 3, 1700000000430, NULL, 0, 1, 1, 42, '{0,0,0}', '{84,42,126}', '{-1,-1,1700000000430}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (45, 'migrated/44', 0, 664, 300, 3, 1700000000450, NULL, 0, 1, 1, 44, '{0,0,0}', '{88,44,132}', '{-1,-1,1700000000450}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (47, 'migrated/46', 0, 664, 300, 3, 1700000000470, NULL, 0, 1, 1, 46, '{0,0,0}', '{92,46,138}', '{-1,-1,1700000000470}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (48, 'migrated/47', 0, 664, 300, 3, 1700000000480, NULL, 0, 1, 1, 47, '{0,0,0}', '{94,47,141}', '{-1,-1,1700000000480}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (50, 'migrated/49', 0, 664, 300, 3, 1700000000500, NULL, 0, 1, 1, 49, '{0,0,0}', '{98,49,147}', '{-1,-1,1700000000500}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (52, 'migrated/51', 0, 664, 300, 3, 1700000000520, NULL, 0, 1, 1, 51, '{0,0,0}', '{102,51,153}', '{-1,-1,1700000000520}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (54, 'migrated/53', 0, 664, 300, 3, 1700000000540, NULL, 0, 1, 1, 53, '{0,0,0}', '{106,53,159}', '{-1,-1,1700000000540}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (55, 'migrated/54', 0, 664, 300, 3, 1700000000550, NULL, 0, 1, 1, 54, '{0,0,0}', '{108,54,162}', '{-1,-1,1700000000550}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (56, 'migrated/55', 0, 664, 300, 3, 1700000000560, NULL, 0, 1, 1, 55, '{0,0,0}', '{110,55,165}', '{-1,-1,1700000000560}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (58, 'migrated/57', 0, 664, 300, 3, 1700000000580, NULL, 0, 1, 1, 57, '{0,0,0}', '{114,57,171}', '{-1,-1,1700000000580}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (60, 'migrated/59', 0, 664, 300, 3, 1700000000600, NULL, 0, 1, 1, 59, '{0,0,0}', '{118,59,177}', '{-1,-1,1700000000600}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (62, 'migrated/61', 0, 664, 300, 3, 1700000000620, NULL, 0, 1, 1, 61, '{0,0,0}', '{122,61,183}', '{-1,-1,1700000000620}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (29, 'migrated/28', 0, 664, 300, 3, 1700000000290, NULL, 0, 1, 1, 28, '{0,0,0}', '{56,28,84}', '{-1,-1,1700000000290}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (32, 'migrated/31', 0, 664, 300, 3, 1700000000320, NULL, 0, 1, 1, 31, '{0,0,0}', '{62,31,93}', '{-1,-1,1700000000320}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (34, 'migrated/33', 0, 664, 300, 3, 1700000000340, NULL, 0, 1, 1, 33, '{0,0,0}', '{66,33,99}', '{-1,-1,1700000000340}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (36, 'migrated/35', 0, 664, 300, 3, 1700000000360, NULL, 0, 1, 1, 35, '{0,0,0}', '{70,35,105}', '{-1,-1,1700000000360}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (39, 'migrated/38', 0, 664, 300, 3, 1700000000390, NULL, 0, 1, 1, 38, '{0,0,0}', '{76,38,114}', '{-1,-1,1700000000390}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (41, 'migrated/40', 0, 664, 300, 3, 1700000000410, NULL, 0, 1, 1, 40, '{0,0,0}', '{80,40,120}', '{-1,-1,1700000000410}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (44, 'migrated/43', 0, 664, 300, 3, 1700000000440, NULL, 0, 1, 1, 43, '{0,0,0}', '{86,43,129}', '{-1,-1,1700000000440}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (46, 'migrated/45', 0, 664, 300, 3, 1700000000460, NULL, 0, 1, 1, 45, '{0,0,0}', '{90,45,135}', '{-1,-1,1700000000460}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (49, 'migrated/48', 0, 664, 300, 3, 1700000000490, NULL, 0, 1, 1, 48, '{0,0,0}', '{96,48,144}', '{-1,-1,1700000000490}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (51, 'migrated/50', 0, 664, 300, 3, 1700000000510, NULL, 0, 1, 1, 50, '{0,0,0}', '{100,50,150}', '{-1,-1,1700000000510}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (53, 'migrated/52', 0, 664, 300, 3, 1700000000530, NULL, 0, 1, 1, 52, '{0,0,0}', '{104,52,156}', '{-1,-1,1700000000530}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (57, 'migrated/56', 0, 664, 300, 3, 1700000000570, NULL, 0, 1, 1, 56, '{0,0,0}', '{112,56,168}', '{-1,-1,1700000000570}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (59, 'migrated/58', 0, 664, 300, 3, 1700000000590, NULL, 0, 1, 1, 58, '{0,0,0}', '{116,58,174}', '{-1,-1,1700000000590}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (61, 'migrated/60', 0, 664, 300, 3, 1700000000610, NULL, 0, 1, 1, 60, '{0,0,0}', '{120,60,180}', '{-1,-1,1700000000610}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (63, 'migrated/62', 0, 664, 300, 3, 1700000000630, NULL, 0, 1, 1, 62, '{0,0,0}', '{124,62,186}', '{-1,-1,1700000000630}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (64, 'migrated/63', 0, 664, 300, 3, 1700000000640, NULL, 0, 1, 1, 63, '{0,0,0}', '{126,63,189}', '{-1,-1,1700000000640}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (66, 'migrated/65', 0, 664, 300, 3, 1700000000660, NULL, 0, 1, 1, 65, '{0,0,0}', '{130,65,195}', '{-1,-1,1700000000660}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (68, 'migrated/67', 0, 664, 300, 3, 1700000000680, NULL, 0, 1, 1, 67, '{0,0,0}', '{134,67,201}', '{-1,-1,1700000000680}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (71, 'migrated/70', 0, 865, 400, 2, 1700000000710, NULL, 0, 1, 1, 70, '{0,45,3,47,0,0,0,0}', '{138,-1,-1,-1,0,1073741824,2147483648,2147483653}', '{-1,-1,-1,-1,-1,-1,-1,1700000000710}', '{0,0,-1,0,0,0,0,0}', '{t,f,f,f,f,f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (1, 'migrated/0', 0, 664, 200, 2, 1700000000010, NULL, 0, 1, 1, 0, '{0,0,0}', '{0,0,0}', '{-1,-1,1700000000010}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (3, 'migrated/2', 0, 664, 200, 2, 1700000000030, NULL, 0, 1, 1, 2, '{0,0,0}', '{4,2,6}', '{-1,-1,1700000000030}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (5, 'migrated/4', 0, 664, 200, 2, 1700000000050, NULL, 0, 1, 1, 4, '{0,0,0}', '{8,4,12}', '{-1,-1,1700000000050}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (4, 'migrated/3', 0, 664, 200, 2, 1700000000040, NULL, 0, 1, 1, 3, '{0,0,0}', '{6,3,9}', '{-1,-1,1700000000040}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (65, 'migrated/64', 0, 664, 300, 3, 1700000000650, NULL, 0, 1, 1, 64, '{0,0,0}', '{128,64,192}', '{-1,-1,1700000000650}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (67, 'migrated/66', 0, 664, 300, 3, 1700000000670, NULL, 0, 1, 1, 66, '{0,0,0}', '{132,66,198}', '{-1,-1,1700000000670}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (69, 'migrated/68', 0, 664, 300, 3, 1700000000690, NULL, 0, 1, 1, 68, '{0,0,0}', '{136,68,204}', '{-1,-1,1700000000690}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (72, 'migrated/71', 2, 165, 0, 0, 1700000000720, NULL, 0, 1, 1, 71, '{0}', '{0}', '{-1}', '{0}', '{f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (70, 'migrated/69', 0, 664, 300, 3, 1700000000700, NULL, 0, 1, 1, 69, '{0,0,0}', '{138,69,207}', '{-1,-1,1700000000700}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (2, 'migrated/1', 0, 664, 200, 2, 1700000000020, NULL, 0, 1, 1, 1, '{0,0,0}', '{2,1,3}', '{-1,-1,1700000000020}', '{0,0,0}', '{f,f,f}');
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (73, 'migrated/given-up', 3, 0, 0, 0, 1700000000720, 1700000000720, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL);
INSERT INTO schema_1.files OVERRIDING SYSTEM VALUE VALUES (74, 'migrated/given-up-and-deleted', 3, 0, 0, 0, 1700000000720, NULL, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL);

INSERT INTO schema_1.group_offsets VALUES ('g', 'TWlncmF0aW9uVG9waWNBQQ', 0, 12, 0, 'm', 5);

INSERT INTO schema_1.groups VALUES ('g', 'consumer', 4, 'state');

INSERT INTO schema_1.logs OVERRIDING SYSTEM VALUE VALUES (2, 'TWlncmF0aW9uVG9waWNBQQ', 1, 0, 0, 70, 0, 1700000000700, 7000, 77, 1000, 1000, -1);
INSERT INTO schema_1.logs OVERRIDING SYSTEM VALUE VALUES (3, 'TWlncmF0aW9uVG9waWNCQg', 0, 0, 0, 210, 0, 1700000000700, 7000, 70, 1700000000700, 1700000000640, -1);
INSERT INTO schema_1.logs OVERRIDING SYSTEM VALUE VALUES (4, 'TWlncmF0aW9uVG9waWNCQg', 1, 0, 0, 2147483654, 0, 1700000000710, 400, 9, 1700000000710, -1, -1);
INSERT INTO schema_1.logs OVERRIDING SYSTEM VALUE VALUES (1, 'TWlncmF0aW9uVG9waWNBQQ', 0, 0, 11, 140, 0, 1700000000700, 6500, 70, 1066, 1069, -1);

INSERT INTO schema_1.producers VALUES (2, 100, 0, 8, 1700000000640, false, '{3,3,27,2000,4,4,36,2000,5,5,45,2000,6,6,54,2000,7,7,63,2000}');
INSERT INTO schema_1.producers VALUES (2, 105, 0, 8, 1700000000690, false, '{3,3,32,2000,4,4,41,2000,5,5,50,2000,6,6,59,2000,7,7,68,2000}');
INSERT INTO schema_1.producers VALUES (1, 7, 1, 140, 1700000000700, false, '{130,131,130,2050,132,133,132,2124,134,135,134,2058,136,137,136,2132,138,139,138,2066}');
INSERT INTO schema_1.producers VALUES (2, 101, 0, 8, 1700000000650, false, '{3,3,28,2000,4,4,37,2000,5,5,46,2000,6,6,55,2000,7,7,64,2000}');
INSERT INTO schema_1.producers VALUES (2, 106, 0, 8, 1700000000700, false, '{3,3,33,2000,4,4,42,2000,5,5,51,2000,6,6,60,2000,7,7,69,2000}');
INSERT INTO schema_1.producers VALUES (4, 9, 4, 1, 1700000000710, false, '{0,0,2147483653,3400000001421}');
INSERT INTO schema_1.producers VALUES (2, 102, 0, 8, 1700000000660, false, '{3,3,29,2000,4,4,38,2000,5,5,47,2000,6,6,56,2000,7,7,65,2000}');
INSERT INTO schema_1.producers VALUES (4, 8, 0, 5, 1700000000710, true, '{0,1073741823,0,2000,1073741824,2147483647,1073741824,2000,0,4,2147483648,2000}');
INSERT INTO schema_1.producers VALUES (2, 107, 0, 7, 1700000000620, false, '{2,2,25,2000,3,3,34,2000,4,4,43,2000,5,5,52,2000,6,6,61,2000}');
INSERT INTO schema_1.producers VALUES (2, 103, 0, 8, 1700000000670, false, '{3,3,30,2000,4,4,39,2000,5,5,48,2000,6,6,57,2000,7,7,66,2000}');
INSERT INTO schema_1.producers VALUES (2, 108, 0, 7, 1700000000630, false, '{2,2,26,2000,3,3,35,2000,4,4,44,2000,5,5,53,2000,6,6,62,2000}');
INSERT INTO schema_1.producers VALUES (2, 104, 0, 8, 1700000000680, false, '{3,3,31,2000,4,4,40,2000,5,5,49,2000,6,6,58,2000,7,7,67,2000}');

INSERT INTO schema_1.schema_version VALUES (1);

INSERT INTO schema_1.time_index VALUES (2, 1, 56, 1000);
INSERT INTO schema_1.time_index VALUES (1, 1, 127, 1069);
INSERT INTO schema_1.time_index VALUES (3, 1, 191, 1700000000640);

INSERT INTO schema_1.topics VALUES ('TWlncmF0aW9uVG9waWNBQQ', 'topic-0', 2, '{"retention.ms": "-1"}');
INSERT INTO schema_1.topics VALUES ('TWlncmF0aW9uVG9waWNCQg', 'topic-1', 2, '{"retention.ms": "-1"}');

INSERT INTO schema_1.uploaders VALUES (3, 1);

SELECT pg_catalog.setval('schema_1.changes_change_number_seq', 75, true);

SELECT pg_catalog.setval('schema_1.files_file_id_seq', 74, true);

SELECT pg_catalog.setval('schema_1.logs_log_id_seq', 6, true);

ALTER TABLE ONLY schema_1.changes
    ADD CONSTRAINT changes_pkey PRIMARY KEY (change_number);

ALTER TABLE ONLY schema_1.configs
    ADD CONSTRAINT configs_pkey PRIMARY KEY (scope);

ALTER TABLE ONLY schema_1.coordinates
    ADD CONSTRAINT coordinates_pkey PRIMARY KEY (log_id, last_offset);

ALTER TABLE ONLY schema_1.counters
    ADD CONSTRAINT counters_pkey PRIMARY KEY (name);

ALTER TABLE ONLY schema_1.files
    ADD CONSTRAINT files_object_key_key UNIQUE (object_key);

ALTER TABLE ONLY schema_1.files
    ADD CONSTRAINT files_pkey PRIMARY KEY (file_id);

ALTER TABLE ONLY schema_1.group_offsets
    ADD CONSTRAINT group_offsets_pkey PRIMARY KEY (group_id, topic_id, partition);

ALTER TABLE ONLY schema_1.groups
    ADD CONSTRAINT groups_pkey PRIMARY KEY (group_id);

ALTER TABLE ONLY schema_1.logs
    ADD CONSTRAINT logs_pkey PRIMARY KEY (log_id);

ALTER TABLE ONLY schema_1.logs
    ADD CONSTRAINT logs_topic_id_partition_key UNIQUE (topic_id, partition);

ALTER TABLE ONLY schema_1.producers
    ADD CONSTRAINT producers_pkey PRIMARY KEY (log_id, producer_id);

ALTER TABLE ONLY schema_1.share_states
    ADD CONSTRAINT share_states_pkey PRIMARY KEY (group_id, topic_id, partition);

ALTER TABLE ONLY schema_1.time_index
    ADD CONSTRAINT time_index_pkey PRIMARY KEY (log_id, level, last_offset);

ALTER TABLE ONLY schema_1.topics
    ADD CONSTRAINT topics_name_key UNIQUE (name);

ALTER TABLE ONLY schema_1.topics
    ADD CONSTRAINT topics_pkey PRIMARY KEY (topic_id);

ALTER TABLE ONLY schema_1.uploaders
    ADD CONSTRAINT uploaders_pkey PRIMARY KEY (node_id);

CREATE INDEX changes_by_xid ON schema_1.changes USING btree (xid);

CREATE INDEX files_to_delete ON schema_1.files USING btree (useless_since_ms, file_id) WHERE (useless_since_ms IS NOT NULL);

CREATE INDEX group_offsets_by_topic ON schema_1.group_offsets USING btree (topic_id);

CREATE INDEX logs_to_trim ON schema_1.logs USING btree ("trim" DESC, log_id) WHERE ("trim" > 0);

CREATE INDEX share_states_by_topic ON schema_1.share_states USING btree (topic_id);

