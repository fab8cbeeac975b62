/** What a subcommand is, and how commands fail. */

export interface Command {
  /** What `shoal NAME --help` prints. */
  readonly help: string;
  /** Runs to its end and resolves with the exit code. @throws CliError */
  run(args: readonly string[]): Promise<number>;
}

/** A failure that a person can do something about: printed as one line, without a stack. */
export class CliError extends Error {
  override readonly name: string = 'CliError';
  readonly exitCode: number = 1;
}

/** The command line itself is wrong. */
export class UsageError extends CliError {
  override readonly name = 'UsageError';
  override readonly exitCode = 2;
}
