/**
 * commitFile inside the database, so that a commit is one round trip. The caller has worked out what the commit comes to
 * if every batch is accepted (`commit-plan.ts`), with offsets counted from each log's end. Whether all are accepted is
 * then one statement: each producer's row is where its first batch expects it. Only where that fails (a duplicate, a gap, a
 * new epoch, a missing partition) are the batches judged one by one, by the rules of `assign-offsets.ts` and
 * `producer-state.ts`. The contract suite and the random histories hold both ways to the in-memory reference.
 *
 * Arrays are unnested side by side in a SELECT list, which is cheaper than in FROM: there each is written to a store first.
 *
 * Locks: the object key (so that a commit, its repetition and its abandonment come one after the other), then the logs in
 * the order of their ids (so that no two commits wait for each other). The clock is read after that. Producer rows are
 * written only by who holds their log.
 */
import { HUGE_BATCH, MAX_STAMPED } from './commit-plan.ts';

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

-- l_*: the file's partitions, k_*: its coordinates, c_*: its pairs of partition and producer with their first and last
-- sequence, m_*: the last batches of those pairs that have several. Offsets (l_span, k_base, k_last, k_max_offset,
-- c_offset, m_offset) are counted from the log's end; a null stamp stands for the append time. p_plain: the batches of each
-- pair follow one another. p_layout: which offset each batch has then. p_batches: the batches themselves, columns as
-- text that are read only to judge them one by one.
CREATE FUNCTION commit_file(
  p_key text, p_format int, p_size bigint, p_uploader_id bigint, p_uploader_epoch bigint, p_segment_sequence bigint,
  p_created bigint, p_max_age bigint, p_now bigint, p_max_coordinate bigint, p_expiration bigint, p_origin text,
  l_topic text[], l_partition int[], l_span bigint[], l_count int[], l_size bigint[], l_max bigint[], l_appends int[],
  k_log int[], k_position bigint[], k_size int[], k_base bigint[], k_last bigint[], k_type int[], k_max bigint[],
  k_max_offset bigint[],
  c_log int[], c_producer bigint[], c_epoch int[], c_first int[], c_last int[], c_offset bigint[], c_stamp bigint[], c_count int[],
  m_chain int[], m_first int[], m_last int[], m_offset bigint[], m_stamp bigint[],
  p_plain boolean, p_batch_count int, p_layout bytea, p_batches text
) RETURNS TABLE (
  status text, o_errors int[], o_base bigint[], o_append bigint[], o_start bigint[], o_duplicate boolean[], o_layout bytea,
  o_change bigint
) LANGUAGE plpgsql AS $fn$
DECLARE
  n constant int := p_batch_count;
  logs_n constant int := cardinality(l_topic);
  chains_n constant int := cardinality(c_log);
  v_plain boolean := p_plain;
  v_file files%ROWTYPE;
  v_file_id bigint;
  v_now bigint;
  v_done int := 0;
  v_columns text[];
  v_rows int;
  r record;
  l int; c int; k int := 0; last_k int;
  v_base bigint; v_last bigint; v_max bigint; v_max_offset bigint;
  l_id bigint[]; l_start bigint[]; l_end bigint[]; l_epoch int[]; l_append bigint[]; l_coordinates bigint[];
  l_max_1 bigint[]; l_max_2 bigint[]; l_max_3 bigint[];
  -- Of a log with a run of coordinates that ends here: what remains open.
  l_ended boolean[];
  l_last_k int[];
  b_log int[]; b_chain int[]; b_position bigint[]; b_size int[]; b_delta int[]; b_timestamp bigint[];
  b_timestamp_delta int[]; b_type int[]; b_epoch int[]; b_sequence int[];
  -- What is known of each pair's producer; a null epoch: nothing.
  s_epoch int[]; s_next int[]; s_id bigint[];
  -- Five batches of fewer sequences cannot go once around; with more, the next sequence may also be a duplicate's.
  huge_batch constant int := ${HUGE_BATCH};
  s_huge boolean[];
  -- Whether the stored batches are still of the producer's epoch; whether a batch of it was accepted.
  s_kept boolean[];
  s_new boolean[];
  errors int[]; base bigint[]; appended bigint[]; starts bigint[]; duplicate boolean[]; accepted boolean[];
  t_log bigint[] := '{}'; t_level int[] := '{}'; t_last bigint[] := '{}'; t_max bigint[] := '{}';
