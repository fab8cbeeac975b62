/** DescribeConfigs, AlterConfigs and IncrementalAlterConfigs over the wire. */
import { describe, expect, it } from 'vitest';
import { Errors } from '../../src/common/errors.ts';
import { alterConfigs } from '../../src/protocol/messages/alter-configs.ts';
import { describeConfigs } from '../../src/protocol/messages/describe-configs.ts';
import { incrementalAlterConfigs } from '../../src/protocol/messages/incremental-alter-configs.ts';
import { listConfigResources } from '../../src/protocol/messages/list-config-resources.ts';
import { ConfigResourceType, ConfigSource } from '../../src/server/configs/config-target.ts';
import { ServerFixture, type ServerFixtureOptions } from './server-fixture.ts';
import type { WireClient } from './wire-client.ts';

const { topic: TOPIC, broker: BROKER, brokerLogger: BROKER_LOGGER, group: GROUP } = ConfigResourceType;
const [SET, DELETE, APPEND, SUBTRACT] = [0, 1, 2, 3];

async function open(options: ServerFixtureOptions = {}) {
  const fixture = await ServerFixture.open({ ...options, server: { nodeId: 3, rack: 'r1', ...options.server } });
  return { fixture, client: await fixture.client() };
}

async function createTopic(fixture: ServerFixture, name: string, configs: Record<string, string> = {}): Promise<void> {
  await fixture.parts.engine.createTopics([{ name, partitions: 1, configs }]);
}

type Operation = readonly [name: string, operation: number | undefined, value: string | null];

async function alter(client: WireClient, type: number, name: string, operations: Operation[], validateOnly = false) {
  const configs = operations.map(([config, operation, value]) => ({
    name: config,
    configOperation: operation!,
    value,
  }));
  const resources = [{ resourceType: type, resourceName: name, configs }];
  const { responses } = await client.call(incrementalAlterConfigs, 1, { resources, validateOnly });
  return responses[0]!;
}

async function described(client: WireClient, type: number, name: string, keys: string[] | null = null, version = 4) {
  const { results } = await client.call(describeConfigs, version, {
    resources: [{ resourceType: type, resourceName: name, configurationKeys: keys }],
    includeSynonyms: true,
    ...(version >= 3 && { includeDocumentation: true }),
  });
  return results[0]!;
}

async function configValue(client: WireClient, type: number, name: string, key: string) {
  const { configs } = await described(client, type, name, [key]);
  return configs[0]?.value;
}

