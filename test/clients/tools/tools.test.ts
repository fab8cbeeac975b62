/** Kafka's own command-line tools, as they come from the registry, against the broker. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readme, section } from '../../support/readme-tables.ts';
import { BrokerBehindProxy } from '../broker-behind-proxy.ts';
import { KafkaTools } from './kafka-tools.ts';

const GROUPS = 'consumer.group.ConsumerGroupCommand';
const CONSOLE_RECORDS = 50;
const PERF_RECORDS = 20_000;
const TIMEOUT_MS = 120_000;

let broker: BrokerBehindProxy;
let tools: KafkaTools;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-tools-'));
  broker = await BrokerBehindProxy.start();
  tools = new KafkaTools(broker.address);
});
afterAll(async () => {
  await tools.close();
  await broker.close();
  rmSync(folder, { recursive: true });
});

const lines = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '');
/** The cells of the lines that begin with the word. */
const rows = (text: string, first: string): string[][] =>
  lines(text)
    .map((line) => line.trim().split(/\s+/))
    .filter(([cell]) => cell === first);

describe.sequential("Kafka's command-line tools", { timeout: TIMEOUT_MS }, () => {
  it('kafka-cluster', async () => {
    expect(await tools.ok('ClusterTool', 'cluster-id')).toMatch(/^Cluster ID: [A-Za-z0-9_-]{22}\n$/);
    const [host, port] = broker.address.split(':');
    expect(rows(await tools.ok('ClusterTool', 'list-endpoints'), '0')).toEqual([
      ['0', host, port, 'null', 'unfenced', 'broker'],
    ]);
  });

  it('kafka-broker-api-versions', async () => {
    const output = await tools.ok('BrokerApiVersionsCommand', '');
    const usable = [...output.matchAll(/\t(\w+)\((\d+)\): \d+(?: to \d+)? \[usable: (\d+)\]/g)].map(
      ([, name, key, newest]) => [name, key, name === 'Produce' ? 'any' : newest],
    );
    const listed = [...section(readme(), 'supported-apis').matchAll(/^\| (\w+) +\| (\d+) +\| \d+ to (\d+) /gm)].map(
      ([, name, key, newest]) => [name, key, name === 'Produce' ? 'any' : newest],
    );
    expect(usable.length).toBeGreaterThan(30);
    expect(usable).toEqual(listed);
  });

  it('kafka-topics', async () => {
    const create = '--create --topic tools --partitions 3 --replication-factor 1 --config retention.ms=3600000';
    expect(await tools.ok('TopicCommand', create)).toBe('Created topic tools.\n');
    expect(await tools.refused('TopicCommand', create)).toContain('topic tools exists already');
    await tools.ok('TopicCommand', '--create --topic tools --if-not-exists');
    const refused = (flags: string) => tools.refused('TopicCommand', `--create --topic bad ${flags}`);
    expect(await refused('--config cleanup.policy=compact')).toContain('cleanup.policy: compaction is not built yet');
    expect(await refused('--replication-factor 3')).toContain('replication factor 3');

    await tools.ok('TopicCommand', '--alter --topic tools --partitions 4');
    expect(await tools.refused('TopicCommand', '--alter --topic tools --partitions 2')).toContain('4 partitions');
    expect(await tools.ok('TopicCommand', '--list')).toBe('tools\n');
    const described = await tools.ok('TopicCommand', '--describe --topic tools');
    expect(described).toMatch(/PartitionCount: 4\tReplicationFactor: 1\tConfigs: retention.ms=3600000\n/);
    expect(described.match(/Partition: \d\tLeader: 0\tReplicas: 0\tIsr: 0/g)).toHaveLength(4);
    expect(await tools.ok('TopicCommand', '--describe --unavailable-partitions')).toBe('');
  });

  it('kafka-configs', async () => {
    const topic = '--entity-type topics --entity-name tools';
    const describeTopic = () => tools.ok('ConfigCommand', `--describe ${topic}`);
    await tools.ok(
      'ConfigCommand',
      `--alter ${topic} --add-config max.message.bytes=200000,retention.bytes=1000000000`,
    );
    expect(await describeTopic()).toContain(
      'DYNAMIC_TOPIC_CONFIG:max.message.bytes=200000, DEFAULT_CONFIG:message.max.bytes',
    );
    await tools.ok('ConfigCommand', `--alter ${topic} --delete-config max.message.bytes`);
    const left = await describeTopic();
    expect(left).not.toContain('max.message.bytes');
    expect(left).toContain('retention.bytes=1000000000');
    expect(await tools.ok('ConfigCommand', `--describe ${topic} --all`)).toContain('segment.bytes=1073741824');
    expect(await tools.refused('ConfigCommand', `--alter ${topic} --add-config retention.mss=1`)).toContain(
      'retention.mss',
    );

    const group = '--entity-type groups --entity-name tools';
    await tools.ok('ConfigCommand', `--alter ${group} --add-config consumer.session.timeout.ms=50000`);
    expect(await tools.ok('ConfigCommand', `--describe ${group}`)).toContain('consumer.session.timeout.ms=50000');
    expect(
      await tools.refused('ConfigCommand', `--alter ${group} --add-config consumer.session.timeout.ms=1`),
    ).toContain('consumer.session.timeout.ms');

    const all = '--entity-type brokers --entity-default';
    await tools.ok('ConfigCommand', `--alter ${all} --add-config log.retention.ms=7200000`);
    const broker0 = await tools.ok('ConfigCommand', '--describe --entity-type brokers --entity-name 0 --all');
    expect(broker0).toContain('DYNAMIC_DEFAULT_BROKER_CONFIG:log.retention.ms=7200000');
    await tools.ok('ConfigCommand', `--alter ${all} --delete-config log.retention.ms`);
    expect(await tools.ok('ConfigCommand', `--describe ${all}`)).not.toContain('log.retention.ms');
  });

  it.each([
    ['classic', 'none'],
    ['consumer', 'zstd'],
  ])('kafka-console-producer and -consumer (%s, %s)', async (protocol, codec) => {
    const topic = `console-${protocol}`;
    await tools.ok('TopicCommand', `--create --topic ${topic} --partitions 1`);
    const texts = Array.from({ length: CONSOLE_RECORDS }, (_, i) => [`name:${i}`, `key-${i % 7}`, `värde ${i}`]);
    const input = texts.map(([header, key, value]) => `${header}\t${key}\t${value}\n`).join('');
    const reader = ['parse.key', 'parse.headers'].map((name) => `--reader-property ${name}=true`).join(' ');
    await tools.ok('ConsoleProducer', `--topic ${topic} --compression-codec ${codec} ${reader}`, input);

    const print = ['key', 'headers', 'offset', 'partition']
      .map((name) => `--formatter-property print.${name}=true`)
      .join(' ');
    const group = `--group ${topic} --command-property group.protocol=${protocol}`;
    const read = (flags: string) => tools.ok('consumer.ConsoleConsumer', `--topic ${topic} ${group} ${print} ${flags}`);
    const half = CONSOLE_RECORDS / 2;
    const expected = texts.map((cells, offset) => ['Partition:0', `Offset:${offset}`, ...cells].join('\t'));
    expect(lines(await read(`--from-beginning --max-messages ${half} --timeout-ms 30000`))).toEqual(
      expected.slice(0, half),
    );
    // What the group has committed is where it goes on.
    expect(lines(await read(`--max-messages ${half} --timeout-ms 30000`))).toEqual(expected.slice(half));
  });

  it('kafka-producer-perf-test and kafka-consumer-perf-test', async () => {
    const flags = `--topic tools --num-records ${PERF_RECORDS}`;
    const written = await tools.ok(
      'ProducerPerformance',
      `${flags} --record-size 100 --throughput -1 --command-property compression.type=lz4`,
    );
    expect(lines(written).at(-1)).toMatch(new RegExp(`^${PERF_RECORDS} records sent, `));
    const read = await tools.ok('ConsumerPerformance', `${flags} --timeout 30000 --group perf`);
    const [names, values] = lines(read).map((line) => line.split(', '));
    expect(values![names!.indexOf('data.consumed.in.nMsg')]).toBe(String(PERF_RECORDS));
  });

  /** Partition → offset. */
  const offsets = async (flags: string): Promise<number[]> =>
    lines(await tools.ok('GetOffsetShell', `--topic tools ${flags}`)).map((line) => Number(line.split(':')[2]));

  it('kafka-get-offsets and kafka-delete-records', async () => {
    const latest = await offsets('');
    expect(latest.reduce((sum, offset) => sum + offset, 0)).toBe(PERF_RECORDS);
    expect(await offsets('--time earliest')).toEqual([0, 0, 0, 0]);
    expect((await offsets('--time max-timestamp')).every((offset, i) => offset >= 0 && offset < latest[i]!)).toBe(true);

    const file = join(folder, 'offsets.json');
    const partitions = [
      { topic: 'tools', partition: 0, offset: 3 },
      { topic: 'tools', partition: 1, offset: -1 },
    ];
    writeFileSync(file, JSON.stringify({ partitions, version: 1 }));
    const deleted = await tools.ok('DeleteRecordsCommand', `--offset-json-file ${file}`);
    expect(deleted).toContain('partition: tools-0\tlow_watermark: 3\n');
    expect(deleted).toContain(`partition: tools-1\tlow_watermark: ${latest[1]}\n`);
    expect(await offsets('--time earliest')).toEqual([3, latest[1], 0, 0]);
  });

  it('kafka-consumer-groups and kafka-groups', async () => {
    const latest = await offsets('');
    expect(lines(await tools.ok(GROUPS, '--list')).sort()).toEqual(['console-classic', 'console-consumer', 'perf']);
    expect(rows(await tools.ok(GROUPS, '--describe --group perf --state'), 'perf')[0]!.at(-2)).toBe('Empty');
    const described = async () => rows(await tools.ok(GROUPS, '--describe --group perf'), 'perf').sort();
    expect((await described()).map((row) => row.slice(2, 6))).toEqual(
      latest.map((end, i) => [`${i}`, `${end}`, `${end}`, '0']),
    );

    const reset = '--reset-offsets --group perf --topic tools';
    await tools.ok(GROUPS, `${reset} --to-earliest --dry-run`);
    expect((await described()).map((row) => Number(row[3]))).toEqual(latest);
    await tools.ok(GROUPS, `${reset} --to-earliest --execute`);
    expect((await described()).map((row) => Number(row[3]))).toEqual([3, latest[1], 0, 0]);
    await tools.ok(GROUPS, `${reset}:2 --shift-by 7 --execute`);
    await tools.ok(GROUPS, '--delete-offsets --group perf --topic tools:3');
    expect((await described()).map((row) => row.slice(2, 4))).toEqual([
      ['0', '3'],
      ['1', `${latest[1]}`],
      ['2', '7'],
    ]);

    expect(rows(await tools.ok('GroupsCommand', '--list'), 'console-consumer')[0]!.slice(1)).toEqual([
      'Consumer',
      'consumer',
    ]);
    await tools.ok(GROUPS, '--delete --group perf');
    expect(lines(await tools.ok(GROUPS, '--list')).sort()).toEqual(['console-classic', 'console-consumer']);
  });

  it('kafka-log-dirs, kafka-leader-election, kafka-acls', async () => {
    const [json] = lines(await tools.ok('LogDirsCommand', '--describe --topic-list tools')).slice(-1);
    const { brokers } = JSON.parse(json!) as {
      brokers: { logDirs: { partitions: { partition: string; size: number }[] }[] }[];
    };
    const sizes = new Map(brokers[0]!.logDirs[0]!.partitions.map(({ partition, size }) => [partition, size]));
    expect([...sizes.keys()].sort()).toEqual(['tools-0', 'tools-1', 'tools-2', 'tools-3']);
    expect(sizes.get('tools-1')).toBe(0);
    expect(sizes.get('tools-2')).toBeGreaterThan(0);
    await tools.ok('LeaderElectionCommand', '--election-type preferred --all-topic-partitions');
    expect(await tools.refused('AclCommand', '--list')).toContain('SecurityDisabledException');
  });

  it('kafka-topics --delete', async () => {
    await tools.ok('TopicCommand', '--delete --topic tools');
    expect(await tools.refused('TopicCommand', '--describe --topic tools')).toContain("Topic 'tools' does not exist");
    expect(lines(await tools.ok('TopicCommand', '--list')).sort()).toEqual(['console-classic', 'console-consumer']);
  });
});
