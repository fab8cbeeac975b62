/**
 * `npm run soak`: the broker host under several kinds of clients while everything that can go wrong does (disturbances.ts),
 * then a verdict by a process of its own (verifier.ts). This process starts, disturbs, waits for recoveries and reports; it
 * judges nothing but those. Exit code 1 when an invariant is broken, and also when something was not exercised.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Random, randomInt, seededRandom } from '../../src/common/random.ts';
import type { ClientProgram } from '../clients/install.ts';
import buildStale from '../support/build-stale.ts';
import { parseOptions } from '../support/parse-options.ts';
import { Cluster } from './cluster.ts';
import { type Disturbance, deck, shuffled } from './disturbances.ts';
import { CLIENT_KINDS, Fleet } from './fleet.ts';
import type { Recovery } from './judge.ts';
import { Progress } from './progress.ts';
import { report } from './report.ts';
import { KEPT, TOPICS, Topics, TRIMMED } from './topics.ts';
import type { Command, Reply, Verdict } from './verifier.ts';

const help = `Usage: npm run soak -- [--minutes N] [--clients KIND,…] [--rate N] [--bound N] [--seed N] [--skip-missing]

Runs the broker host under producers and group members of several kinds, kills,
pauses and restarts host and clients, makes the storage fail and slow, deletes
and trims topics, and has a process of its own verify what came of it.

  --minutes N      how long to disturb (default 10; fractions allowed). It takes
                   longer when one round of all disturbances needs more time.
  --clients KINDS  of ${Object.keys(CLIENT_KINDS).join(', ')} (default: all)
  --skip-missing   go on without kinds whose library cannot be installed
  --rate N         records a second of each kind's producer (default 150)
  --bound N        seconds in which everybody must be back after a disturbance
                   (default 90; a dead member of the consumer protocol is
                   missed after 45)
  --seed N         seed of the order of disturbances (default: random, printed)
  --debug CONTEXTS what librdkafka's clients log besides warnings, as its
                   setting debug takes it (cgrp,topic,fetch)
  --keep           leave the clients' journals and logs, and the data
`;

const { values } = parseOptions({
  options: {
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: Object.keys(CLIENT_KINDS).join(',') },
    'skip-missing': { type: 'boolean', default: false },
    rate: { type: 'string', default: '150' },
    bound: { type: 'string', default: '90' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
    debug: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** What a disturbance and its recovery take when all is well; decides how many must happen at once. */
const HAND_MS = 12_000;
const LINE_MS = 2_000;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

async function findClients(): Promise<ReadonlyMap<string, ClientProgram>> {
  const found = new Map<string, ClientProgram>();
  for (const kind of values.clients.split(',')) {
    const find = CLIENT_KINDS[kind];
    if (!find) throw new Error(`--clients: ${kind} is not known; ${Object.keys(CLIENT_KINDS).join(', ')} are`);
    try {
      found.set(kind, await find());
    } catch (error) {
      if (!values['skip-missing']) throw new Error(`${kind} cannot be had (--skip-missing goes on without): ${error}`);
      say(`${kind} is left out: ${(error as Error).message.split('\n')[0]}`);
    }
  }
  return found;
}

class Soak {
  readonly #cluster: Cluster;
  readonly #fleet: Fleet;
  readonly #topics: Topics;
  readonly #progress: Progress;
  readonly #random: Random = seededRandom(Number(values.seed));
  readonly #recoveries: Recovery[] = [];
  readonly #startMs = performance.now();
  #doing = 'warming up';

  constructor(cluster: Cluster, fleet: Fleet, topics: Topics) {
    this.#cluster = cluster;
    this.#fleet = fleet;
    this.#topics = topics;
    this.#progress = new Progress(() => fleet.journals, KEPT.name);
  }

