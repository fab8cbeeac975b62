/** What a PostgreSQL database holds that contradicts itself, for `shoal doctor`; brokers may be at work on it meanwhile. */
import { systemTime } from '../../common/time.ts';
import { POSTGRES_CONTRADICTIONS } from '../contradictions.ts';
import { Connections } from './connections.ts';

/** The tables are read whole. */
const CHECK_TIMEOUT_MS = 3_600_000;

/** One sentence a fault, the first ones; empty when there is none. @throws CoordinatorError */
export async function checkPostgresDatabase(connectionString: string, schema = 'shoal'): Promise<readonly string[]> {
  const deadlines = { connectTimeoutMs: 10_000, statementTimeoutMs: CHECK_TIMEOUT_MS };
  const connections = await Connections.create(
    { connectionString, schema, maxConnections: 1, ...deadlines },
    systemTime,
  );
  try {
    return await connections.transaction(async (client) => {
      // One state of it all, whatever is committed meanwhile.
      await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const faults: string[] = [];
      for (const query of POSTGRES_CONTRADICTIONS) {
        const { rows } = await client.query(query);
        faults.push(...rows.map((row) => String(row.fault)));
      }
      return faults;
    });
  } finally {
    await connections.close();
  }
}
