#!/usr/bin/env node
/** The `shoal` command. */
import { main } from './cli/main.ts';

main(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
