/**
 * kill −9 of a process that commits: at chosen system calls in the middle of a transaction (through strace, where it is
 * there) and at random moments. Nothing acknowledged is lost, nothing is doubled, offsets stay dense, no producer id is
 * given out twice, and what was under way is answered one way or the other by repeating it.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomInt, seededRandom } from '../../src/common/random.ts';
import { openSqliteCoordinator } from '../../src/sqlite.ts';
import { numberedFile, TOPIC } from './commit-until-killed.ts';
import { findFrom } from './fixture.ts';

const root = join(import.meta.dirname, '../..');
const traceable = spawnSync('strace', ['-f', '-e', 'trace=none', 'true']).status === 0;

interface Acknowledged {
  readonly index: number;
  /** What the process was answered; absent for a file that was committed by repeating it here. */
  readonly offsets?: readonly (readonly [error: number, baseOffset: string, duplicate: boolean])[];
  readonly block?: string;
}

let folder: string;
let path: string;
let acknowledged: Acknowledged[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-kill-'));
  path = join(folder, 'coordinator.db');
  acknowledged = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Starts the committing process and resolves when it has died. */
async function run(prefix: readonly string[], onLine: (child: ChildProcess, acks: number) => void): Promise<void> {
  const from = acknowledged.length === 0 ? 0 : acknowledged.at(-1)!.index + 1;
  const script = join(root, 'test/coordinator/commit-until-killed.ts');
  const [command, ...args] = [...prefix, process.execPath, '--import', 'tsx', script, path, `${from}`];
  const env = { ...process.env, TSX_TSCONFIG_PATH: 'bench/tsconfig.json' };
  const child = spawn(command!, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'] });
  let acks = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('{')) {
      acknowledged.push(JSON.parse(line) as Acknowledged);
      acks += 1;
    }
    onLine(child, acks);
  }
}

async function verify(): Promise<void> {
  const coordinator = await openSqliteCoordinator({ path });
  try {
    // It may have died before it made the topic, or the tables.
    await coordinator.createTopics([TOPIC]);
    const blocks = acknowledged.flatMap(({ block }) => block ?? []);
    expect(new Set(blocks).size).toBe(blocks.length);
    const next = acknowledged.length === 0 ? 0 : acknowledged.at(-1)!.index + 1;
    for (let index = 0; index <= next; index += 1) {
      const { batches } = await coordinator.commitFile(numberedFile(index));
      const offsets = batches.map(({ error, baseOffset, duplicate }) => [error, `${baseOffset}`, duplicate]);
      const ack = acknowledged.find((one) => one.index === index);
      if (ack?.offsets) expect(offsets).toEqual(ack.offsets);
      expect(offsets).toEqual([0, 2, 0, 2].map((delta) => [0, `${4 * index + delta}`, false]));
    }
    acknowledged.push({ index: next });
    for (const partition of [0, 1]) {
      const of = { topicId: TOPIC.topicId, partition };
      expect((await findFrom(coordinator, of, 0n)).highWatermark).toBe(BigInt(4 * (next + 1)));
      const [producers] = await coordinator.describeProducers([of]);
      expect(producers!.map(({ lastSequence }) => lastSequence)).toEqual([2 * next + 1, 2 * next + 1]);
    }
  } finally {
    await coordinator.close();
  }
}

describe('kill −9 of a committing process', { timeout: 120_000 }, () => {
  it('at random moments, again and again on one database', async () => {
    const seed = Number(process.env.SHOAL_SEED ?? Math.floor(Math.random() * 2 ** 31));
    process.stdout.write(`kill -9 seed ${seed}\n`);
    const random = seededRandom(seed);
    let asked = 0;
    for (let round = 0; round < 2; round += 1) {
      const atAck = randomInt(random, 1, 30);
      const delayMs = random.next() * 5;
      asked += atAck;
      await run([], (child, acks) => {
        if (acks === atAck) setTimeout(() => child.kill('SIGKILL'), delayMs);
      });
      await verify();
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(asked);
  });

  it.skipIf(!traceable)(
    'at each step of a transaction: log written in part, written, synced (needs strace)',
    async () => {
      for (const [call, when] of [
        ['pwrite64', 120],
        ['pwrite64', 122],
        ['fsync,fdatasync', 12],
      ] as const) {
        const inject = ['-e', `trace=${call}`, '-e', `inject=${call}:signal=KILL:when=${when}`];
        await run(['strace', '-f', '-qq', ...inject, '-o', join(folder, 'trace')], () => {});
        await verify();
      }
      expect(acknowledged.length).toBeGreaterThan(6);
    },
  );
});
