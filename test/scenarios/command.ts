/** `npm run scenarios`: arguments, output and exit codes (0 all passed, 1 some failed, 2 nothing could be run). */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
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

export interface CommandIo {
  out(text: string): void;
  error(text: string): void;
  /** Where npm was called; it changes to the package's folder. */
  readonly calledFrom: string | undefined;
}

/** A folder relative to here or to where npm was called. */
function locate(folder: string, calledFrom = '.'): string {
  const there = resolve(calledFrom, folder);
  return existsSync(folder) || !existsSync(there) ? folder : there;
}

function run(args: string[], io: CommandIo): number {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      level: { type: 'string', default: 'recommended' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    io.out(help);
    return 0;
  }
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1 || !levels.includes(values.level)) {
    io.error(help);
    return 2;
  }
  const outcomes = runFolder(locate(folder, io.calledFrom), values.level as Level);
  for (const { name, differences } of outcomes) for (const text of differences) io.out(`${name}: ${text}\n`);
  const failed = outcomes.filter(({ differences }) => differences.length > 0).length;
  io.out(`${outcomes.length - failed} passed, ${failed} failed\n`);
  return failed === 0 ? 0 : 1;
}

/** Runs the command and returns its exit code; never throws. */
export function scenariosCommand(args: string[], io: CommandIo): number {
  try {
    return run(args, io);
  } catch (error) {
    io.error(`${(error as Error).message}\n`);
    return 2;
  }
}
