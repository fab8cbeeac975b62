/** `shoal doctor`: checks the database, and the coordinates against the objects they point into. Changes nothing. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { counted } from '../common/counted.ts';
import { CliError, type Command } from './command.ts';
import { isUrl, openComponents } from './components.ts';
import { namingHolder } from './data-folder.ts';
import type { Examination } from './examination.ts';
import { describeFlags, parseFlags } from './flags.ts';
import { print } from './output.ts';

const flags = {
  data: { value: 'FOLDER', help: 'The data folder of the broker.', defaultText: './shoal-data' },
  storage: {
    value: 'URL',
    help: 'Where segments are stored, as for serve.',
    defaultText: 'segments/ in the data folder',
  },
  coordinator: {
    value: 'URL',
    help: 'A SQLite file or postgres://USER@HOST/DATABASE, as for serve.',
    defaultText: 'coordinator.db in the data folder',
  },
  json: { help: 'Print one JSON object.' },
} as const;

const help = `Usage: shoal doctor [flags]

Looks a broker's data over: the integrity of the database and whether its tables
agree, whether each partition's coordinates follow each other without a gap, and
whether every one of them lies where the footer of its object says. Says what is
held, and every fault it finds. Changes nothing. Ends with 1 when there is a
fault, else with 0. A broker on SQLite must be stopped; on PostgreSQL it may run.

Flags:
${describeFlags(flags)}
`;

export const command: Command = {
  help,
  run: async (args) => {
    const { data = './shoal-data', storage, coordinator, json } = parseFlags(flags, args, process.env);
    const database = coordinator ?? join(data, 'coordinator.db');
    if (storage !== undefined && !isUrl(storage) && !existsSync(storage)) {
      throw new CliError(`${storage} does not exist; name the folder of the segments with --storage`);
    }
    const inFile = isUrl(database) ? [] : await integrityFaults(database, data);
    const examination = await examine({ data, storage, coordinator });
    const faults = isUrl(database) ? await tableFaults(database) : inFile;
    const report = { ...examination, databaseFaults: faults };
    await print(json ? `${JSON.stringify(report, null, 2)}\n` : text(report));
    return faults.length + examination.problemCount === 0 ? 0 : 1;
  },
};

async function integrityFaults(path: string, dataFolder: string): Promise<readonly string[]> {
  if (!existsSync(path)) throw new CliError(`${path} does not exist; name the data folder with --data`);
  const { checkSqliteIntegrity } = await import('../coordinator/sqlite/integrity.ts');
  try {
    return await checkSqliteIntegrity(path);
  } catch (error) {
    throw new CliError(await namingHolder((error as Error).message, { path: dataFolder }));
  }
}

/** Of PostgreSQL, which looks after its files itself. The URL has been used already. */
async function tableFaults(url: string): Promise<readonly string[]> {
  const { checkPostgresDatabase } = await import('../coordinator/postgres/check-database.ts');
  try {
    return await checkPostgresDatabase(url);
  } catch (error) {
    throw new CliError((error as Error).message);
  }
}

async function examine(options: Parameters<typeof openComponents>[0]): Promise<Examination> {
  const components = await openComponents({ ...options, existing: true });
  try {
    const { Examiner } = await import('./examination.ts');
    return await new Examiner(components.coordinator, components.objectStorage).run();
  } finally {
    await components.close();
  }
}

function text(report: Examination & { readonly databaseFaults: readonly string[] }): string {
  const { topics, partitions, coordinates, liveBytes, objects, objectBytes, unknownObjects } = report;
  const share = objectBytes === 0 ? 100 : (100 * liveBytes) / objectBytes;
  const more = report.problemCount - report.problems.length;
  return [
    `${counted(topics, 'topic')}, ${counted(partitions, 'partition')}, ${counted(coordinates, 'coordinate')}`,
    `${counted(objects, 'object')} of ${counted(objectBytes, 'byte')}, ${share.toFixed(1)} % of them referred to; ${unknownObjects} not committed`,
    ...report.databaseFaults.map((fault) => `database: ${fault}`),
    ...report.problems,
    ...(more > 0 ? [`and ${more} more`] : []),
    report.problemCount + report.databaseFaults.length === 0 ? 'no fault found' : 'faults were found',
    '',
  ].join('\n');
}
