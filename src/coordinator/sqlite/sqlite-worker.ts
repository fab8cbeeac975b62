/**
 * Entry of the SQLite worker thread (`#sqlite-worker`): owns the database, gathers what is waiting while a transaction
 * runs, and answers after each COMMIT. The main thread starts and closes it.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { SqlDatabase } from './driver.ts';
import { GroupCommit } from './group-commit.ts';
import { integrityFaults } from './integrity.ts';
import type { IntegrityCheck, SqliteWorkerOptions, WorkerCall, WorkerMessage, WorkerRequest } from './messages.ts';
import { openDatabase } from './open-database.ts';
import { batchesIn, type PackedCommit } from './packed-commit.ts';
import { SqliteStore } from './sqlite-store.ts';

/** Bounds of one transaction, and with them how long the first caller in it waits for the last. */
const MAX_CALLS_PER_TRANSACTION = 256;
const MAX_BATCHES_PER_TRANSACTION = 6_000;

/** The next calls for one transaction: at least one, taken off the front. */
function takeCalls(waiting: WorkerCall[]): WorkerCall[] {
  let batches = 0;
  let count = 0;
  while (count < waiting.length && count < MAX_CALLS_PER_TRANSACTION && batches < MAX_BATCHES_PER_TRANSACTION) {
    const { operation, args } = waiting[count]!;
    if (operation === 'commitFile') batches += batchesIn(args[0] as PackedCommit);
    count += 1;
  }
  return waiting.splice(0, count);
}

function serve(port: MessagePort, database: SqlDatabase, options: SqliteWorkerOptions): void {
  let nowMs = 0;
  const store = new SqliteStore(database, () => nowMs, options);
  const clusterId = store.clusterId(options.clusterIdIfNew);
  const groupCommit = new GroupCommit(database, store, (callNowMs) => {
    nowMs = callNowMs;
  });
  const post = (message: WorkerMessage): void => port.postMessage(message);
  let waiting: WorkerCall[] = [];
  let closing = false;
  let scheduled = false;

  const drain = (): void => {
    scheduled = false;
    const calls = takeCalls(waiting);
    for (const done of calls.length > 0 ? groupCommit.run(calls) : []) post({ kind: 'outcomes', ...done });
    if (waiting.length > 0) schedule();
    else if (closing) close();
  };
  // The messages that arrived during a transaction are all delivered before the next immediate: that is the grouping.
  const schedule = (): void => {
    if (scheduled) return;
    scheduled = true;
    setImmediate(drain);
  };
  const close = (): void => {
    database.close();
    waiting = [];
    post({ kind: 'closed' });
    port.close();
  };

  port.on('message', (requests: readonly WorkerRequest[]) => {
    for (const request of requests) {
      if (request.operation === 'close') closing = true;
      else waiting.push(request);
    }
    schedule();
  });
  post({ kind: 'opened', clusterId, changeNumber: store.changeNumber, topics: store.allTopics() });
}

function main(port: MessagePort): void {
  const options = workerData as SqliteWorkerOptions | IntegrityCheck;
  try {
    if ('integrityOf' in options) {
      const faults = integrityFaults(options.integrityOf);
      port.postMessage({ kind: 'integrity', faults } satisfies WorkerMessage);
      return;
    }
    serve(port, openDatabase(options), options);
  } catch (error) {
    port.postMessage({ kind: 'refused', message: (error as Error).message } satisfies WorkerMessage);
  }
}

if (parentPort) main(parentPort);
