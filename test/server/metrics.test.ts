/** What a host measures of its requests, connections, sessions and groups, as a scrape would find it. */
import { expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { MetricsRegistry } from '../../src/common/metrics-registry.ts';
import { apiVersions } from '../../src/protocol/messages/api-versions.ts';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { findCoordinator } from '../../src/protocol/messages/find-coordinator.ts';
import { heartbeat } from '../../src/protocol/messages/heartbeat.ts';
import { joinGroup } from '../../src/protocol/messages/join-group.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { plainBatch } from '../support/record-batches.ts';
import { ServerFixture, type ServerFixtureOptions } from './server-fixture.ts';

async function open(options: ServerFixtureOptions = {}) {
  const metrics = new MetricsRegistry();
  const fixture = await ServerFixture.open({ ...options, server: { ...options.server, metrics } });
  return { fixture, metrics, client: await fixture.client() };
}

/** Value by name with labels. */
function scraped(metrics: MetricsRegistry): Map<string, number> {
  const lines = metrics
    .text()
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

it('counts requests by API and version, their bytes, errors and time', async () => {
  const { fixture, metrics, client } = await open();
  await fixture.parts.createTopic('t', 2);
  const batch = plainBatch(3, 100);
  const partitionData = [
    { index: 0, records: [batch] },
    { index: 7, records: [batch] },
  ];
  await client.call(produce, 9, { acks: -1, timeoutMs: 5_000, topicData: [{ name: 't', partitionData }] });
  const from = (partition: number) => ({ partition, fetchOffset: 0n, partitionMaxBytes: 1 << 20 });
  const topics = [{ topic: 't', partitions: [from(0), from(1)] }];
  await client.call(fetch, 12, { maxWaitMs: 0, minBytes: 0, sessionEpoch: 0, topics });
  await client.call(fetch, 11, { maxWaitMs: 0, minBytes: 0, topics });
  const produced = 'request="Produce"';
  const fetched = 'request="Fetch"';
  const expected: [string, number][] = [
    [`kafka_network_requestmetrics_requests_total{${produced},version="9"}`, 1],
    [`kafka_network_requestmetrics_requests_total{${fetched},version="11"}`, 1],
    [`kafka_network_requestmetrics_requests_total{${fetched},version="12"}`, 1],
    [`kafka_network_requestmetrics_errors_total{error="NONE",${produced}}`, 1],
    [`kafka_network_requestmetrics_errors_total{error="UNKNOWN_TOPIC_OR_PARTITION",${produced}}`, 1],
    [`kafka_network_requestmetrics_errors_total{error="NONE",${fetched}}`, 6],
    [`kafka_network_requestmetrics_totaltimems_count{${produced}}`, 1],
    [`kafka_network_requestmetrics_totaltimems_count{${fetched}}`, 2],
    ['kafka_server_brokertopicmetrics_bytesin_total', batch.length],
    ['kafka_server_brokertopicmetrics_messagesin_total', 3],
    ['kafka_server_brokertopicmetrics_bytesout_total', 2 * batch.length],
    ['kafka_server_brokertopicmetrics_bytesin_total{topic="t"}', batch.length],
    ['kafka_server_brokertopicmetrics_messagesin_total{topic="t"}', 3],
    ['kafka_server_brokertopicmetrics_bytesout_total{topic="t"}', 2 * batch.length],
    ['kafka_server_socket_server_metrics_connection_count', 1],
    ['kafka_server_fetchsessioncache_numincrementalfetchsessions', 1],
    ['kafka_server_fetchsessioncache_numincrementalfetchpartitionscached', 2],
    ['kafka_network_socketserver_memorypoolused', 0],
  ];
  // The socket has taken the last answer before its client has it, but says so a moment later.
  while (scraped(metrics).get(expected[7]![0]) !== 2) await new Promise((resolve) => setTimeout(resolve, 1));
  const values = scraped(metrics);
  expect(expected.map(([name]) => [name, values.get(name)])).toEqual(expected);
  const sizes = (of: string) => values.get(`kafka_network_requestmetrics_${of}`)!;
  expect(sizes(`requestbytes_sum{${produced}}`)).toBeGreaterThan(2 * batch.length);
  expect(sizes(`responsebytes_sum{${fetched}}`)).toBeGreaterThan(2 * batch.length);
  const bytes = (direction: string) => values.get(`kafka_server_socket_server_metrics_${direction}_byte_total`)!;
  expect(bytes('incoming')).toBeGreaterThan(sizes(`requestbytes_sum{${produced}}`));
  expect(bytes('outgoing')).toBeGreaterThan(sizes(`responsebytes_sum{${fetched}}`));
});

it('counts requests without an answer, refused versions and errors of the whole request', async () => {
  const { fixture, metrics, client } = await open();
  await fixture.parts.createTopic('t');
  const partitionData = [{ index: 0, records: [plainBatch(1, 10)] }];
  client.send(produce, 9, { acks: 0, timeoutMs: 1, topicData: [{ name: 't', partitionData }] });
  await client.call(heartbeat, 4, { groupId: 'none', generationId: 1, memberId: 'm' });
  client.socket.write(Buffer.from('0000000b0012006300000007000178', 'hex'));
  expect((await client.nextFrame())!.readInt16BE(4)).toBe(Errors.UNSUPPORTED_VERSION);
  await client.call(apiVersions, 0, {});
  const values = scraped(metrics);
  expect(values.get('kafka_network_requestmetrics_requests_total{request="Produce",version="9"}')).toBe(1);
  expect(values.get('kafka_network_requestmetrics_responsebytes_sum{request="Produce"}')).toBe(0);
  expect(values.get('kafka_network_requestmetrics_errors_total{error="UNKNOWN_MEMBER_ID",request="Heartbeat"}')).toBe(
    1,
  );
  const versions = 'kafka_network_requestmetrics_errors_total{error="UNSUPPORTED_VERSION",request="ApiVersions"}';
  expect(values.get(versions)).toBe(1);
});

it('counts groups by protocol and what the coordinator did for them', async () => {
  const { metrics, client } = await open({ server: { settings: { group: { groupInitialRebalanceDelayMs: 0 } } } });
  await client.call(findCoordinator, 3, { key: 'g', keyType: 0 });
  const joined = await client.call(joinGroup, 3, {
    groupId: 'g',
    sessionTimeoutMs: 30_000,
    rebalanceTimeoutMs: 30_000,
    memberId: '',
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: Buffer.alloc(0) }],
  });
  expect(joined.errorCode).toBe(0);
  const values = scraped(metrics);
  const counted = ['classic', 'consumer', 'share'].map((protocol) =>
    values.get(`kafka_server_group_coordinator_metrics_group_count{protocol="${protocol}"}`),
  );
  expect(counted).toEqual([1, 0, 0]);
  expect(values.get('diskless_coordinator_operation_duration_seconds_count{operation="loadGroups"}')).toBe(1);
});

