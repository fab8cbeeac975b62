/**
 * `npm run stress:share`: share consumers in processes of their own work through a topic while they and the broker are
 * killed with SIGKILL. Then the journals of the consumers are held against where the records ended (`judge.ts`). Exit code
 * 1 when a record was lost, delivered after its acceptance, or delivered too often, and when nothing was exercised.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { randomInt, seededRandom } from '../../../src/common/random.ts';
import { root } from '../../server/host-process.ts';
import buildStale from '../../support/build-stale.ts';
import { parseOptions } from '../../support/parse-options.ts';
import { Cluster, DELIVERY_LIMIT, GROUP, TOPIC } from './cluster.ts';
import { readJournal } from './journal.ts';
import { judge } from './judge.ts';

const help = `Usage: npm run stress:share -- [options]

Share consumers, each a process, work through a topic while they and the broker
are killed again and again. Poison records come back until the delivery limit
of ${DELIVERY_LIMIT}, and must end in the dead-letter queue; all others must be accepted once.

  --records N      records to work through (default 1000000)
  --consumers N    consumer processes (default 8)
  --partitions N   partitions of the topic (default 4)
  --poison N       one record in N is poison (default 1009)
  --minutes N      how long to kill at most; then what is left is finished in peace (default 10)
  --seed N         seed of kills and decisions (default: random, printed)
`;

const { values } = parseOptions({
  options: {
    records: { type: 'string', default: '1000000' },
    consumers: { type: 'string', default: '8' },
    partitions: { type: 'string', default: '4' },
    poison: { type: 'string', default: '1009' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

const say = (line: string): boolean => process.stdout.write(`${line}\n`);
/** Locks of records that nobody acknowledged end within 15 s, ten times at worst. */
const FINISH_MS = 240_000;

const folder = mkdtempSync(join(tmpdir(), 'shoal-stress-share-'));
const random = seededRandom(Number(values.seed));
const running = new Set<ChildProcess>();
const kills = { broker: 0, consumers: 0 };

function startConsumer(cluster: Cluster, number: number): ChildProcess {
  const journal = join(folder, `journal-${number}`);
  const { partitions, poison, seed } = values;
  const args = [cluster.address, TOPIC, cluster.topicId, partitions, GROUP, journal, `${seed}${number}`, poison];
  const child = spawn(process.execPath, ['--import', 'tsx', 'test/stress/share/share-worker.ts', ...args], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

const exited = (child: ChildProcess): Promise<void> =>
  child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()));

/** Kills the broker once for every two consumers, each of which another one follows. */
async function killSomebody(cluster: Cluster, nextNumber: () => number): Promise<void> {
  if (kills.consumers > 2 * kills.broker) {
    await cluster.killAndRestart();
    kills.broker++;
    return;
  }
  const victims = [...running];
  const victim = victims[randomInt(random, 0, victims.length - 1)]!;
  victim.kill('SIGKILL');
  await exited(victim);
  kills.consumers++;
  startConsumer(cluster, nextNumber());
}

/** Undefined while the broker does not answer. */
async function isFinished(cluster: Cluster, filled: { done: boolean }): Promise<boolean> {
  if (!filled.done) return false;
  const lags = await cluster.lags().catch(() => [-1]);
  return lags.every((lag) => lag === 0);
}

async function work(cluster: Cluster): Promise<boolean> {
  let consumers = 0;
  const nextNumber = (): number => consumers++;
  for (let i = Number(values.consumers); i > 0; i--) startConsumer(cluster, nextNumber());
  const filled = { done: false };
  const filling = cluster.fill(Number(values.records)).then(() => {
    filled.done = true;
  });
  const killUntilMs = performance.now() + Number(values.minutes) * 60_000;
  let finished = false;
  const isExercised = (): boolean => kills.broker > 0 && kills.consumers > 0;
  while (!isExercised() || (!finished && performance.now() < killUntilMs)) {
    await pause(randomInt(random, 500, 2_500));
    await killSomebody(cluster, nextNumber);
    finished = await isFinished(cluster, filled);
    say(
      `killed the broker ${kills.broker} times, consumers ${kills.consumers} times; behind: ${await lagText(cluster)}`,
    );
  }
  await filling;
  for (const endMs = performance.now() + FINISH_MS; !finished && performance.now() < endMs; ) {
    await pause(1_000);
    finished = await isFinished(cluster, filled);
  }
  const left = [...running];
  for (const child of left) child.kill('SIGTERM');
  await Promise.all(left.map(exited));
  return finished;
}

const lagText = (cluster: Cluster): Promise<string> =>
  cluster.lags().then(
    (lags) => lags.join(', '),
    () => 'no answer',
  );

async function stress(): Promise<number> {
  say(`seed ${values.seed}`);
  const cluster = await Cluster.start(join(folder, 'data'), Number(values.partitions));
  try {
    return await stressOn(cluster);
  } catch (error) {
    say(cluster.output);
    throw error;
  } finally {
    await cluster.stop();
  }
}

async function stressOn(cluster: Cluster): Promise<number> {
  const startMs = performance.now();
  const finished = await work(cluster);
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const journals = readdirSync(folder).filter((name) => name.startsWith('journal-'));
  const judgement = judge({
    ends: await cluster.ends(),
    lines: journals.flatMap((name) => readJournal(join(folder, name))),
    deadLetters: await cluster.deadLetters(),
    limit: DELIVERY_LIMIT,
  });
  if (!finished) say(`not finished; the group is behind by ${await lagText(cluster)}\n${cluster.output}`);

  const { records, accepted, deadLetters, inDoubt, deliveries, redeliveries, problems } = judgement;
  for (const problem of problems.slice(0, 20)) say(problem);
  const exercised = [accepted, deadLetters, redeliveries, kills.broker, kills.consumers].every((count) => count > 0);
  if (!exercised) say('nothing was exercised: no acceptance, no dead letter, no redelivery, or no kill');
  say(
    `share stress: ${records} records in ${seconds} s, ${accepted} accepted, ${deadLetters} given up at delivery ` +
      `${DELIVERY_LIMIT}, ${inDoubt} in doubt, ${deliveries} deliveries (${redeliveries} records more than once), ` +
      `${kills.broker} kills of the broker and ${kills.consumers} of consumers, ${problems.length} problems`,
  );
  const good = finished && exercised && problems.length === 0;
  say(good ? '1 passed, 0 failed' : '0 passed, 1 failed');
  return good ? 0 : 1;
}

if (values.help) {
  process.stdout.write(help);
} else {
  process.once('SIGINT', () => {
    for (const child of running) child.kill('SIGKILL');
    process.exit(130);
  });
  try {
    buildStale();
    process.exitCode = await stress();
  } finally {
    for (const child of running) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}
