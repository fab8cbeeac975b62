/** `npm run scenarios -- DIR [--level required|recommended|strict]`. */
import { scenariosCommand } from './command.ts';

process.exitCode = scenariosCommand(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
  calledFrom: process.env.INIT_CWD,
});
