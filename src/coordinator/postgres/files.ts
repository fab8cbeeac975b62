/** The life of objects over PostgreSQL, apart from their commit. */
import { CoordinatorError, type FileDescription, type FileState } from '../diskless-coordinator.ts';
import type { Connections } from './connections.ts';

/** As stored in `files.state`. */
const STATES: readonly FileState[] = ['uploaded', 'deleting', 'deleted', 'abandoned'];

export async function filesToDelete(
  connections: Connections,
  nowMs: number | undefined,
  { graceMs, limit }: { readonly graceMs: number; readonly limit: number },
): Promise<string[]> {
  const rows = await connections.query({
    name: 'files_to_delete',
    text: `SELECT object_key FROM files WHERE useless_since_ms <= coalesce($1::bigint, clock_ms()) - $2::bigint
      ORDER BY useless_since_ms, file_id LIMIT $3`,
    values: [nowMs ?? null, graceMs, limit],
  });
  return rows.map((row) => row.object_key as string);
}

export async function deleteFiles(
  connections: Connections,
  nowMs: number | undefined,
  objectKeys: readonly string[],
): Promise<void> {
  await connections.transaction(async (client) => {
    const { rows } = await client.query(
      'SELECT object_key, state FROM files WHERE object_key = ANY ($1) ORDER BY file_id FOR UPDATE',
      [objectKeys],
    );
    const referenced = rows.find((row) => row.state === 0);
    if (referenced) {
      throw new CoordinatorError('invalid', `object ${referenced.object_key} is referenced by coordinates`);
    }
    await client.query(
      `UPDATE files SET useless_since_ms = NULL, deleted_ms = coalesce($2::bigint, clock_ms()),
         state = CASE state WHEN 1 THEN 2 ELSE state END WHERE object_key = ANY ($1)`,
      [objectKeys, nowMs ?? null],
    );
  });
}

export async function forgetFiles(
  connections: Connections,
  nowMs: number | undefined,
  { olderThanMs, limit }: { readonly olderThanMs: number; readonly limit: number },
): Promise<number> {
  const rows = await connections.query({
    name: 'forget_files',
    text: `DELETE FROM files WHERE file_id IN (
        SELECT file_id FROM files WHERE deleted_ms <= coalesce($1::bigint, clock_ms()) - $2::bigint
        ORDER BY deleted_ms LIMIT $3 FOR UPDATE SKIP LOCKED
      ) RETURNING 1`,
    values: [nowMs ?? null, olderThanMs, limit],
  });
  return rows.length;
}

export async function describeFiles(
  connections: Connections,
  objectKeys: readonly string[],
): Promise<(FileDescription | undefined)[]> {
  const rows = await connections.query({
    name: 'describe_files',
    text: 'SELECT object_key, state, size, live_bytes, since_ms FROM files WHERE object_key = ANY ($1)',
    values: [objectKeys],
  });
  const found = new Map(
    rows.map((row): [string, FileDescription] => {
      const objectKey = row.object_key as string;
      const [sizeBytes, liveBytes, sinceMs] = [Number(row.size), Number(row.live_bytes), Number(row.since_ms)];
      return [objectKey, { objectKey, state: STATES[row.state as number]!, sizeBytes, liveBytes, sinceMs }];
    }),
  );
  return objectKeys.map((key) => found.get(key));
}
