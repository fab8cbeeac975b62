/**
 * A host whose database is killed, whose connections are cut while they commit, and whose database falls silent for half a
 * minute: nothing is lost or doubled meanwhile, and service comes back by itself.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Hosts } from '../failures/hosts.ts';
import { goesOn, settle, startProducing } from '../failures/scenarios.ts';
import { newSchema } from './postgres-harness.ts';
import { PostgresServer } from './postgres-server.ts';
import { TcpProxy } from './tcp-proxy.ts';

const SILENT_MS = 30_000;
describe.skipIf(process.env.SHOAL_POSTGRES_URL)('a host whose database fails', () => {
  let folder: string;
  let server: PostgresServer;
  let proxy: TcpProxy;
  let hosts: Hosts;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'shoal-blackhole-'));
    server = await PostgresServer.start();
    proxy = await TcpProxy.listen(server.port);
    const url = `postgres://postgres@127.0.0.1:${proxy.port}/postgres`;
    hosts = new Hosts(folder, ['--coordinator', url, '--schema', newSchema()]);
  });
  afterAll(async () => {
    await hosts.end();
    await proxy.close();
    await server.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  it('goes on by itself after a kill, cuts during COMMIT, and 30 seconds of silence', {
    timeout: 240_000,
  }, async () => {
    const host = await hosts.start();
    const producing = await startProducing(hosts, host);
    await goesOn(producing);

    for (const when of ['after', 'before', 'after'] as const) {
      const { cuts } = proxy;
      proxy.cutOn = { text: 'commit_file', when };
      while (proxy.cuts === cuts) await pause(10);
      await goesOn(producing);
    }

    await server.kill();
    await pause(1_500);
    await server.restart();
    await goesOn(producing);

    proxy.silent = true;
    const before = producing.producers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);
    await pause(SILENT_MS);
    // What was answered right when the silence began may still have arrived.
    const during = producing.producers.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0) - before;
    expect(during).toBeLessThanOrEqual(producing.producers.length);
    proxy.silent = false;
    await settle(host, producing);
  });
});
