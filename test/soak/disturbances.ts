/**
 * What is done to host, storage, topics and clients, as a deck of named disturbances: shuffled by the seed, dealt in hands
 * that are large enough for the deck to come to its end within the time, then shuffled again. The order of disturbances and
 * all that is random in them follow from the seed; only times depend on the machine.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, randomInt } from '../../src/common/random.ts';
import type { Cluster } from './cluster.ts';
import type { Fleet } from './fleet.ts';
import type { Topics } from './topics.ts';

export interface Disturbance {
  readonly name: string;
  /** Resolves when it is over, which is not yet when all are back. */
  run(random: Random): Promise<void>;
}

export interface Disturbed {
  readonly cluster: Cluster;
  readonly fleet: Fleet;
  readonly topics: Topics;
}

/** Beyond the session timeout of the members, which is 6 s: its partitions go to the other one. */
const LONG_PAUSE_MS = 8_000;

export function deck({ cluster, fleet, topics }: Disturbed): Disturbance[] {
  const host: Disturbance[] = [
    { name: 'kill the host', run: () => cluster.kill() },
    {
      name: 'kill the host twice',
      run: async (random) => {
        await cluster.kill();
        await sleep(randomInt(random, 0, 1_500));
        await cluster.kill();
      },
    },
    { name: 'restart the host', run: () => cluster.restart() },
    { name: 'pause the host', run: (random) => cluster.pause(randomInt(random, 1_000, LONG_PAUSE_MS)) },
  ];
  const storage: Disturbance[] = [
    { name: 'fail the storage', run: (random) => cluster.outage(randomInt(random, 1_000, 5_000)) },
    { name: 'slow the storage', run: (random) => cluster.slowdown(randomInt(random, 2_000, 6_000), random) },
    {
      name: 'make the storage err',
      run: (random) => cluster.burst(randomInt(random, 2_000, 6_000), randomInt(random, 0, 1e9)),
    },
  ];
  const log: Disturbance[] = [
    { name: 'delete a topic and create it again', run: () => topics.recreate() },
    { name: 'delete records', run: () => topics.deleteRecords() },
  ];
  const clients = fleet.kinds.flatMap((kind): Disturbance[] => {
    const [producer] = fleet.of(kind, 'produce');
    const member = (random: Random) => fleet.of(kind, 'consume')[randomInt(random, 0, 1)]!;
    return [
      { name: `kill the producer of ${kind}`, run: () => producer!.kill() },
      { name: `kill a member of ${kind}`, run: (random) => member(random).kill() },
      { name: `pause a member of ${kind}`, run: (random) => member(random).pause(LONG_PAUSE_MS) },
      {
        name: `restart a member of ${kind}`,
        run: (random) => member(random).restart(randomInt(random, 0, 1_000)),
      },
    ];
  });
  return [...host, ...storage, ...log, ...clients];
}

export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  return items.map(() => left.splice(randomInt(random, 0, left.length - 1), 1)[0]!);
}
