/**
 * commitFile inside the database, so that a commit is one round trip: the rules of `assign-offsets.ts` and
 * `producer-state.ts` over arrays. What is read and written is read and written set by set; only the judging of batches
 * is a loop. The contract suite and the random histories hold it to the in-memory reference.
 *
 * Locks: the object key (so that a commit, its repetition and its abandonment come one after the other), then the logs in
 * the order of their ids (so that no two commits wait for each other). The clock is read after that.
 */
export const COMMIT_FUNCTION = `
CREATE FUNCTION lock_key(p_key text) RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock(hashtextextended(p_key, 0));
$$;

CREATE FUNCTION next_sequence(p_sequence int, p_increment bigint) RETURNS int IMMUTABLE LANGUAGE sql AS $$
  SELECT ((p_sequence::bigint + p_increment) % 2147483648)::int;
$$;

CREATE FUNCTION previous_sequence(p_sequence int) RETURNS bigint IMMUTABLE LANGUAGE sql AS $$
  SELECT (p_sequence::bigint + 2147483647) % 2147483648;
$$;

CREATE FUNCTION clock_ms() RETURNS bigint VOLATILE LANGUAGE sql AS $$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
$$;

-- l_*: the file's partitions, b_*: its batches, c_*: its pairs of partition and producer, k_*: the new coordinates.
CREATE FUNCTION commit_file(
  p_key text, p_format int, p_size bigint, p_uploader_id bigint, p_uploader_epoch bigint, p_segment_sequence bigint,
  p_now bigint, p_max_coordinate bigint, p_expiration bigint, p_origin text,
  l_topic text[], l_partition int[],
  c_log int[], c_producer bigint[],
  b_log int[], b_chain int[], b_position bigint[], b_size int[], b_delta int[], b_timestamp bigint[],
  b_timestamp_delta int[], b_type int[], b_epoch int[], b_sequence int[]
) RETURNS TABLE (
  status text, o_errors int[], o_base bigint[], o_append bigint[], o_start bigint[], o_duplicate boolean[], o_change bigint
) LANGUAGE plpgsql AS $fn$
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
$fn$;

CREATE FUNCTION abandon_file(p_key text, p_now bigint) RETURNS TABLE (
  status text, o_errors int[], o_base bigint[], o_append bigint[], o_start bigint[], o_duplicate boolean[]
) LANGUAGE plpgsql AS $fn$
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
$fn$;
`;