BEGIN
  PERFORM lock_key(p_key);
  SELECT * INTO v_file FROM files WHERE object_key = p_key;
  IF FOUND THEN
    IF v_file.state = 3 THEN
      status := 'abandoned';
    ELSIF v_file.size <> p_size OR v_file.uploader_id <> p_uploader_id OR v_file.uploader_epoch <> p_uploader_epoch
      OR v_file.segment_sequence <> p_segment_sequence OR coalesce(v_file.batches, cardinality(v_file.errors)) <> n THEN
      status := 'invalid';
    ELSE
      status := 'repeated';
      o_errors := v_file.errors; o_base := v_file.base_offsets; o_append := v_file.append_times;
      o_start := v_file.log_starts; o_duplicate := v_file.duplicates; o_layout := v_file.layout;
    END IF;
    RETURN NEXT;
    RETURN;
  END IF;

  IF coalesce(p_now, clock_ms()) - p_created >= p_max_age THEN
    status := 'too-old';
    RETURN NEXT;
    RETURN;
  END IF;

  SELECT array_agg(x.log_id), array_agg(x.log_start_offset), array_agg(x.high_watermark), array_agg(x.leader_epoch),
    array_agg(x.last_append_time_ms), array_agg(x.coordinates), array_agg(x.open_max_1), array_agg(x.open_max_2),
    array_agg(x.open_max_3)
  INTO l_id, l_start, l_end, l_epoch, l_append, l_coordinates, l_max_1, l_max_2, l_max_3
  FROM (
    SELECT p.ix, locked.* FROM generate_series(1, logs_n) p (ix) LEFT JOIN (
      SELECT p.ix AS at, g.* FROM unnest(l_topic, l_partition) WITH ORDINALITY p (topic_id, partition, ix)
      JOIN logs g ON g.topic_id = p.topic_id AND g.partition = p.partition ORDER BY g.log_id FOR UPDATE OF g
    ) locked ON locked.at = p.ix ORDER BY p.ix
  ) x;
  v_now := coalesce(p_now, clock_ms());
  FOR l IN 1..logs_n LOOP
    IF l_append[l] < v_now THEN l_append[l] := v_now; END IF;
    IF l_id[l] IS NULL THEN v_plain := false; END IF;
  END LOOP;

  IF v_plain AND chains_n > 0 THEN
    BEGIN
      -- A window keeps the last four of what was there, then the new one.
      UPDATE producers p SET next_sequence = next_sequence(x.last, 1), last_append_time_ms = l_append[x.log],
        batches = p.batches[cardinality(p.batches) - 15:]
          || ARRAY[x.first, x.last, l_end[x.log] + x.at, coalesce(x.stamp, l_append[x.log] * 2 + 1)]
      FROM (
        SELECT unnest(c_log) AS log, unnest(c_producer) AS producer_id, unnest(c_epoch) AS epoch, unnest(c_first) AS first,
          unnest(c_last) AS last, unnest(c_offset) AS at, unnest(c_stamp) AS stamp, unnest(c_count) AS count
      ) x
      WHERE x.count = 1 AND p.log_id = l_id[x.log] AND p.producer_id = x.producer_id AND p.producer_epoch = x.epoch
        AND p.next_sequence = x.first AND v_now - p.last_append_time_ms < p_expiration AND NOT p.huge;
      GET DIAGNOSTICS v_done = ROW_COUNT;
      IF cardinality(m_chain) > 0 THEN
        UPDATE producers p SET next_sequence = next_sequence(x.last, 1), last_append_time_ms = l_append[x.log],
          batches = (p.batches || x.batches)[greatest(1, cardinality(p.batches) + cardinality(x.batches) - 19):]
        FROM (
          SELECT c_log[m.chain] AS log, c_producer[m.chain] AS producer_id, c_epoch[m.chain] AS epoch,
            c_first[m.chain] AS first, c_last[m.chain] AS last, m.batches
          FROM recent_batches(c_log, l_end, l_append, m_chain, m_first, m_last, m_offset, m_stamp) m
        ) x
        WHERE p.log_id = l_id[x.log] AND p.producer_id = x.producer_id AND p.producer_epoch = x.epoch
          AND p.next_sequence = x.first AND v_now - p.last_append_time_ms < p_expiration AND NOT p.huge;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        v_done := v_done + v_rows;
      END IF;
      IF v_done < chains_n THEN
        -- The others are accepted if nothing is known of them; what was updated above is passed over.
        INSERT INTO producers SELECT l_id[x.log], x.producer_id, x.epoch, next_sequence(x.last, 1), l_append[x.log], false,
          coalesce(m.batches, ARRAY[x.first, x.last, l_end[x.log] + x.at, coalesce(x.stamp, l_append[x.log] * 2 + 1)])
        FROM unnest(c_log, c_producer, c_epoch, c_first, c_last, c_offset, c_stamp) WITH ORDINALITY
          AS x (log, producer_id, epoch, first, last, at, stamp, ix)
        LEFT JOIN recent_batches(c_log, l_end, l_append, m_chain, m_first, m_last, m_offset, m_stamp) m ON m.chain = x.ix
        ON CONFLICT DO NOTHING;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        v_done := v_done + v_rows;
      END IF;
      IF v_done < chains_n THEN RAISE EXCEPTION USING ERRCODE = 'SHOAL'; END IF;
    EXCEPTION WHEN SQLSTATE 'SHOAL' THEN
      v_plain := false;
    END;
  END IF;

  IF v_plain THEN
    base := l_end; appended := l_append; starts := l_start;
  ELSE
    v_columns := string_to_array(p_batches, ' ');
    b_log := v_columns[1]; b_chain := v_columns[2]; b_position := v_columns[3]; b_size := v_columns[4];
    b_delta := v_columns[5]; b_timestamp := v_columns[6]; b_timestamp_delta := v_columns[7]; b_type := v_columns[8];
    b_epoch := v_columns[9]; b_sequence := v_columns[10];
    errors := array_fill(0, ARRAY[n]); base := array_fill(-1::bigint, ARRAY[n]);
    appended := array_fill(-1::bigint, ARRAY[n]); starts := array_fill(-1::bigint, ARRAY[n]);
    duplicate := array_fill(false, ARRAY[n]); accepted := duplicate;
    l_span := array_fill(0::bigint, ARRAY[logs_n]); l_size := l_span; l_count := array_fill(0, ARRAY[logs_n]);
    l_max := array_fill(-1::bigint, ARRAY[logs_n]); l_last_k := l_count; l_appends := l_count;
    k_log := '{}'; k_position := '{}'; k_size := '{}'; k_base := '{}'; k_last := '{}'; k_type := '{}'; k_max := '{}';
    k_max_offset := '{}';
    IF chains_n > 0 THEN
      s_new := array_fill(false, ARRAY[chains_n]);
      SELECT array_agg(l_id[x.log]), array_agg(x.kept), array_agg(CASE WHEN x.kept THEN x.producer_epoch END),
        array_agg(coalesce(x.next_sequence, 0)), array_agg(x.kept AND x.huge)
      INTO s_id, s_kept, s_epoch, s_next, s_huge
      FROM (
        SELECT y.log, coalesce(v_now - p.last_append_time_ms < p_expiration, false) AS kept, p.producer_epoch,
          p.next_sequence, p.huge
        FROM unnest(c_log, c_producer) WITH ORDINALITY y (log, producer_id, ix)
        LEFT JOIN producers p ON p.log_id = l_id[y.log] AND p.producer_id = y.producer_id ORDER BY y.ix
      ) x;
    END IF;
  END IF;

  FOR i IN 1..CASE WHEN v_plain THEN 0 ELSE n END LOOP
    l := b_log[i];
    IF l_id[l] IS NULL THEN
      errors[i] := 3;
      CONTINUE;
    END IF;
    starts[i] := l_start[l];
    c := b_chain[i];
    IF c > 0 THEN
      IF s_epoch[c] IS NOT NULL THEN
        IF b_epoch[i] < s_epoch[c] THEN
          errors[i] := 47;
          CONTINUE;
        ELSIF b_epoch[i] > s_epoch[c] THEN
          IF b_sequence[i] <> 0 THEN
            errors[i] := 45;
            CONTINUE;
          END IF;
        ELSIF b_sequence[i] <> s_next[c] OR s_huge[c] THEN
          -- A duplicate of one of the last five, or out of order unless it is the next one.
          SELECT d.first_offset, d.timestamp, d.timestamp_type INTO r FROM (
            SELECT * FROM (
              SELECT p.batches[w] AS first_sequence, p.batches[w + 1] AS last_sequence, p.batches[w + 2] AS first_offset,
                p.batches[w + 3] >> 1 AS timestamp, p.batches[w + 3] & 1 AS timestamp_type
              FROM producers p, generate_series(1, cardinality(p.batches), 4) w
              WHERE s_kept[c] AND p.log_id = s_id[c] AND p.producer_id = c_producer[c]
              UNION ALL
              SELECT b_sequence[j], next_sequence(b_sequence[j], b_delta[j]), base[j],
                CASE b_type[j] WHEN 1 THEN l_append[l] ELSE b_timestamp[j] END, b_type[j]
              FROM generate_series(1, i - 1) j WHERE b_chain[j] = c AND accepted[j] AND b_epoch[j] = s_epoch[c]
            ) known ORDER BY first_offset DESC LIMIT 5
          ) d WHERE d.first_sequence = b_sequence[i] AND d.last_sequence = next_sequence(b_sequence[i], b_delta[i]) LIMIT 1;
          IF FOUND THEN
            base[i] := r.first_offset;
            duplicate[i] := true;
            IF r.timestamp_type = 1 THEN appended[i] := r.timestamp; END IF;
            CONTINUE;
          END IF;
          IF b_sequence[i] <> s_next[c] THEN
            errors[i] := 45;
            CONTINUE;
          END IF;
        END IF;
      END IF;
      IF s_epoch[c] IS DISTINCT FROM b_epoch[i] THEN
        s_epoch[c] := b_epoch[i];
        s_kept[c] := false;
      END IF;
      s_new[c] := true;
      IF b_delta[i] >= huge_batch THEN s_huge[c] := true; END IF;
      s_next[c] := next_sequence(b_sequence[i], b_delta[i]::bigint + 1);
    END IF;
    accepted[i] := true;
    v_base := l_span[l];
    v_last := v_base + b_delta[i];
    base[i] := l_end[l] + v_base;
    l_span[l] := v_last + 1;
    IF b_type[i] = 1 THEN
      appended[i] := l_append[l];
      l_appends[l] := 1;
      v_max := l_append[l];
      v_max_offset := v_base;
    ELSE
      v_max := b_timestamp[i];
      v_max_offset := v_base + b_timestamp_delta[i];
      IF v_max > l_max[l] THEN l_max[l] := v_max; END IF;
    END IF;
    l_size[l] := l_size[l] + b_size[i];
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
      l_count[l] := l_count[l] + 1;
      k_log[k] := l; k_position[k] := b_position[i]; k_size[k] := b_size[i]; k_base[k] := v_base; k_last[k] := v_last;
      k_type[k] := b_type[i]; k_max[k] := v_max; k_max_offset[k] := v_max_offset;
    END IF;
  END LOOP;

  IF NOT v_plain AND chains_n > 0 AND true = ANY (s_new) THEN
    -- The window of each producer with accepted batches: the last five of what is kept and what is new.
    INSERT INTO producers AS p SELECT s_id[a.chain], c_producer[a.chain], s_epoch[a.chain], s_next[a.chain],
      l_append[c_log[a.chain]], s_huge[a.chain],
      (kept.batches || a.batches)[greatest(1, coalesce(cardinality(kept.batches), 0) + cardinality(a.batches) - 19):]
    FROM (
      SELECT x.chain, array_agg(v.value ORDER BY x.ix, v.field) AS batches
      FROM unnest(b_chain, b_log, b_epoch, b_sequence, b_delta, base, b_timestamp, b_type, accepted) WITH ORDINALITY
        AS x (chain, log, epoch, sequence, delta, base, stamp, type, accepted, ix),
      LATERAL (VALUES (1, x.sequence::bigint), (2, next_sequence(x.sequence, x.delta)::bigint), (3, x.base),
        (4, CASE x.type WHEN 1 THEN l_append[x.log] * 2 + 1 ELSE least(x.stamp, ${MAX_STAMPED}) * 2 END)) AS v (field, value)
      WHERE x.chain > 0 AND x.accepted AND x.epoch = s_epoch[x.chain] GROUP BY x.chain
    ) a
    LEFT JOIN producers kept ON s_kept[a.chain] AND kept.log_id = s_id[a.chain] AND kept.producer_id = c_producer[a.chain]
    ON CONFLICT (log_id, producer_id) DO UPDATE SET producer_epoch = excluded.producer_epoch,
      next_sequence = excluded.next_sequence, last_append_time_ms = excluded.last_append_time_ms, huge = excluded.huge,
      batches = excluded.batches;
  END IF;

  k := cardinality(k_log);
  INSERT INTO files (object_key, state, size, live_bytes, live_coordinates, since_ms, useless_since_ms, format_version,
    uploader_id, uploader_epoch, segment_sequence, errors, base_offsets, append_times, log_starts, duplicates, batches, layout)
  VALUES (p_key, CASE WHEN k > 0 THEN 0 ELSE 1 END, p_size, (SELECT coalesce(sum(x), 0) FROM unnest(l_size) x), k, v_now,
    CASE WHEN k > 0 THEN NULL ELSE v_now END, p_format, p_uploader_id, p_uploader_epoch, p_segment_sequence, errors, base,
    appended, starts, duplicate, n, CASE WHEN v_plain THEN p_layout END)
  RETURNING file_id INTO v_file_id;
  status := CASE WHEN v_plain THEN 'plain' ELSE 'committed' END;
  o_errors := errors; o_base := base; o_append := appended; o_start := starts; o_duplicate := duplicate;
  IF k = 0 THEN
    RETURN NEXT;
    RETURN;
  END IF;

  INSERT INTO coordinates SELECT l_id[x.log], l_end[x.log] + x.last, l_end[x.log] + x.base, v_file_id, x.position, x.size,
    x.type, l_append[x.log], CASE x.type WHEN 1 THEN l_append[x.log] ELSE x.max END, l_end[x.log] + x.max_offset,
    l_epoch[x.log]
  FROM (
    SELECT unnest(k_log) AS log, unnest(k_last) AS last, unnest(k_base) AS base, unnest(k_position) AS position,
      unnest(k_size) AS size, unnest(k_type) AS type, unnest(k_max) AS max, unnest(k_max_offset) AS max_offset
  ) x;

  SELECT array_agg(x.coordinates % 64 + x.count >= 64) INTO l_ended FROM unnest(l_coordinates, l_count) AS x (coordinates, count);
  FOR r IN
    SELECT x.log, l_end[x.log] + x.last AS last, CASE x.type WHEN 1 THEN l_append[x.log] ELSE x.max END AS max
    FROM unnest(k_log, k_last, k_type, k_max) WITH ORDINALITY AS x (log, last, type, max, ix) WHERE l_ended[x.log] ORDER BY x.ix
  LOOP
    l := r.log;
    l_coordinates[l] := l_coordinates[l] + 1;
    IF r.max > l_max_1[l] THEN l_max_1[l] := r.max; END IF;
    CONTINUE WHEN l_coordinates[l] % 64 <> 0;
    t_log := t_log || l_id[l]; t_level := t_level || 1; t_last := t_last || r.last; t_max := t_max || l_max_1[l];
    IF l_max_1[l] > l_max_2[l] THEN l_max_2[l] := l_max_1[l]; END IF;
    l_max_1[l] := -1;
    CONTINUE WHEN l_coordinates[l] % 4096 <> 0;
    t_log := t_log || l_id[l]; t_level := t_level || 2; t_last := t_last || r.last; t_max := t_max || l_max_2[l];
    IF l_max_2[l] > l_max_3[l] THEN l_max_3[l] := l_max_2[l]; END IF;
    l_max_2[l] := -1;
    CONTINUE WHEN l_coordinates[l] % 262144 <> 0;
    t_log := t_log || l_id[l]; t_level := t_level || 3; t_last := t_last || r.last; t_max := t_max || l_max_3[l];
    l_max_3[l] := -1;
  END LOOP;
  IF cardinality(t_log) > 0 THEN
    INSERT INTO time_index SELECT * FROM unnest(t_log, t_level, t_last, t_max);
  END IF;
  UPDATE logs g SET high_watermark = g.high_watermark + x.span, last_append_time_ms = x.append, bytes = g.bytes + x.size,
    coordinates = g.coordinates + x.count,
    open_max_1 = CASE WHEN x.ended THEN x.max_1 ELSE greatest(g.open_max_1, x.max, CASE x.appends WHEN 1 THEN x.append END) END,
    open_max_2 = x.max_2, open_max_3 = x.max_3
  FROM (
    SELECT unnest(l_id) AS id, unnest(l_span) AS span, unnest(l_append) AS append, unnest(l_size) AS size,
      unnest(l_count) AS count, unnest(l_max) AS max, unnest(l_appends) AS appends, unnest(l_ended) AS ended,
      unnest(l_max_1) AS max_1, unnest(l_max_2) AS max_2, unnest(l_max_3) AS max_3
  ) x
  WHERE x.count > 0 AND g.log_id = x.id;
  INSERT INTO changes (origin, kind, topic_ids, partitions, offsets)
  SELECT p_origin, 'commit', array_agg(x.topic), array_agg(x.partition), array_agg(x.log_end + x.span)
  FROM (
    SELECT unnest(l_topic) AS topic, unnest(l_partition) AS partition, unnest(l_end) AS log_end, unnest(l_span) AS span,
      unnest(l_count) AS count
  ) x WHERE x.count > 0
  RETURNING change_number INTO o_change;
  RETURN NEXT;
