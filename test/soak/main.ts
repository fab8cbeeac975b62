/**
 * `npm run soak -- [--minutes N] [--producers N] [--partitions N] [--seed N]`: kill −9 of the host in a loop under load.
 *
 * The host is the real command on the embedded default; producers and the verifier are real kafkajs clients in processes
 * of their own with their own journals. Ends with a verdict that says what was exercised; exit code 1 when a record was
 * lost, doubled or displaced, and also when nothing was acknowledged or nothing was killed.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { Kafka, logLevel } from 'kafkajs';
import { randomInt, seededRandom } from '../../src/common/random.ts';

const help = `Usage: npm run soak -- [--minutes N] [--producers N] [--partitions N] [--seed N]

Runs the broker host under load and kills it with SIGKILL again and again. A
separate verifier then reads everything back and compares it with what had been
acknowledged.

  --minutes N     how long to produce and kill (default 10; fractions allowed)
  --producers N   producing client processes (default 3)
  --partitions N  partitions of the topic (default 4)
  --seed N        seed of kill times and batch sizes (default: random, printed)
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    producers: { type: 'string', default: '3' },
    partitions: { type: 'string', default: '4' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (values.help) {
  process.stdout.write(help);
  process.exit(0);
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'shoal-soak-'));
const random = seededRandom(Number(values.seed));
const topic = 'soak';
const running = new Set<ChildProcess>();

function start(command: string, args: string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
  const child = spawn(command, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

function exited(child: ChildProcess): Promise<void> {
  return child.exitCode !== null || child.signalCode !== null
    ? Promise.resolve()
    : new Promise((resolve) => child.once('exit', () => resolve()));
}

/** Starts the host and resolves with its process and address once it prints `ready HOST:PORT`. */
async function startHost(listen: string): Promise<{ child: ChildProcess; address: string }> {
  const child = start(process.execPath, ['dist/cli.js', 'serve', '--listen', listen, '--data', join(folder, 'data')]);
  for await (const line of createInterface({ input: child.stdout! })) {
    if (line.startsWith('ready ')) {
      child.stdout!.resume();
      return { child, address: line.slice('ready '.length) };
    }
  }
  throw new Error('the host ended before it was ready');
}

async function createTopic(address: string): Promise<void> {
  const admin = new Kafka({ clientId: 'soak', brokers: [address], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: Number(values.partitions) }] });
  await admin.disconnect();
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function soak(): Promise<number> {
  process.stdout.write(`seed ${values.seed}\n`);
  let { child: host, address } = await startHost('127.0.0.1:0');
  await createTopic(address);
  const journals = Array.from({ length: Number(values.producers) }, (_, id) => join(folder, `journal-${id}`));
  const producers = journals.map((journal, id) =>
    start(
      process.execPath,
      ['--import', 'tsx', 'test/soak/producer.ts', address, topic, values.partitions, String(id), journal],
      {
        SOAK_SEED: values.seed,
      },
    ),
  );

  const endMs = performance.now() + Number(values.minutes) * 60_000;
  let kills = 0;
  while (performance.now() < endMs) {
    await pause(Math.min(randomInt(random, 500, 4_000), Math.max(0, endMs - performance.now())));
    host.kill('SIGKILL');
    await exited(host);
    kills++;
    ({ child: host } = await startHost(address));
    process.stdout.write(
      `killed and restarted ${kills} times, ${Math.max(0, Math.round((endMs - performance.now()) / 1000))} s left\n`,
    );
  }

  for (const producer of producers) producer.kill('SIGTERM');
  await Promise.all(producers.map(exited));
  const verify = promisify(execFile);
  const { stdout } = await verify(
    process.execPath,
    ['--import', 'tsx', 'test/soak/verifier.ts', address, topic, ...journals],
    {
      cwd: root,
      timeout: 300_000,
    },
  );
  host.kill('SIGTERM');
  await exited(host);

  const verdict = JSON.parse(stdout) as {
    acknowledged: number;
    indeterminate: number;
    records: number;
    problems: number;
    first: string[];
  };
  for (const problem of verdict.first) process.stdout.write(`${problem}\n`);
  const exercised = verdict.acknowledged > 0 && kills > 0;
  if (!exercised) process.stdout.write('nothing was exercised: no acknowledged record or no kill\n');
  process.stdout.write(
    `soak: ${verdict.acknowledged} records acknowledged, ${verdict.indeterminate} indeterminate, ${verdict.records} in the log, ` +
      `${kills} kills with SIGKILL, ${verdict.problems} problems\n`,
  );
  const good = exercised && verdict.problems === 0;
  process.stdout.write(good ? '1 passed, 0 failed\n' : '0 passed, 1 failed\n');
  return good ? 0 : 1;
}

process.once('SIGINT', () => {
  for (const child of running) child.kill('SIGKILL');
  process.exit(130);
});
try {
  process.exitCode = await soak();
} finally {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
