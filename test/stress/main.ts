/**
 * `npm run stress`: many producers and consumers through the engine, against the S3 server that SHOAL_S3_ENDPOINT names or
 * a local directory. Ends with a verdict that says what was exercised; exit code 1 when any check failed, when nothing was
 * acknowledged, and when faults were asked for and none happened.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openEngine } from '../../src/index.ts';
import { openSqliteCoordinator } from '../../src/sqlite.ts';
import { faultyObjectStorage } from '../support/faulty-object-storage.ts';
import { parseOptions } from '../support/parse-options.ts';
import { checksOf, isExercised, type Ran, type Settings } from './checks.ts';
import { consume, type Load, newCounts, type Outcome, produce } from './load.ts';
import { Progress } from './progress.ts';
import { emptyTarget, openTarget, type StressTarget } from './target.ts';
import type { Judge, Verdict } from './verifier.ts';

const help = `Usage: npm run stress -- [options]

Many producers and consumers through the engine. Objects go to the S3 server that
SHOAL_S3_ENDPOINT names (with SHOAL_S3_BUCKET, SHOAL_S3_REGION, SHOAL_S3_PATH_STYLE
and AWS's own variables for credentials), else to a local directory. A verifier in
a process of its own then reads everything back and compares it byte for byte.

  --minutes N      how long to produce (default 1; fractions allowed)
  --producers N    producers (default 8)
  --in-flight N    appends of each producer at a time (default 4)
  --consumers N    consumers; every second one reads past the local view (default 4)
  --partitions N   partitions of the topic (default 16)
  --records N      most records in a batch (default 50)
  --value-bytes N  largest value (default 2000)
  --faults RATE    share of puts and gets that is made to fail, e.g. 0.1 (default 0)
  --seed N         seed of the faults (default: random, printed)
  --keep           leave objects and database behind
`;

const { values } = parseOptions({
  options: {
    minutes: { type: 'string', default: '1' },
    producers: { type: 'string', default: '8' },
    'in-flight': { type: 'string', default: '4' },
    consumers: { type: 'string', default: '4' },
    partitions: { type: 'string', default: '16' },
    records: { type: 'string', default: '50' },
    'value-bytes': { type: 'string', default: '2000' },
    faults: { type: 'string', default: '0' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** How much longer than it should a run goes on that has nothing to show yet. */
const EXERCISE_MS = 120_000;
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

function option(name: Exclude<keyof typeof values, 'keep' | 'help'>, min: number, max: number): number {
  const value = Number(values[name]);
  if (!(value >= min && value <= max)) throw new Error(`--${name} is a number from ${min} to ${max}`);
  return value;
}

function readSettings(): Settings {
  return {
    minutes: option('minutes', 0.01, 10_000),
    producers: option('producers', 1, 1000),
    inFlight: option('in-flight', 1, 1000),
    consumers: option('consumers', 0, 1000),
    partitions: option('partitions', 1, 10_000),
    shape: { records: option('records', 1, 10_000), valueBytes: option('value-bytes', 1, 500_000) },
    faults: option('faults', 0, 0.9),
    seed: option('seed', 0, 2 ** 32),
  };
}

/** Hands outcomes to the verifier in batches; a message for each would be most of the work. */
class Journal {
  readonly #verifier: ChildProcess;
  #waiting: Outcome[] = [];

  constructor(verifier: ChildProcess) {
    this.#verifier = verifier;
  }

