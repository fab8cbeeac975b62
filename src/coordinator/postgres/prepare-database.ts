/** What is checked and made once, before a coordinator uses a database. */
import type { Uuid } from '../../common/uuid.ts';
import { CoordinatorError } from '../diskless-coordinator.ts';
import type { Connections, Queryable } from './connections.ts';
import { type MigrationOptions, migrate } from './migrations.ts';

/** Below 13 there is no xid8, which the change feed reads by. */
const OLDEST_VERSION = 130_000;

async function setting(client: Queryable, name: string): Promise<string> {
  const { rows } = await client.query('SELECT current_setting($1) AS value', [name]);
  return rows[0]!.value as string;
}

/** A commit that was answered must survive the server's crash. */
async function checkServer(client: Queryable): Promise<void> {
  if ((await setting(client, 'fsync')) !== 'on') {
    throw new CoordinatorError('unavailable', 'PostgreSQL runs with fsync=off and would lose commits; turn it on');
  }
  if ((await setting(client, 'synchronous_commit')) !== 'on') {
    throw new CoordinatorError('unavailable', 'synchronous_commit cannot be turned on for this session');
  }
  if ((await setting(client, 'transaction_read_only')) === 'on') {
    throw new CoordinatorError('unavailable', 'PostgreSQL is read-only (a standby?); connect to the primary');
  }
  const version = Number(await setting(client, 'server_version_num'));
  if (version < OLDEST_VERSION) {
    throw new CoordinatorError('unavailable', `PostgreSQL ${version} is too old; 13 or newer is needed`);
  }
}

/** @throws CoordinatorError */
export async function prepareDatabase(
  connections: Connections,
  { clusterIdIfNew, ...options }: MigrationOptions & { readonly clusterIdIfNew: Uuid },
): Promise<{ readonly clusterId: Uuid; readonly changeNumber: number }> {
  return connections.transaction(async (client) => {
    await checkServer(client);
    await migrate(client, options);
    await client.query('INSERT INTO cluster SELECT $1 WHERE NOT EXISTS (SELECT 1 FROM cluster)', [clusterIdIfNew]);
    const { rows } = await client.query(
      `SELECT cluster_id, coalesce(pg_sequence_last_value(pg_get_serial_sequence('changes', 'change_number')), 0) AS number
       FROM cluster`,
    );
    return { clusterId: rows[0]!.cluster_id as Uuid, changeNumber: Number(rows[0]!.number) };
  });
}
