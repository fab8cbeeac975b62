/** Preloaded into `shoal serve`: SIGUSR2 ends the first thread that it made, which is the SQLite coordinator's. */
import { channel } from 'node:diagnostics_channel';

let first;
channel('worker_threads').subscribe(({ worker }) => {
  first ??= worker;
});
process.on('SIGUSR2', () => first.terminate());