describe('DescribeConfigs', () => {
  it.each([1, 2, 3, 4])('v%d tells all configs of a topic, with their sources', async (version) => {
    const { client, fixture } = await open();
    await createTopic(fixture, 't', { 'retention.ms': '5' });
    const { errorCode, configs } = await described(client, TOPIC, 't', null, version);
    expect(errorCode).toBe(0);
    const byName = new Map(configs.map((config) => [config.name, config]));
    expect(byName.size).toBeGreaterThan(35);
    expect(byName.get('retention.ms')).toMatchObject({
      value: '5',
      readOnly: false,
      configSource: ConfigSource.dynamicTopic,
      isSensitive: false,
      synonyms: [
        { name: 'retention.ms', value: '5', source: ConfigSource.dynamicTopic },
        { name: 'log.retention.ms', value: '604800000', source: ConfigSource.byDefault },
      ],
      configType: version >= 3 ? 5 : 0,
    });
    expect(byName.get('segment.bytes')).toMatchObject({
      value: '1073741824',
      readOnly: true,
      configSource: ConfigSource.byDefault,
    });
    if (version >= 3) expect(byName.get('segment.bytes')!.documentation).toContain('no effect');
    else expect(byName.get('segment.bytes')!.documentation).toBeNull();
  });

  it('tells only the names asked for, and synonyms and documentation only when asked', async () => {
    const { client, fixture } = await open();
    await createTopic(fixture, 't');
    const keys = ['cleanup.policy', 'no.such.config', 'compression.type'];
    expect((await described(client, TOPIC, 't', [])).configs.length).toBeGreaterThan(35);
    expect((await described(client, TOPIC, 't', keys)).configs.map(({ name }) => name)).toEqual([
      'cleanup.policy',
      'compression.type',
    ]);
    const { results } = await client.call(describeConfigs, 4, {
      resources: [{ resourceType: TOPIC, resourceName: 't', configurationKeys: null }],
    });
    expect(results[0]!.configs.every(({ synonyms }) => synonyms.length === 0)).toBe(true);
    expect(results[0]!.configs.every(({ documentation }) => documentation === null)).toBe(true);
  });

  it('tells what the host was started with', async () => {
    const { client, fixture } = await open({ server: { settings: { numPartitions: 7 } } });
    const { configs, errorCode } = await described(client, BROKER, '3');
    expect(errorCode).toBe(0);
    const byName = new Map(configs.map((config) => [config.name, config]));
    const { host, port } = fixture.server.listener;
    expect(byName.get('num.partitions')).toMatchObject({
      value: '7',
      readOnly: true,
      configSource: ConfigSource.staticBroker,
    });
    expect(byName.get('node.id')!.value).toBe('3');
    expect(byName.get('broker.rack')!.value).toBe('r1');
    expect(byName.get('advertised.listeners')!.value).toBe(`PLAINTEXT://${host}:${port}`);
    expect(byName.get('group.consumer.session.timeout.ms')).toMatchObject({
      value: '45000',
      configSource: ConfigSource.byDefault,
    });
    expect(byName.get('log.retention.ms')!.value).toBe('604800000');
    expect(new Set(byName.keys()).size).toBe(configs.length);
    expect((await described(client, BROKER, '')).configs).toEqual([]);
    expect((await described(client, BROKER_LOGGER, '3')).errorCode).toBe(0);
  });

  it.for([
    [TOPIC, 'missing', 'UNKNOWN_TOPIC_OR_PARTITION'],
    [TOPIC, 'a b', 'INVALID_TOPIC_EXCEPTION'],
    [TOPIC, '', 'INVALID_TOPIC_EXCEPTION'],
    [BROKER, '4', 'INVALID_REQUEST'],
    [BROKER, 'x', 'INVALID_REQUEST'],
    [BROKER_LOGGER, '', 'INVALID_REQUEST'],
    [GROUP, '', 'INVALID_REQUEST'],
    [ConfigResourceType.clientMetrics, 'm', 'INVALID_REQUEST'],
    [99, 'x', 'INVALID_REQUEST'],
  ] as const)('of type %d named "%s" is %s', async ([type, name, error]) => {
    const { client } = await open();
    const result = await described(client, type, name);
    expect(result).toMatchObject({ errorCode: Errors[error], resourceType: type, resourceName: name, configs: [] });
    expect(result.errorMessage).not.toBe('');
  });
});

