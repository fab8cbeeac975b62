#!/usr/bin/env node
/** The `shoal` command. */
import { main } from './cli/main.ts';

// Nobody can be told that standard error fails; it must not end a broker.
process.stderr.on('error', () => {});

main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
