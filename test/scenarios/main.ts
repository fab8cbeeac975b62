/** `npm run scenarios -- DIR [--level required|recommended|strict]`. */
import { parseArgs } from 'node:util';
import type { Level } from './compare.ts';
import { runFolder } from './run-folder.ts';

const help = `Usage: npm run scenarios -- DIR [--level required|recommended|strict]

Runs every scenario file (*.json) of DIR and of DIR/extra against the share
partition's real classes, prints each difference, and ends with a count.

  --level required     offsets at or above the start offset: state, count, owner
  --level recommended  also counts, pending transitions, what lies below (default)
  --level strict       also how tracking is cut into batches
`;

const levels: readonly string[] = ['required', 'recommended', 'strict'];

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      level: { type: 'string', default: 'recommended' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1 || !levels.includes(values.level)) {
    process.stderr.write(help);
    return 2;
  }
  const outcomes = runFolder(folder, values.level as Level);
  for (const { name, differences } of outcomes)
    for (const text of differences) process.stdout.write(`${name}: ${text}\n`);
  const failed = outcomes.filter(({ differences }) => differences.length > 0).length;
  process.stdout.write(`${outcomes.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

try {
  process.exitCode = main();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