it('refuses connections beyond the limits, with the limit in log and metrics, and takes others when some are gone', async () => {
  const limits = { maxConnections: 3, maxConnectionsPerIp: 2 };
  const { fixture, metrics, client } = await open({ server: { limits } });
  const second = await fixture.client();
  await second.call(apiVersions, 0, {});
  const third = await fixture.client();
  expect(await third.nextFrame()).toBeUndefined();
  expect(fixture.logged).toContain(
    'connection from 127.0.0.1 refused: max.connections.per.ip is 2, and as many are open',
  );
  await (await fixture.client()).closed;
  expect(scraped(metrics).get('shoal_connections_refused_total{limit="max.connections.per.ip"}')).toBe(2);
  expect(fixture.logged.filter((line) => line.includes('refused'))).toHaveLength(1);
  second.socket.destroy();
  while (fixture.server.stats().connections > 1) await new Promise((resolve) => setTimeout(resolve, 1));
  expect((await (await fixture.client()).call(apiVersions, 0, {})).errorCode).toBe(0);
  expect((await client.call(apiVersions, 0, {})).errorCode).toBe(0);
});

it('counts all connections together against max.connections', async () => {
  const { fixture, metrics, client } = await open({ server: { limits: { maxConnections: 1 } } });
  await client.call(apiVersions, 0, {});
  await (await fixture.client()).closed;
  expect(scraped(metrics).get('shoal_connections_refused_total{limit="max.connections"}')).toBe(1);
});
