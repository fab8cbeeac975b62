/** Options of the programs that people run by `npm run …`: a wrong one is named, without a stack. */
import { parseArgs } from 'node:util';

/** As node:util's; ends the process with 2 where that throws. */
export const parseOptions: typeof parseArgs = (config) => {
  try {
    return parseArgs(config);
  } catch (error) {
    const [message] = (error as Error).message.split('. ');
    process.stderr.write(`${message}; --help lists the options\n`);
    process.exit(2);
  }
};
