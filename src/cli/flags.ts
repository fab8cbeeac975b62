/**
 * Flags of a command: each is also a `SHOAL_…` variable, the command line going first. One table gives the parser, the
 * defaults and the help text. Flags and words may stand in any order.
 */
import { parseArgs } from 'node:util';
import { closest } from '../common/closest.ts';
import { UsageError } from './command.ts';

export interface Flag {
  /** What stands for its value in the help text; undefined for a switch. */
  readonly value?: string;
  /** Sentences for the help text, without the default. */
  readonly help: string;
  /** How the help text names the default. */
  readonly defaultText?: string;
}

export type Flags = Readonly<Record<string, Flag>>;

export type FlagValues<F extends Flags> = {
  readonly [N in keyof F]: F[N] extends { value: string } ? string | undefined : boolean;
};

function envName(flag: string): string {
  return `SHOAL_${flag.replaceAll('-', '_').toUpperCase()}`;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** For a command that takes flags alone. @throws UsageError that names the flag and a way on */
export function parseFlags<F extends Flags>(flags: F, args: readonly string[], env: Environment): FlagValues<F> {
  const { words, values } = parseCommandLine(flags, args, env);
  if (words.length > 0) throw new UsageError(`unexpected argument ${words[0]}`);
  return values;
}

/** Flags, and the words between them in their order. @throws UsageError that names the flag and a way on */
export function parseCommandLine<F extends Flags>(
  flags: F,
  args: readonly string[],
  env: Environment,
): { readonly words: readonly string[]; readonly values: FlagValues<F> } {
  const { words, options } = separate(flags, args);
  return { words, values: readValues(flags, options, env) };
}

/** A flag is joined with its value, so that the value may begin with a dash, as a negative number does. */
function separate(flags: Flags, args: readonly string[]): { words: string[]; options: string[] } {
  const words: string[] = [];
  const options: string[] = [];
  const left = [...args];
  for (let arg = left.shift(); arg !== undefined; arg = left.shift()) {
    const takesValue = arg.startsWith('--') && flags[arg.slice(2)]?.value !== undefined;
    if (arg === '--') words.push(...left.splice(0));
    else if (!/^-[^\d]/.test(arg)) words.push(arg);
    else if (takesValue && left[0]?.startsWith('--') === false) options.push(`${arg}=${left.shift()}`);
    else options.push(arg);
  }
  return { words, options };
}

function readValues<F extends Flags>(flags: F, options: readonly string[], env: Environment): FlagValues<F> {
  const given = parseArguments(flags, options);
  const values: Record<string, string | boolean | undefined> = {};
  for (const [name, { value }] of Object.entries(flags)) {
    // A variable that is set to nothing is how a compose file or a unit file leaves it out.
    const text = given[name] ?? (env[envName(name)] || undefined);
    if (text === '') throw new UsageError(needsValue(name, value));
    values[name] = value === undefined ? isSet(name, text) : text;
  }
  return values as FlagValues<F>;
}

function parseArguments(flags: Flags, args: readonly string[]): Record<string, string | boolean | undefined> {
  const options = Object.entries(flags).map(([name, { value }]) => [name, { type: typeOf(value) }] as const);
  try {
    return parseArgs({ args: [...args], options: Object.fromEntries(options), allowPositionals: false })
      .values as Record<string, string | boolean | undefined>;
  } catch (error) {
    throw new UsageError(explain(flags, (error as NodeJS.ErrnoException).code, error as Error));
  }
}

const typeOf = (value: string | undefined): 'string' | 'boolean' => (value === undefined ? 'boolean' : 'string');

function explain(flags: Flags, code: string | undefined, { message }: Error): string {
  const named = /'(?:-\w, )?--?([^' ]*)/.exec(message)?.[1] ?? '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const guess = closest(named, Object.keys(flags));
    return `unknown flag --${named}${guess ? `; did you mean --${guess}?` : ''}`;
  }
  const flag = flags[named];
  return flag?.value === undefined ? `--${named} takes no value` : needsValue(named, flag.value);
}

function needsValue(name: string, value: string | undefined): string {
  return `--${name} needs a value: --${name} ${value}`;
}

function isSet(name: string, text: string | boolean | undefined): boolean {
  if (typeof text !== 'string') return text ?? false;
  if (/^(true|1|yes)$/i.test(text)) return true;
  if (/^(false|0|no)$/i.test(text)) return false;
  throw new UsageError(`${envName(name)} is "${text}"; true or false is needed`);
}

/** The message of a usage error with the variable in place of the flag, where the value that it is about came from there. */
export function namingVariable(message: string, args: readonly string[], env: Environment): string {
  const name = /^--([a-z0-9-]+)/.exec(message)?.[1] ?? '';
  const isGiven = args.some((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  return name && !isGiven && env[envName(name)] ? message.replace(`--${name}`, envName(name)) : message;
}

const INDENT = ' '.repeat(6);
const WIDTH = 80;

/** The flags as a help text lists them. */
export function describeFlags(flags: Flags): string {
  return Object.entries(flags)
    .map(([name, { value, help, defaultText }]) => {
      const end = `${defaultText === undefined ? '' : ` Default: ${defaultText}.`} (${envName(name)})`;
      return `  --${name}${value === undefined ? '' : ` ${value}`}\n${wrap(help + end)}`;
    })
    .join('\n');
}

function wrap(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1)!;
    if (line !== '' && INDENT.length + line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines.map((line) => INDENT + line).join('\n');
}
