/**
 * Two hosts on one database and one folder of objects, one of which is killed or stopped at a step of an append: the other
 * serves on, and gives up and removes what the first one left.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually, Hosts, objectsOf } from '../failures/hosts.ts';
import { goesOn, killAtEachStep, PAST_GRACES_MS, settle, startProducing } from '../failures/scenarios.ts';
import { newSchema, query, usePostgres } from './postgres-harness.ts';

const { url } = usePostgres();

let folder: string;
let schema: string;
let hosts: Hosts;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-host-failures-'));
  schema = newSchema();
  hosts = new Hosts(folder, ['--coordinator', url(), '--schema', schema]);
});
afterEach(async () => {
  await hosts.end();
  rmSync(folder, { recursive: true, force: true });
});

async function keysGivenUp(): Promise<number> {
  return (await query(url(), `SELECT 1 FROM ${schema}.files WHERE state = 3`)).length;
}

it('loses and doubles nothing when one host is killed at any step', { timeout: 180_000 }, async () => {
  const survivor = await hosts.start({ nodeId: 2 });
  const producing = await killAtEachStep(hosts);
  await settle(survivor, producing);
});

it('refuses the commit of a host that was stopped between PUT and commit until its object was given up', {
  timeout: 180_000,
}, async () => {
  const other = await hosts.start({ nodeId: 2 });
  const stopped = await hosts.start({ step: 'after-put', at: 4, signal: 'SIGSTOP' });
  const producing = await startProducing(hosts, other, 1_000);
  await eventually('the host stops', () => stopped.output.includes('at after-put'));
  // Its producers turn to the other host, which also finds and removes the object.
  await goesOn(producing);
  await eventually('the object is given up', async () => (await keysGivenUp()) > 0);
  await new Promise((resolve) => setTimeout(resolve, PAST_GRACES_MS));
  // What the producers are about to have committed is among the others now and then.
  await eventually('the object is removed', async () => (await objectsOf(other)).others === 0);
  stopped.child.kill('SIGCONT');
  await goesOn(producing);
  await settle(other, producing);
  expect(await stopped.stop('SIGTERM')).toBe(0);
});
