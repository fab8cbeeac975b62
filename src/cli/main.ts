/** `shoal`: finds the command, runs it, and turns failures into one line and an exit code. */
import { closest } from '../common/closest.ts';
import { CliError, UsageError } from './command.ts';
import { commands } from './commands.ts';
import { namingVariable } from './flags.ts';
import { print } from './output.ts';
import { packageVersion } from './version.ts';

const NAME_WIDTH = 10;

function help(): string {
  const list = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(NAME_WIDTH)}${summary}`);
  return [
    'Shoal: Kafka topics in object storage.',
    '',
    'Usage: shoal COMMAND [flags]',
    '',
    'Commands:',
    ...list,
    '',
    'shoal COMMAND --help tells more. shoal --version prints the version.',
    '',
  ].join('\n');
}

/** Resolves with the exit code: 0 success, 1 a failure, 2 a command line that cannot be understood. */
export async function main(args: readonly string[]): Promise<number> {
  try {
    return await run(args);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    if (error instanceof UsageError) {
      process.stderr.write(`shoal: ${namingVariable(error.message, args, process.env)}\n`);
      process.stderr.write(`shoal ${commands[args[0]!] ? `${args[0]} ` : ''}--help shows how\n`);
    } else process.stderr.write(`shoal: ${error.message}\n`);
    return error.exitCode;
  }
}

async function run(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args;
  if (name === '--version' || name === '-V') return printed(`${packageVersion()}\n`);
  if (name === '--help' || name === '-h' || name === 'help') return printed(help());
  if (name === undefined) throw new UsageError('a command is needed');
  const entry = commands[name];
  if (!entry) throw new UsageError(`unknown command ${name}${suggestion(name)}`);
  const { command } = await entry.load();
  if (rest.includes('--help') || rest.includes('-h')) return printed(command.help);
  return command.run(rest);
}

function suggestion(name: string): string {
  const guess = closest(name, Object.keys(commands));
  return guess ? `; did you mean ${guess}?` : '';
}

async function printed(text: string): Promise<number> {
  await print(text);
  return 0;
}