  /** Disturbs until the time is up and everything has happened at least once. */
  async disturb(): Promise<void> {
    const lines = setInterval(() => this.#line(), LINE_MS);
    await this.#recover('the start');
    const all = deck({ cluster: this.#cluster, fleet: this.#fleet, topics: this.#topics });
    const endMs = performance.now() + Number(values.minutes) * 60_000;
    const atOnce = Math.max(1, Math.ceil((all.length * HAND_MS) / (Number(values.minutes) * 60_000)));
    do {
      for (let left = shuffled(all, this.#random); left.length > 0; ) {
        // A hand now and then has a second card, so that also things happen together that need not.
        const hand = left.splice(0, Math.max(atOnce, randomInt(this.#random, 1, 2)));
        await this.#play(hand);
      }
    } while (performance.now() < endMs);
    clearInterval(lines);
  }

  async #play(hand: readonly Disturbance[]): Promise<void> {
    // Drawn before they run side by side, so that they do not depend on who is first.
    const seeds = hand.map(() => randomInt(this.#random, 0, 1e9));
    this.#doing = hand.map(({ name }) => name).join(', ');
    await Promise.all(hand.map(({ run }, index) => run(seededRandom(seeds[index]!))));
    await this.#recover(this.#doing);
  }

  async #recover(after: string): Promise<void> {
    const sinceMs = Date.now();
    const mark = this.#progress.mark();
    const boundMs = Number(values.bound) * 1000;
    this.#doing = `after ${after}`;
    let missing = this.#progress.missing(this.#fleet.kinds, sinceMs, mark);
    while (missing.length > 0 && Date.now() - sinceMs < boundMs) {
      await sleep(200);
      missing = this.#progress.missing(this.#fleet.kinds, sinceMs, mark);
    }
    const tookMs = Date.now() - sinceMs;
    if (after !== 'the start') this.#recoveries.push({ after, tookMs, missing: missing.join(' and ') });
    say(
      `  ${after}: ${missing.length > 0 ? `NOT BACK: ${missing.join(', ')}` : `back within ${(tookMs / 1000).toFixed(1)} s`}`,
    );
  }

  #line(): void {
    this.#progress.update();
    const { counts, faults } = this.#cluster;
    const kinds = this.#fleet.kinds.map(
      (kind) =>
        `${kind} ${this.#progress.acknowledged.get(kind) ?? 0} acked ${this.#progress.consumed.get(kind) ?? 0} read`,
    );
    const seconds = ((performance.now() - this.#startMs) / 1000).toFixed(0);
    say([`${seconds} s`, ...kinds, `${counts.kills} kills`, `${faults} faults`, this.#doing].join(' | '));
  }

  /** Lets everybody finish, kills the host once more, and has the verifier look. */
  async finish(verifier: VerifierProcess): Promise<Verdict> {
    say('stopping the producers, then the groups when they have read everything');
    this.#cluster.heal();
    await this.#fleet.stop('produce');
    const reached = await verifier.ask({ command: 'drain' });
    if (!('ends' in reached)) throw new Error('the verifier did not say where the logs end');
    await this.#readAll(reached.ends);
    await this.#fleet.stop('consume');
    say('killing the host for the last time, and reading everything again');
    this.#cluster.noFaults();
    await this.#cluster.kill();
    await verifier.ask({ command: 'reread', groups: this.#fleet.kinds.map((kind) => `soak-${kind}`) });
    await this.#cluster.stop();
    const { problems, coordinates } = await this.#cluster.examine();
    const reply = await verifier.ask({
      command: 'judge',
      journals: this.#fleet.journals,
      generations: this.#topics.generations,
      consumedTopics: [KEPT.name, TRIMMED.name],
      keptTopics: [KEPT.name],
      recoveries: this.#recoveries,
      doctorProblems: problems,
      doctorCoordinates: coordinates,
    });
    if (!('verdict' in reply)) throw new Error('the verifier gave no verdict');
    return reply.verdict;
  }

  /**
   * The groups have to read up to where the verifier has. What was deleted at the end of a log is waited for in vain, as
   * long as the bound allows; the verdict counts only what is there.
   */
  async #readAll(ends: Readonly<Record<string, number>>): Promise<void> {
    const read = [KEPT, TRIMMED].map(({ name }) => `${name}-`);
    const places = Object.entries(ends).filter(
      ([place, end]) => end > 0 && read.some((name) => place.startsWith(name)),
    );
    const endMs = Date.now() + Number(values.bound) * 1000;
    while (this.#progress.behind(this.#fleet.kinds, new Map(places)).length > 0 && Date.now() < endMs) await sleep(200);
    this.#progress.close();
  }

  get recoveries(): readonly Recovery[] {
    return this.#recoveries;
  }
}

class VerifierProcess implements AsyncDisposable {
  readonly #child: ChildProcess;

  constructor() {
    const script = fileURLToPath(new URL('./verifier.ts', import.meta.url));
    this.#child = fork(script, { execArgv: ['--import', 'tsx'] });
  }

  async ask(command: Command): Promise<Reply> {
    this.#child.send(command);
    const ended = once(this.#child, 'exit').then(() => {
      throw new Error('the verifier ended before it answered');
    });
    const [reply] = await Promise.race([once(this.#child, 'message'), ended]);
    ended.catch(() => {});
    return reply as Reply;
  }

  abandon(): void {
    this.#child.kill('SIGKILL');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.abandon();
  }
}

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  buildStale();
  const folder = mkdtempSync(join(tmpdir(), 'shoal-soak-'));
  const seed = Number(values.seed);
  say(`seed ${seed}, journals in ${folder}`);
  mkdirSync(join(folder, 'journals'));
  try {
    const found = await findClients();
    await using cluster = await Cluster.start(join(folder, 'data'), seed);
    const topics = new Topics(cluster.address);
    await topics.create();
    if (found.has('librdkafka')) await topics.commitBeginning('soak-librdkafka');
    await using verifier = new VerifierProcess();
    const { address } = cluster;
    await verifier.ask({ command: 'watch', address, topics: TOPICS.map(({ name }) => name) });
    const { debug } = values;
    const options = {
      address,
      folder: join(folder, 'journals'),
      topics: TOPICS,
      rate: Number(values.rate),
      seed,
      debug,
    };
    await using fleet = Fleet.start(found, options);
    process.once('SIGINT', () => {
      fleet.abandon();
      cluster.abandon();
      verifier.abandon();
      rmSync(folder, { recursive: true, force: true });
      process.exit(130);
    });
    const soak = new Soak(cluster, fleet, topics);
    await soak.disturb();
    const verdict = await soak.finish(verifier);
    return report({ verdict, cluster, fleet, topics, recoveries: soak.recoveries }) ? 0 : 1;
  } finally {
    if (!values.keep) rmSync(folder, { recursive: true, force: true });
  }
}

process.exitCode = await main();
