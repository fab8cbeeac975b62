/** What the tests of failing hosts share: the load, the failures, and what must hold afterwards. */
import { expect } from 'vitest';
import type { HostProcess } from '../server/host-process.ts';
import { createTopic, FaithfulProducer, verifyLedger } from './faithful-producer.ts';
import { eventually, type Hosts, NO_SEARCH, objectsOf } from './hosts.ts';
import { STEPS } from './steps.ts';

/** Longer than the quick hosts wait before they give an orphan up and remove it. */
export const PAST_GRACES_MS = 3_500;

export interface Producing {
  readonly producers: readonly FaithfulProducer[];
  readonly ended: Promise<unknown>;
}

export async function startProducing(hosts: Hosts, host: HostProcess, answerMs?: number): Promise<Producing> {
  await createTopic(host.address);
  const producers = [0, 1, 2].map((number) => new FaithfulProducer(number, () => hosts.addresses, answerMs));
  return { producers, ended: Promise.all(producers.map((producer) => producer.run())) };
}

/** Kills a host at each step in turn; the next one takes over, with what it finds left as it is. */
export async function killAtEachStep(hosts: Hosts): Promise<Producing> {
  let producing: Producing | undefined;
  for (const [index, step] of STEPS.entries()) {
    const host = await hosts.start({ step, at: 3 + index, settings: NO_SEARCH });
    producing ??= await startProducing(hosts, host);
    expect(await host.exited()).toBe('SIGKILL');
    expect(host.output).toContain(`at ${step}`);
  }
  expect(producing!.producers.some(({ refused }) => refused > 0)).toBe(true);
  return producing!;
}

/** Each producer gets a few more records through. */
export async function goesOn({ producers, ended }: Producing): Promise<void> {
  const before = producers.map(({ acknowledged }) => acknowledged.length);
  const all = eventually('each producer goes on', () =>
    producers.every(({ acknowledged }, index) => acknowledged.length > before[index]! + 3),
  );
  // A producer that fails must not be waited for.
  await Promise.race([all, ended]);
}

/** Service goes on, nothing is lost, doubled or displaced, orphans go, referenced objects stay, the host closes cleanly. */
export async function settle(host: HostProcess, producing: Producing): Promise<void> {
  const { producers, ended } = producing;
  await goesOn(producing);
  for (const producer of producers) producer.stop();
  await ended;
  await verifyLedger(host.address, producers);
  const { referenced } = await objectsOf(host);
  await eventually('no object is left that nothing refers to', async () => (await objectsOf(host)).others === 0);
  expect((await objectsOf(host)).referenced).toBe(referenced);
  await verifyLedger(host.address, producers);
  expect(await host.stop('SIGTERM')).toBe(0);
}
