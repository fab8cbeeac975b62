/** The NAME=VALUE arguments of client programs that are written in TypeScript. */

/** @returns the value of a name; throws when it is missing and has no default */
export function namedArguments(argv: readonly string[]): (name: string, otherwise?: string) => string {
  const values = new Map(argv.map((argument) => argument.split(/=(.*)/s, 2) as [string, string]));
  return (name, otherwise) => {
    const text = values.get(name) ?? otherwise;
    if (text === undefined) throw new Error(`the argument ${name}= is missing`);
    return text;
  };
}