describe('IncrementalAlterConfigs', () => {
  it('sets and deletes, durably', async () => {
    const { client, fixture } = await open();
    await createTopic(fixture, 't');
    const set: Operation[] = [
      ['retention.ms', SET, ' +100 '],
      ['compression.type', SET, 'zstd'],
    ];
    expect(await alter(client, TOPIC, 't', set)).toEqual({
      errorCode: 0,
      errorMessage: null,
      resourceType: TOPIC,
      resourceName: 't',
    });
    expect(await fixture.parts.metadata.listTopics()).toMatchObject([
      { configs: { 'retention.ms': '100', 'compression.type': 'zstd' } },
    ]);
    expect((await alter(client, TOPIC, 't', [['retention.ms', DELETE, null]])).errorCode).toBe(0);
    expect((await fixture.parts.metadata.listTopics())[0]!.configs).toEqual({ 'compression.type': 'zstd' });
    expect(await configValue(client, TOPIC, 't', 'retention.ms')).toBe('604800000');
  });

  it('only checks with validate_only', async () => {
    const { client, fixture } = await open();
    await createTopic(fixture, 't');
    expect((await alter(client, TOPIC, 't', [['retention.ms', SET, '1']], true)).errorCode).toBe(0);
    expect((await alter(client, TOPIC, 't', [['retention.ms', SET, 'x']], true)).errorCode).toBe(Errors.INVALID_CONFIG);
    expect((await fixture.parts.metadata.listTopics())[0]!.configs).toEqual({});
  });

  it('appends to and subtracts from lists only', async () => {
    const { client, fixture } = await open();
    await createTopic(fixture, 't');
    expect((await alter(client, TOPIC, 't', [['cleanup.policy', SUBTRACT, 'delete']])).errorCode).toBe(0);
    expect(await configValue(client, TOPIC, 't', 'cleanup.policy')).toBe('');
    expect((await alter(client, TOPIC, 't', [['cleanup.policy', APPEND, 'delete,delete']])).errorCode).toBe(0);
    expect(await configValue(client, TOPIC, 't', 'cleanup.policy')).toBe('delete');
    const compacted = await alter(client, TOPIC, 't', [['cleanup.policy', APPEND, 'compact']]);
    expect(compacted).toMatchObject({ errorCode: Errors.INVALID_CONFIG });
    expect(compacted.errorMessage).toContain('compaction is not built yet');
    expect((await alter(client, TOPIC, 't', [['retention.ms', APPEND, '1']])).errorMessage).toContain('no list');
  });

  it('takes the default for what is read-only, and nothing else', async () => {
    const { client, fixture } = await open();
    await createTopic(fixture, 't');
    expect((await alter(client, TOPIC, 't', [['segment.bytes', SET, '1073741824']])).errorCode).toBe(0);
    expect((await alter(client, TOPIC, 't', [['segment.bytes', DELETE, null]])).errorCode).toBe(0);
    const refused = await alter(client, TOPIC, 't', [['segment.bytes', SET, '2097152']]);
    expect(refused).toMatchObject({ errorCode: Errors.INVALID_CONFIG });
    expect(refused.errorMessage).toContain('segment.bytes is read-only and stays "1073741824"');
    expect((await fixture.parts.metadata.listTopics())[0]!.configs).toEqual({});
  });

  it.for([
    ['retention.sm', SET, '1', 'INVALID_CONFIG', 'did you mean retention.ms?'],
    ['toString', DELETE, null, 'INVALID_CONFIG', 'no such topic config'],
    ['__proto__', SET, '1', 'INVALID_CONFIG', 'no such topic config'],
    ['retention.ms', SET, 'soon', 'INVALID_CONFIG', 'not an integer'],
    ['retention.ms', SET, null, 'INVALID_REQUEST', 'a value is needed'],
    ['retention.ms', 9, '1', 'INVALID_REQUEST', 'no config operation 9'],
  ] as const)('%s, operation %d, value %s is %s', async ([name, operation, value, error, text]) => {
    const { client, fixture } = await open();
    await createTopic(fixture, 't');
    const result = await alter(client, TOPIC, 't', [[name, operation, value]]);
    expect(result).toMatchObject({ errorCode: Errors[error] });
    expect(result.errorMessage).toContain(text);
  });

  it('refuses a config or a resource that stands twice, and does the others', async () => {
    const { client, fixture } = await open();
    for (const name of ['a', 'b', 'c']) await createTopic(fixture, name);
    const config = { name: 'retention.ms', configOperation: SET!, value: '1' };
    const resource = (resourceName: string, configs = [config]) => ({ resourceType: TOPIC, resourceName, configs });
    const { responses } = await client.call(incrementalAlterConfigs, 0, {
      resources: [
        resource('a'),
        resource('b', [config, { ...config, configOperation: DELETE! }]),
        resource('c'),
      ].concat(resource('a')),
      validateOnly: false,
    });
    const { INVALID_REQUEST, NONE } = Errors;
    expect(responses.map(({ errorCode }) => errorCode)).toEqual([
      INVALID_REQUEST,
      INVALID_REQUEST,
      NONE,
      INVALID_REQUEST,
    ]);
    const configs = (await fixture.parts.metadata.listTopics()).map((topic) => topic.configs);
    expect(configs).toEqual([{}, {}, { 'retention.ms': '1' }]);
  });

  it('sets what a group has, within the bounds, before there is such a group', async () => {
    const { client, fixture } = await open();
    const set: Operation[] = [
      ['consumer.session.timeout.ms', SET, '50000'],
      ['share.auto.offset.reset', SET, 'earliest'],
      ['share.delivery.count.limit', SET, '7'],
    ];
    expect((await alter(client, GROUP, 'g', set)).errorMessage).toBeNull();
    expect(await fixture.parts.metadata.readConfigs('group:g')).toEqual({
      'consumer.session.timeout.ms': '50000',
      'share.auto.offset.reset': 'earliest',
      'share.delivery.count.limit': '7',
    });
    const { configs } = await described(client, GROUP, 'g', ['share.delivery.count.limit', 'share.session.timeout.ms']);
    expect(configs).toMatchObject([
      {
        value: '7',
        configSource: ConfigSource.dynamicGroup,
        synonyms: [{}, { name: 'group.share.delivery.count.limit', value: '5', source: ConfigSource.byDefault }],
      },
      { value: '45000', configSource: ConfigSource.byDefault, readOnly: false },
    ]);
    for (const [name, value] of [
      ['consumer.session.timeout.ms', '44999'],
      ['consumer.heartbeat.interval.ms', '15001'],
      ['share.delivery.count.limit', '1'],
      ['share.auto.offset.reset', 'none'],
      ['streams.num.standby.replicas', '1'],
      ['errors.deadletterqueue.topic.name', 'orders'],
      ['errors.deadletterqueue.topic.name', '__dlq.orders'],
      ['errors.deadletterqueue.topic.name', 'dlq./'],
    ] as const) {
      expect(await alter(client, GROUP, 'g', [[name, SET, value]]), name).toMatchObject({
        errorCode: Errors.INVALID_CONFIG,
      });
    }
  });

  it('refuses a heartbeat interval that the session timeout does not cover', async () => {
    const group = {
      groupConsumerMinSessionTimeoutMs: 100,
      groupConsumerMinHeartbeatIntervalMs: 10,
      groupConsumerMaxHeartbeatIntervalMs: 1_000,
      groupConsumerHeartbeatIntervalMs: 100,
    };
    const { client } = await open({ server: { settings: { group } } });
    const slow: Operation[] = [
      ['consumer.session.timeout.ms', SET, '500'],
      ['consumer.heartbeat.interval.ms', SET, '500'],
    ];
    expect((await alter(client, GROUP, 'g', slow)).errorMessage).toContain('must be below consumer.session.timeout.ms');
    expect((await alter(client, GROUP, 'g', slow.slice(0, 1))).errorCode).toBe(0);
    const keys = ['consumer.heartbeat.interval.ms'];
    const name = 'group.consumer.heartbeat.interval.ms';
    expect((await described(client, GROUP, 'other', keys)).configs[0]).toMatchObject({
      value: '100',
      configSource: ConfigSource.staticBroker,
      synonyms: [
        { name, value: '100', source: ConfigSource.staticBroker },
        { name, value: '5000', source: ConfigSource.byDefault },
      ],
    });
  });

  it('sets defaults for all brokers where the coordinator applies them', async () => {
    const { client, fixture } = await open();
    await createTopic(fixture, 't');
    expect((await alter(client, BROKER, '', [['log.retention.ms', SET, '1000']])).errorMessage).toBeNull();
    expect(await fixture.parts.metadata.readConfigs('broker')).toEqual({ 'log.retention.ms': '1000' });
    expect((await described(client, BROKER, '')).configs).toMatchObject([
      { name: 'log.retention.ms', value: '1000', configSource: ConfigSource.dynamicDefaultBroker, readOnly: false },
    ]);
    expect((await described(client, TOPIC, 't', ['retention.ms'])).configs).toMatchObject([
      { value: '1000', configSource: ConfigSource.dynamicDefaultBroker },
    ]);
    expect(await configValue(client, BROKER, '3', 'log.retention.ms')).toBe('1000');
    expect((await alter(client, BROKER, '3', [['log.retention.ms', SET, '5']])).errorMessage).toContain('all brokers');
    expect((await alter(client, BROKER, '', [['num.partitions', SET, '5']])).errorMessage).toContain('starts');
    expect((await alter(client, BROKER, '', [['log.cleanup.policy', SET, 'compact']])).errorMessage).toContain(
      'not built',
    );
    expect((await alter(client, BROKER, '', [['log.retention.ms', SET, 'x']])).errorCode).toBe(Errors.INVALID_CONFIG);
    expect((await alter(client, BROKER_LOGGER, '3', [['root', SET, 'DEBUG']])).errorCode).toBe(Errors.INVALID_REQUEST);
    expect((await alter(client, BROKER, '', [['log.retention.ms', DELETE, null]])).errorCode).toBe(0);
    expect(await configValue(client, TOPIC, 't', 'retention.ms')).toBe('604800000');
  });
});

