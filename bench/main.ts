/** `npm run bench -- [NAME ...] [--json FILE] [--rounds N] [--smoke]`: runs the benches of this folder and prints their rows. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import buildStale from '../test/support/build-stale.ts';
import { parseOptions } from '../test/support/parse-options.ts';
import { type BenchContext, type BenchRow, benchContext } from './harness.ts';

/** Each is a file of this folder. */
const BENCHES: Readonly<Record<string, string>> = {
  coordinator: 'commits, lookups and deletions in SQLite and PostgreSQL, against bare inserts',
  'end-to-end': 'append and fetch through an engine, in process and over TCP',
  'fetch-planner': 'time of the planner, and what its ranged GETs cost, against simpler plans',
  'fetch-sessions': 'a fetch of 50,000 idle partitions, in a session and in full',
  host: 'the broker host beside Apache Kafka (needs a JDK and Maven; five minutes)',
  'object-storage': 'CPU time of S3 requests, against the AWS SDK',
  'record-kernel': 'CRC-32C, validation, compression and worker threads, against npm libraries',
  share: 'queues: acquire and acknowledge, many share partitions, many locks',
};
const names = Object.keys(BENCHES);

const help = `Usage: npm run bench -- [NAME ...] [--json FILE] [--rounds N] [--smoke]

Measures Shoal against named baselines. A ratio is the median of rounds in which
both sides take turns on the same input; above 1 means better than the baseline.
Behind it, the first and the third quartile. Without a NAME all of these run:

${names.map((name) => `  ${name.padEnd(15)} ${BENCHES[name]}`).join('\n')}

  --json FILE  also write the rows as a JSON array, after each bench
  --rounds N   that many rounds instead of each bench's own number
  --smoke      small inputs and few rounds, as the test run does; figures mean little

  npm run bench -- record-kernel coordinator --json bench-rows.json
`;

/** All that benches put on disk lies in one folder, a gigabyte of it at times, which goes with the run: by Ctrl-C too. */
function ownTemporaryFolder(): void {
  const folder = mkdtempSync(join(tmpdir(), 'shoal-bench-run-'));
  // PostgreSQL runs as another user where this is root.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  process.once('SIGINT', () => process.exit(130));
  process.once('SIGTERM', () => process.exit(143));
}

async function main(): Promise<number> {
  const { values, positionals } = parseOptions({
    allowPositionals: true,
    options: {
      json: { type: 'string' },
      rounds: { type: 'string' },
      smoke: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const unknown = positionals.filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`no bench is called ${unknown.join(', ')}; there are: ${names.join(', ')}\n`);
    return 2;
  }
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
  if (rounds !== undefined && !(Number.isInteger(rounds) && rounds >= 1 && rounds <= 1000)) {
    process.stderr.write(`--rounds is "${values.rounds}"; an integer from 1 to 1000 is needed\n`);
    return 2;
  }
  const save = (rows: readonly BenchRow[]): void => {
    if (values.json) writeFileSync(values.json, `${JSON.stringify(rows, null, 2)}\n`);
  };
  try {
    // Before minutes of measuring, not after.
    save([]);
  } catch (error) {
    process.stderr.write(`--json: cannot write ${values.json}: ${(error as Error).message}\n`);
    return 2;
  }
  buildStale();
  ownTemporaryFolder();
  const context = benchContext({ smoke: values.smoke, rounds });
  process.stdout.write(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}\n`);
  for (const name of positionals.length > 0 ? positionals : names) {
    process.stdout.write(`${name}\n`);
    const { default: run } = (await import(`./${name}.ts`)) as { default: (bench: BenchContext) => Promise<void> };
    await run(context);
    save(context.rows);
  }
  if (context.rows.length === 0) {
    process.stderr.write('no row was measured\n');
    return 1;
  }
  return 0;
}

process.exitCode = await main();