END
$fn$;

-- The m_* of commit_file as they are stored: a window for each pair.
CREATE FUNCTION recent_batches(
  c_log int[], l_end bigint[], l_append bigint[], m_chain int[], m_first int[], m_last int[], m_offset bigint[], m_stamp bigint[]
) RETURNS TABLE (chain int, batches bigint[]) STABLE LANGUAGE sql AS $$
  SELECT x.chain, array_agg(v.value ORDER BY x.ix, v.field)
  FROM unnest(m_chain, m_first, m_last, m_offset, m_stamp) WITH ORDINALITY AS x (chain, first, last, at, stamp, ix),
  LATERAL (VALUES (1, x.first::bigint), (2, x.last::bigint), (3, l_end[c_log[x.chain]] + x.at),
    (4, coalesce(x.stamp, l_append[c_log[x.chain]] * 2 + 1))) AS v (field, value)
  GROUP BY x.chain;
$$;

CREATE FUNCTION abandon_file(p_key text, p_now bigint) RETURNS TABLE (
  status text, o_errors int[], o_base bigint[], o_append bigint[], o_start bigint[], o_duplicate boolean[], o_layout bytea
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
    o_start := v_file.log_starts; o_duplicate := v_file.duplicates; o_layout := v_file.layout;
  END IF;
  RETURN NEXT;
END
$fn$;
`;