describe('the dead-letter queue of a group', () => {
  it('is named as the cluster allows it', async () => {
    const { client, fixture } = await open();
    const name = 'errors.deadletterqueue.topic.name';
    const prefix = 'errors.deadletterqueue.topic.name.prefix';
    expect((await alter(client, GROUP, 'g', [[name, SET, 'dead.orders']])).errorMessage).toContain(prefix);
    expect((await alter(client, GROUP, 'g', [[name, SET, 'dlq.orders']])).errorMessage).toBeNull();
    expect((await alter(client, BROKER, '', [[prefix, SET, 'dead.']])).errorMessage).toBeNull();
    expect((await alter(client, GROUP, 'g', [[name, SET, 'dead.orders']])).errorMessage).toBeNull();
    expect(await fixture.parts.metadata.readConfigs('group:g')).toEqual({ [name]: 'dead.orders' });
    const creates = 'errors.deadletterqueue.auto.create.topics.enable';
    expect((await alter(client, BROKER, '', [[creates, SET, 'maybe']])).errorCode).toBe(Errors.INVALID_CONFIG);
    expect((await alter(client, BROKER, '', [[creates, SET, 'true']])).errorMessage).toBeNull();
    expect(await configValue(client, BROKER, '3', creates)).toBe('true');
  });
});

