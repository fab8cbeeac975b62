/** `/metrics`, `/livez` and `/readyz` over HTTP, with parts that fail when the test says so. */
import { afterEach, describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { MetricsRegistry } from '../../src/common/metrics-registry.ts';
import { systemTime } from '../../src/common/time.ts';
import { CoordinatorError } from '../../src/coordinator/diskless-coordinator.ts';
import { type AdminServer, startAdminServer } from '../../src/server/admin-server.ts';
import { HostHealth } from '../../src/server/host-health.ts';
import { formatEndpoint } from '../../src/server/listener.ts';
import { StorageError } from '../../src/storage/object-storage.ts';
import { EngineFixture } from '../support/engine-fixture.ts';
import { intercept } from '../support/intercept.ts';
import { ManualTime } from '../support/manual-time.ts';

const opened: AdminServer[] = [];
afterEach(async () => {
  for (const server of opened.splice(0)) await server.close();
});

async function open({ time = systemTime, health = new HostHealth(time), metrics = new MetricsRegistry() } = {}) {
  const server = await startAdminServer({ listen: { host: '127.0.0.1', port: 0 }, metrics, health });
  opened.push(server);
  const ask = async (path: string, options?: RequestInit) => {
    const response = await fetch(`http://${formatEndpoint(server.listener)}${path}`, options);
    return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
  };
  return { server, health, metrics, ask };
}

/** A host whose coordinator and storage fail as long as a test says how. */
async function openHost(time = new ManualTime()) {
  const failing: { coordinator?: Promise<never>; storage?: Promise<never>; put?: StorageError } = {};
  const fixture = await EngineFixture.open({
    storage: (real) => ({
      put: async (...args) => {
        if (failing.put) throw failing.put;
        return real.put(...args);
      },
    }),
  });
  const { engine, metadata, objects } = fixture;
  const coordinator = intercept(metadata, {
    readConfigs: (scope) => failing.coordinator ?? metadata.readConfigs(scope),
  });
  const host = await open({ time });
  const probeStorage = () => failing.storage ?? objects.head('probe');
  const start = () => host.health.started({ engine, coordinator, probeStorage });
  return { ...host, fixture, failing, start, time };
}

describe('the admin listener', () => {
  it('answers GET and HEAD of its three pages, and nothing else', async () => {
    const { ask, metrics } = await open();
    metrics.counter('a_total', 'A.').of().add(1);
    expect(await ask('/metrics')).toEqual({
      status: 200,
      type: 'text/plain; version=0.0.4; charset=utf-8',
      body: '# HELP a_total A.\n# TYPE a_total counter\na_total 1\n',
    });
    expect(await ask('/metrics?x=1', { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
    expect(await ask('/metrics', { method: 'POST', body: 'x'.repeat(100_000) })).toMatchObject({ status: 405 });
    expect(await ask('/')).toMatchObject({ status: 404, body: 'there are /metrics, /livez and /readyz\n' });
  });

  it('says what it cannot listen on', async () => {
    const { server, metrics, health } = await open();
    const parts = { metrics, health };
    await expect(startAdminServer({ ...parts, listen: server.listener })).rejects.toThrow('the port is in use');
    const everywhere = { host: '0.0.0.0', port: 0 };
    await expect(startAdminServer({ ...parts, listen: everywhere })).rejects.toThrow('can be reached by others');
  });
});

describe('health', () => {
  it('is not ready while it starts and stops, but live', async () => {
    const { ask, health, start } = await openHost();
    expect(await ask('/readyz')).toMatchObject({ status: 503, body: 'host: it is starting\n' });
    expect(await ask('/livez')).toMatchObject({ status: 200, body: 'engine: ok\n' });
    start();
    expect(await ask('/readyz')).toMatchObject({ status: 200, body: 'engine: ok\ncoordinator: ok\nstorage: ok\n' });
    health.stopping();
    expect(await ask('/readyz')).toMatchObject({ status: 503, body: 'host: it is stopping\n' });
    expect(await ask('/livez')).toMatchObject({ status: 200 });
  });

  it('is not ready while coordinator or storage do not answer, and asks again after a while', async () => {
    const { ask, failing, start, time } = await openHost();
    start();
    failing.coordinator = Promise.reject(new CoordinatorError('unavailable', 'the database is gone'));
    failing.storage = Promise.reject(new StorageError('denied', 'no credentials'));
    failing.coordinator.catch(() => {});
    failing.storage.catch(() => {});
    const broken = 'engine: ok\ncoordinator: the database is gone\nstorage: no credentials\n';
    expect(await ask('/readyz')).toMatchObject({ status: 503, body: broken });
    failing.coordinator = undefined!;
    failing.storage = new Promise<never>(() => {});
    expect(await ask('/readyz')).toMatchObject({ status: 503, body: broken });
    await time.advance(1_000);
    const asked = ask('/readyz');
    while (time.armedTimers === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await time.advance(5_000);
    expect(await asked).toMatchObject({
      status: 503,
      body: 'engine: ok\ncoordinator: ok\nstorage: no answer within 5000 ms\n',
    });
    expect(await ask('/livez')).toMatchObject({ status: 200 });
  });

  it('is not ready while what producers send cannot be stored', async () => {
    const { ask, failing, fixture, start, time } = await openHost();
    start();
    const topicIdPartition = { topicId: await fixture.createTopic('orders'), partition: 0 };
    failing.put = new StorageError('no-space', 'the disk is full');
    const appended = fixture.append(topicIdPartition, { records: [{ value: 'hello' }] });
    while (fixture.engine.appendOutage === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
    const full = 'engine: segment upload failed: the disk is full\ncoordinator: ok\nstorage: ok\n';
    expect(await ask('/readyz')).toMatchObject({ status: 503, body: full });
    failing.put = undefined!;
    expect(await appended).toMatchObject({ error: Errors.NONE });
    await time.advance(1_000);
    expect(await ask('/readyz')).toMatchObject({ status: 200 });
  });

  it('is neither live nor ready once the engine has failed for good', async () => {
    const metrics = new MetricsRegistry();
    const failure = new AbortController();
    const { engine, metadata } = await EngineFixture.open({ coordinator: () => ({ failed: failure.signal }) });
    const { ask, health } = await open({ metrics });
    health.started({ engine, coordinator: metadata, probeStorage: async () => undefined });
    failure.abort(new CoordinatorError('unavailable', 'its thread is dead'));
    expect(await ask('/livez')).toMatchObject({ status: 503, body: 'engine: its thread is dead\n' });
    expect(await ask('/readyz')).toMatchObject({
      status: 503,
      body: 'engine: its thread is dead\ncoordinator: ok\nstorage: ok\n',
    });
  });
});
