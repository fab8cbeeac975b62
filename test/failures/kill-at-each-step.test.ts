/**
 * A host that is killed or stopped at a step of an append, under idempotent producers that send until they are acknowledged.
 * Over SQLite; test/postgres/host-failures.test.ts does the same over PostgreSQL, with a second host beside it.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'vitest';
import { eventually, Hosts } from './hosts.ts';
import { killAtEachStep, PAST_GRACES_MS, settle, startProducing } from './scenarios.ts';

let folder: string;
let hosts: Hosts;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-steps-'));
  hosts = new Hosts(folder);
});
afterEach(async () => {
  await hosts.end();
  rmSync(folder, { recursive: true, force: true });
});

it('loses and doubles nothing when a host is killed at any step, and leaves no orphan', {
  timeout: 120_000,
}, async () => {
  const producing = await killAtEachStep(hosts);
  await settle(await hosts.start(), producing);
});

it('is safe when a host stops between PUT and commit for longer than the graces', { timeout: 120_000 }, async () => {
  const host = await hosts.start({ step: 'after-put', at: 4, signal: 'SIGSTOP' });
  const producing = await startProducing(hosts, host);
  await eventually('the host stops', () => host.output.includes('at after-put'));
  await new Promise((resolve) => setTimeout(resolve, PAST_GRACES_MS));
  host.child.kill('SIGCONT');
  await settle(host, producing);
});