describe('AlterConfigs', () => {
  it.each([0, 1, 2])('v%d replaces what was set', async (version) => {
    const { client, fixture } = await open();
    await createTopic(fixture, 't', { 'retention.ms': '5' });
    const alterTo = async (configs: { name: string; value: string | null }[], validateOnly = false) => {
      const resources = [{ resourceType: TOPIC, resourceName: 't', configs }];
      return (await client.call(alterConfigs, version, { resources, validateOnly })).responses[0]!;
    };
    const compression = { name: 'compression.type', value: 'lz4' };
    expect((await alterTo([compression], true)).errorCode).toBe(0);
    expect((await fixture.parts.metadata.listTopics())[0]!.configs).toEqual({ 'retention.ms': '5' });
    expect((await alterTo([compression, { name: 'segment.ms', value: '604800000' }])).errorMessage).toBeNull();
    expect((await fixture.parts.metadata.listTopics())[0]!.configs).toEqual({ 'compression.type': 'lz4' });
    expect((await alterTo([compression, compression])).errorCode).toBe(Errors.INVALID_REQUEST);
    expect((await alterTo([{ name: 'retention.ms', value: null }])).errorCode).toBe(Errors.INVALID_REQUEST);
    expect((await alterTo([{ name: 'nope', value: '1' }])).errorCode).toBe(Errors.INVALID_CONFIG);
    expect((await alterTo([])).errorCode).toBe(0);
    expect((await fixture.parts.metadata.listTopics())[0]!.configs).toEqual({});
  });
});

it('ListConfigResources tells what has configs', async () => {
  const { client, fixture } = await open();
  await createTopic(fixture, 't');
  await alter(client, GROUP, 'g', [['share.delivery.count.limit', SET, '7']]);
  const list = async (version: number, resourceTypes: number[] = []) => {
    const answer = await client.call(listConfigResources, version, version === 0 ? {} : { resourceTypes });
    return [answer.errorCode, answer.configResources.map((one) => [one.resourceType, one.resourceName])];
  };
  expect(await list(0)).toEqual([0, []]);
  expect(await list(1, [GROUP, GROUP])).toEqual([0, [[GROUP, 'g']]]);
  expect(await list(1)).toEqual([
    0,
    [
      [TOPIC, 't'],
      [BROKER, '3'],
      [BROKER_LOGGER, '3'],
      [GROUP, 'g'],
    ],
  ]);
  expect(await list(1, [TOPIC, 99])).toEqual([Errors.UNSUPPORTED_VERSION, []]);
});

it('a message never outgrows the wire, whatever it quotes', async () => {
  const { client, fixture } = await open();
  await createTopic(fixture, 't');
  const long = 'x'.repeat(32_767);
  expect((await alter(client, TOPIC, 't', [['retention.ms', SET, long]])).errorMessage).toHaveLength(1_000);
  expect((await alter(client, TOPIC, 't', [[long, SET, '1']])).errorCode).toBe(Errors.INVALID_CONFIG);
  expect((await alter(client, TOPIC, long, [['retention.ms', SET, '1']])).errorCode).toBe(
    Errors.INVALID_TOPIC_EXCEPTION,
  );
});

it('too many resources in one request are refused', async () => {
  const { client } = await open();
  const resources = Array.from({ length: 10_001 }, (_, index) => ({
    resourceType: GROUP,
    resourceName: String(index),
    configurationKeys: null,
  }));
  const { results } = await client.call(describeConfigs, 4, { resources });
  expect(results).toHaveLength(10_001);
  expect(results[0]).toMatchObject({ errorCode: Errors.INVALID_REQUEST, configs: [] });
});