  readonly tell = (outcome: Outcome): void => {
    this.#waiting.push(outcome);
    if (this.#waiting.length >= 500) this.flush();
  };

  flush(): void {
    if (this.#waiting.length > 0) this.#verifier.send(this.#waiting);
    this.#waiting = [];
  }

  async judge(question: Judge): Promise<Verdict> {
    this.flush();
    const answer = once(this.#verifier, 'message') as Promise<[Verdict]>;
    const failed = once(this.#verifier, 'exit').then(() => {
      throw new Error('the verifier ended without a verdict');
    });
    this.#verifier.send(question);
    const [verdict] = await Promise.race([answer, failed]);
    failed.catch(() => {});
    return verdict;
  }
}

/** The verifier reads from the beginning, however long the run was. */
const KEEP_ALL = { 'retention.ms': '-1', 'retention.bytes': '-1' };

/** Stops the load when its time is over and it has shown something; a busy machine may not get that far in the shortest runs. */
async function stopInTime({ minutes }: Settings, stop: AbortController, isExercised: () => boolean): Promise<void> {
  const endMs = performance.now() + minutes * 60_000;
  const isOver = (): boolean => performance.now() >= (isExercised() ? endMs : endMs + EXERCISE_MS);
  while (!stop.signal.aborted && !isOver()) await pause(20);
  stop.abort();
}

/** Opens two engines over the same data (one reads past its local view), loads them, and closes them. */
async function runLoad(settings: Settings, target: StressTarget, database: string, journal: Journal): Promise<Ran> {
  const coordinator = await openSqliteCoordinator({ path: database });
  const progress = new Progress(target);
  const { storage, counts: faults } = faultyObjectStorage(progress.observed, settings.faults, settings.seed);
  const engine = await openEngine({ objectStorage: storage, coordinator });
  const direct = await openEngine({ objectStorage: storage, coordinator }, { nodeId: 1, fetchLocalViewBytes: 0 });
  const [topic] = await engine.createTopics([{ name: 'stress', partitions: settings.partitions, configs: KEEP_ALL }]);
  const topicId = topic!.topicId;
  const stop = new AbortController();
  const load: Load = {
    partitions: Array.from({ length: settings.partitions }, (_, partition) => ({ topicId, partition })),
    shape: settings.shape,
    counts: newCounts(),
    stop: stop.signal,
    inFlight: settings.inFlight,
    tell: journal.tell,
  };
  progress.start(load.counts);
  const faultCount = (): number => faults.putsBefore + faults.putsAfter + faults.gets;
  const stopping = stopInTime(settings, stop, () =>
    isExercised(settings, { counts: load.counts, faultCount: faultCount() }),
  );
  const consumers = Array.from({ length: settings.consumers }, (_, i) =>
    consume(i % 2 === 0 ? engine : direct, load, i % 2 === 1),
  );
  const producers = Array.from({ length: settings.producers }, (_, i) => produce(engine, i, load));
  try {
    await Promise.all([...producers, ...consumers, stopping]);
  } finally {
    stop.abort();
    progress.stop();
    await Promise.all([engine.close(), direct.close()]);
    await coordinator.close();
  }
  return { topicId, counts: load.counts, faultCount: faultCount() };
}

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const settings = readSettings();
  const folder = await mkdtemp(join(tmpdir(), 'shoal-stress-'));
  const verifier = fork(fileURLToPath(new URL('./verifier.ts', import.meta.url)), { execArgv: ['--import', 'tsx'] });
  try {
    const target = await openTarget(folder, process.env);
    say(
      `stress: ${settings.minutes} minutes, ${settings.producers} producers, ${settings.consumers} consumers, ${settings.partitions} partitions`,
    );
    say(`objects in ${target.description}; faults ${settings.faults}, seed ${settings.seed}`);
    const journal = new Journal(verifier);
    const database = join(folder, 'coordinator.db');
    const ran = await runLoad(settings, target, database, journal);
    say('reading everything back');
    const { partitions, shape } = settings;
    const question = { judge: true, location: target.location, database, topicId: ran.topicId, partitions } as const;
    const verdict = await journal.judge({ ...question, valueBytes: shape.valueBytes });
    const checks = checksOf(settings, ran, verdict);
    for (const [passed, what] of checks) say(`${passed ? 'passed' : 'FAILED'}: ${what}`);
    for (const text of [...ran.counts.remarks, ...verdict.remarks]) say(`  · ${text}`);
    if (!values.keep) await emptyTarget(target);
    await target.storage.close();
    const failed = checks.filter(([passed]) => !passed).length;
    say(
      `${checks.length - failed} passed, ${failed} failed: ${verdict.acknowledgedRecords} records through ${target.description}`,
    );
    return failed === 0 ? 0 : 1;
  } finally {
    verifier.kill();
    if (values.keep) say(`kept ${folder}`);
    else await rm(folder, { recursive: true, force: true });
  }
}

main().then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`stress: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
    process.exit(1);
  },
);
