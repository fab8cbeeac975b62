/** What is done to brokers, connections and the server, at random. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Random, randomInt } from '../../../src/common/random.ts';
import { GRACE_MS } from './broker-process.ts';
import type { Stage } from './stage.ts';

export async function disturb(stage: Stage, random: Random): Promise<void> {
  const kinds = [killBroker, killBroker, stopBroker, terminate, terminate, cut, cut, cut, cut, lock, killServer];
  while (!stage.stopping) {
    await sleep(randomInt(random, 50, 500));
    await kinds[randomInt(random, 0, kinds.length - 1)]!(stage, random);
  }
}

async function killBroker(stage: Stage, random: Random): Promise<void> {
  const broker = stage.any(random);
  if (!broker.isReady) return;
  await broker.kill();
  stage.counts.brokersKilled += 1;
  await sleep(randomInt(random, 0, 300));
  void broker.restart();
}

/** For longer than the grace, so that others take it for dead. */
async function stopBroker(stage: Stage, random: Random): Promise<void> {
  const { pid } = stage.any(random);
  if (pid === undefined) return;
  process.kill(pid, 'SIGSTOP');
  stage.counts.brokersStopped += 1;
  setTimeout(
    () => {
      try {
        process.kill(pid, 'SIGCONT');
      } catch {
        // Killed meanwhile.
      }
    },
    randomInt(random, 500, 2 * GRACE_MS),
  );
}

async function onServer(stage: Stage, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: stage.server.url });
  client.on('error', () => {});
  try {
    await client.connect();
    await work(client);
  } catch {
    // The server is away.
  } finally {
    await client.end().catch(() => {});
  }
}

async function terminate(stage: Stage): Promise<void> {
  await onServer(stage, async (client) => {
    const { rowCount } = await client.query(
      `SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity
         WHERE application_name = 'shoal' ORDER BY state = 'active' DESC, random() LIMIT 3) chosen`,
    );
    stage.counts.backendsTerminated += rowCount ?? 0;
  });
}

async function cut(stage: Stage, random: Random): Promise<void> {
  const { proxy } = stage.any(random);
  const texts = ['commit_file', 'COMMIT', 'abandon_file', 'drop_step', 'segments/', 'delete_records', 'notify_changes'];
  const before = proxy.cuts;
  proxy.cutOn = {
    text: texts[randomInt(random, 0, texts.length - 1)]!,
    when: random.next() < 0.3 ? 'before' : 'after',
  };
  await sleep(200);
  stage.counts.connectionsCut += proxy.cuts - before;
}

async function lock(stage: Stage, random: Random): Promise<void> {
  await onServer(stage, async (client) => {
    await client.query('BEGIN');
    await client.query('SET search_path = shoal');
    await client.query('SELECT 1 FROM logs ORDER BY random() LIMIT 3 FOR UPDATE');
    stage.counts.locksHeld += 1;
    await sleep(randomInt(random, 100, 4_000));
  });
}

async function killServer(stage: Stage): Promise<void> {
  await stage.server.kill();
  stage.counts.serverKills += 1;
  await stage.server.restart();
}
