/** The built command, as a person meets it: starting, refusing, stopping. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetch } from '../../src/protocol/messages/fetch.ts';
import { metadata } from '../../src/protocol/messages/metadata.ts';
import { produce } from '../../src/protocol/messages/produce.ts';
import { parseEndpoint } from '../../src/server/listener.ts';
import { HostProcess, root } from '../server/host-process.ts';
import { WireClient } from '../server/wire-client.ts';
import { plainBatch } from '../support/record-batches.ts';
import { shoal as inThisProcess } from './support/run-shoal.ts';

let folder: string;
const hosts: HostProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shoal-cli-'));
});
afterEach(async () => {
  for (const host of hosts.splice(0)) await host.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

const data = () => join(folder, 'data');

async function start(options: Partial<Parameters<typeof HostProcess.start>[0]> = {}): Promise<HostProcess> {
  const host = await HostProcess.start({ data: data(), ...options });
  hosts.push(host);
  return host;
}

/** Runs the built command to its end. */
function shoal(...args: string[]) {
  const options = { cwd: root, encoding: 'utf8', timeout: 45_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/cli.js', ...args], options);
  return { status, stdout, stderr };
}

/** Runs a command that refuses, in this process: its exit code and what it printed. */
async function refused(...args: string[]) {
  const { code, out, err } = await inThisProcess(...args);
  return { status: code, stdout: out, stderr: err };
}

const serve = (...flags: string[]) => refused('serve', '--data', data(), '--listen', '127.0.0.1:0', ...flags);
const connect = (host: HostProcess) => WireClient.connect(parseEndpoint(host.address));

describe('shoal', () => {
  it('prints its version and what it can do', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(shoal('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
    expect(shoal('--help')).toMatchObject({ status: 0, stderr: '' });
    expect(shoal('--help').stdout).toContain('serve');
    expect(shoal('serve', '--help').stdout).toContain('--advertised-listener HOST:PORT');
  });

  it.each([
    [[], 'shoal: a command is needed\nshoal --help shows how\n'],
    [['serv'], 'shoal: unknown command serv; did you mean serve?\nshoal --help shows how\n'],
    [['serve', '--prot', '1'], 'shoal: unknown flag --prot\nshoal serve --help shows how\n'],
    [
      ['serve', '--listen', 'nowhere'],
      'shoal: --listen: "nowhere" is not HOST:PORT, for example 127.0.0.1:9092 or [::1]:9092\nshoal serve --help shows how\n',
    ],
    [
      ['serve', '--node-id', '-1'],
      'shoal: --node-id is "-1"; an integer from 0 to 2147483647 is needed\nshoal serve --help shows how\n',
    ],
    [
      ['serve', '--node-id', '--insecure'],
      'shoal: --node-id needs a value: --node-id N\nshoal serve --help shows how\n',
    ],
    [
      ['serve', '--node-id=x'],
      'shoal: --node-id is "x"; an integer from 0 to 2147483647 is needed\nshoal serve --help shows how\n',
    ],
    [
      ['serve', '--listen', '127.0.0.1:0', '--storage', 'gs://user:secret@b'],
      'shoal: --storage gs://…: not known; s3://BUCKET/PREFIX or a folder is\nshoal serve --help shows how\n',
    ],
  ])('refuses %j with exit code 2 and a way on', async (args, stderr) => {
    const withData = args[0] === 'serve' ? [...args, '--data', data()] : args;
    expect(await refused(...withData)).toEqual({ status: 2, stdout: '', stderr });
  });

  it('passes its exit code on', () => {
    expect(shoal('serv')).toMatchObject({ status: 2, stdout: '' });
  });
});

describe('shoal serve', () => {
  it('says what it serves, where the data lies and how to connect', async () => {
    const host = await start({
      flags: ['--advertised-listener', 'broker.example:0', '--node-id', '4'],
      env: { SHOAL_RACK: 'r7' },
    });
    const { port } = parseEndpoint(host.address);
    expect(host.output).toContain(`serves Kafka clients at broker.example:${port}\n`);
    expect(host.output).toContain(join(data(), 'segments'));
    expect(host.output).toContain(join(data(), 'coordinator.db'));
    expect(host.output).toContain(`kcat -b broker.example:${port}`);
    expect(host.output).not.toContain('\u001b[');
    const client = await connect(host);
    const { brokers, clusterId } = await client.call(metadata, 9, { topics: [] });
    expect(brokers).toEqual([{ nodeId: 4, host: 'broker.example', port, rack: 'r7' }]);
    const manifest = JSON.parse(readFileSync(join(data(), 'shoal.json'), 'utf8')) as { clusterId: string };
    expect(clusterId).toBe(manifest.clusterId);
    client.socket.destroy();
  });

  it('refuses a folder that another process holds, and names it; takes it over when that was killed', async () => {
    const first = await start();
    const { status, stdout, stderr } = await serve();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^shoal: .*coordinator\.db is in use by another process; stop it first .*\n$/);
    expect(stderr).toContain(`(it is held by process ${first.child.pid})`);
    expect(await first.stop('SIGKILL')).toBe('SIGKILL');
    const second = await start();
    expect(await second.stop('SIGTERM')).toBe(0);
    expect(readdirSync(data())).not.toContain('shoal.pid');
  });

  it('refuses a port that is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as { port: number };
    const answer = await refused('serve', '--data', data(), '--listen', `127.0.0.1:${port}`);
    other.close();
    expect(answer).toMatchObject({ status: 1, stdout: '' });
    expect(answer.stderr).toBe(
      `shoal: cannot listen on 127.0.0.1:${port}: the port is in use; stop what listens there, or choose another port (0 takes a free one)\n`,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it('refuses to be reachable by others without --insecure', async () => {
    const answer = await refused('serve', '--data', data(), '--listen', '0.0.0.0:0', '--advertised-listener', 'me:0');
    expect(answer).toMatchObject({ status: 1, stdout: '' });
    expect(answer.stderr).toMatch(/^shoal: 0\.0\.0\.0:0 can be reached by others.*--insecure.*\n$/);
  });

  it.each([
    [
      'a newer folder',
      'shoal.json',
      '{"formatVersion":9,"writtenBy":"9.0.0"}',
      'has data format 9, written by Shoal 9.0.0',
    ],
    ['a folder of something else', 'notes.txt', 'mine', 'holds other things (notes.txt)'],
  ])('refuses %s and touches nothing', async (_name, file, content, reason) => {
    writeFileSync(join(folder, file), content);
    const answer = await refused('serve', '--data', folder, '--listen', '127.0.0.1:0');
    expect(answer).toMatchObject({ status: 1, stdout: '' });
    expect(answer.stderr).toContain(reason);
    expect(answer.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(readdirSync(folder)).toEqual([file]);
    expect(readFileSync(join(folder, file), 'utf8')).toBe(content);
  });

  it('refuses a database that is none, one of another cluster, and a folder it cannot make', async () => {
    await (await start()).stop('SIGTERM');
    const database = join(data(), 'coordinator.db');
    const manifest = join(data(), 'shoal.json');
    const kept = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, kept.replace(/"clusterId": "[^"]*"/, '"clusterId": "4Xy1bQFzQ6a3n5r1l2k3Jg"'));
    expect((await serve()).stderr).toMatch(/^shoal: .* belongs to cluster .*restore both from the same backup\n$/);
    writeFileSync(manifest, kept);
    writeFileSync(database, 'not a database at all, but long enough to be looked at'.repeat(10));
    const answer = await serve();
    expect(answer).toMatchObject({ status: 1, stdout: '' });
    expect(answer.stderr).toMatch(/^shoal: .*coordinator\.db is not a SQLite database.*\n$/);
    const asFile = await refused('serve', '--data', data(), '--coordinator', folder, '--listen', '127.0.0.1:0');
    expect(asFile.stderr).toBe(`shoal: ${folder} is a folder; --coordinator names a SQLite file, or postgres://…\n`);
    const through = await refused('serve', '--data', join(database, 'sub'), '--listen', '127.0.0.1:0');
    expect(through.stderr).toMatch(/^shoal: cannot use .* as data folder: a part of the path is a file.*\n$/);
  });

  it('refuses segments without the database that knows them, and touches nothing', async () => {
    await (await start()).stop('SIGTERM');
    const database = join(data(), 'coordinator.db');
    rmSync(database);
    const restarted = await start();
    await restarted.stop('SIGTERM');
    mkdirSync(join(data(), 'segments', 'segments'));
    for (const [state, make] of [
      ['empty', () => writeFileSync(database, '')],
      ['missing', () => rmSync(database)],
    ] as const) {
      make();
      const held = readdirSync(data());
      const answer = await serve();
      expect(answer).toMatchObject({ status: 1, stdout: '' });
      expect(answer.stderr).toMatch(
        new RegExp(`^shoal: .*coordinator\\.db is ${state}, but there are segments in .*restore it.*\\n$`),
      );
      expect(readdirSync(data())).toEqual(held);
    }
  });

  it('refuses segments of which a coordinator without topics knows none', async () => {
    const [storage, other] = [join(folder, 'storage'), join(folder, 'other')];
    const flags = ['--storage', storage, '--listen', '127.0.0.1:0'];
    const host = await start({ flags: ['--storage', storage] });
    const partitionData = [{ index: 0, records: [plainBatch(3, 10)] }];
    const client = await connect(host);
    await client.call(metadata, 9, { topics: [{ name: 't' }] });
    await client.call(produce, 9, { acks: -1, timeoutMs: 30_000, topicData: [{ name: 't', partitionData }] });
    await host.stop('SIGTERM');
    const held = readdirSync(storage, { recursive: true });
    const answer = await refused('serve', '--data', other, ...flags);
    expect(answer).toMatchObject({ status: 1, stdout: '' });
    expect(answer.stderr).toMatch(
      /^shoal: the storage holds segments \(segments\/.* knows neither them nor any topic.*\n$/,
    );
    expect(readdirSync(storage, { recursive: true })).toEqual(held);
    await (await start({ flags: ['--storage', storage] })).stop('SIGTERM');
  });

  it.runIf(existsSync('/proc/self'))('ends where no folder can be made', () => {
    for (const flag of ['--data', '--storage'] as const) {
      const rest = flag === '--data' ? [] : ['--data', data()];
      const answer = shoal('serve', '--listen', '127.0.0.1:0', flag, '/proc/shoal/a', ...rest);
      expect(answer).toMatchObject({ status: 1, stdout: '' });
      expect(answer.stderr).toMatch(/^shoal: cannot use .*\/proc\/shoal\/a as .*\n$/);
    }
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s to npm start drains: what was sent is stored and answered',
    async (signal) => {
      const host = await start({ command: ['npm', 'start', '--'] });
      const client = await connect(host);
      await client.call(metadata, 9, { topics: [{ name: 't' }] });
      const partitionData = [{ index: 0, records: [plainBatch(3, 10)] }];
      const answer = client.call(produce, 9, {
        acks: -1,
        timeoutMs: 30_000,
        topicData: [{ name: 't', partitionData }],
      });
      // The answer to a request behind it on another connection tells that it was read.
      await (await connect(host)).call(metadata, 9, { topics: [] });
      expect(await host.stop(signal)).toBe(0);
      expect((await answer).responses[0]!.partitionResponses).toMatchObject([{ errorCode: 0, baseOffset: 0n }]);
      expect(host.output).toContain('draining; a second signal aborts');
      const again = await start();
      const topics = [{ topic: 't', partitions: [{ partition: 0, fetchOffset: 0n, partitionMaxBytes: 1 << 20 }] }];
      const { responses } = await (await connect(again)).call(fetch, 11, { maxWaitMs: 0, minBytes: 0, topics });
      expect(responses[0]!.partitions[0]!.highWatermark).toBe(3n);
    },
  );

  it('a second signal aborts a drain that takes too long', async () => {
    const host = await start();
    const client = await connect(host);
    await client.call(metadata, 9, { topics: [{ name: 't' }] });
    for (let i = 0; i < 24; i++) {
      const partitionData = [{ index: 0, records: [plainBatch(9, 100_000)] }];
      client.send(produce, 9, { acks: -1, timeoutMs: 30_000, topicData: [{ name: 't', partitionData }] });
    }
    for (let i = 0; i < 24; i++) await client.nextFrame();
    // A client that takes its answer slowly is waited for.
    client.socket.pause();
    const topics = [{ topic: 't', partitions: [{ partition: 0, fetchOffset: 0n, partitionMaxBytes: 1 << 28 }] }];
    client.send(fetch, 11, { maxWaitMs: 0, minBytes: 0, topics });
    await (await connect(host)).call(fetch, 11, { maxWaitMs: 0, minBytes: 0, topics });
    host.child.kill('SIGTERM');
    while (!host.output.includes('draining')) await new Promise((resolve) => setTimeout(resolve, 10));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(host.child.exitCode).toBeNull();
    expect(await host.stop('SIGTERM')).toBe(1);
    expect(host.output).toContain('shoal: aborted');
    client.socket.destroy();
  });
});

describe('shoal serve --admin-listen', () => {
  const adminOf = ({ output }: HostProcess): string => /admin +(http:\/\/[\d.:]+)\/metrics/.exec(output)![1]!;

  it('tells metrics and health', async () => {
    const host = await start({ flags: ['--admin-listen', '127.0.0.1:0'] });
    const client = await connect(host);
    await client.call(metadata, 9, { topics: [{ name: 't' }] });
    client.socket.destroy();
    const page = async (path: string) => {
      const response = await globalThis.fetch(`${adminOf(host)}${path}`);
      return [response.status, await response.text()] as const;
    };
    expect(await page('/livez')).toEqual([200, 'engine: ok\n']);
    expect(await page('/readyz')).toEqual([200, 'engine: ok\ncoordinator: ok\nstorage: ok\n']);
    const [status, metrics] = await page('/metrics');
    expect(status).toBe(200);
    for (const line of [
      /^kafka_network_requestmetrics_requests_total\{request="Metadata",version="9"\} 1$/m,
      /^diskless_coordinator_operation_duration_seconds_count\{operation="createTopics"\} 1$/m,
      /^process_resident_memory_bytes \d+$/m,
      /^nodejs_eventloop_lag_seconds\{quantile="0.99"\} [\d.e-]+$/m,
    ]) {
      expect(metrics).toMatch(line);
    }
    expect(await host.stop('SIGTERM')).toBe(0);
  });

  it('is refused where others could reach it, without --insecure', async () => {
    const { status, stderr } = await serve('--admin-listen', '0.0.0.0:0');
    expect(status).toBe(1);
    expect(stderr).toContain('0.0.0.0:0 can be reached by others');
    expect(existsSync(data())).toBe(false);
  });
});

it('ends with an error when the engine has failed for good, instead of staying up unusable', async () => {
  const preload = join(root, 'test/cli/support/end-first-thread.js');
  const host = await start({ command: [process.execPath, '--import', preload, 'dist/cli.js', 'serve'] });
  const client = await connect(host);
  await client.call(metadata, 9, { topics: [{ name: 't' }] });
  expect(await host.stop('SIGUSR2')).toBe(1);
  expect(host.output).toContain(
    "shoal: the engine has failed: the coordinator's thread has ended; what was acknowledged",
  );
  await client.closed;
  const again = await start();
  const after = await connect(again);
  expect((await after.call(metadata, 9, { topics: [] })).clusterId).toBeTruthy();
  after.socket.destroy();
});

it('refuses a data folder whose segments are gone, unless nothing was in them', async () => {
  const segments = join(data(), 'segments');
  const first = await start();
  const client = await connect(first);
  await client.call(metadata, 9, { topics: [{ name: 't' }] });
  await first.stop('SIGTERM');
  rmSync(segments, { recursive: true });

  const second = await start();
  const producer = await connect(second);
  const partitionData = [{ index: 0, records: [plainBatch(1, 10, { baseTimestamp: BigInt(Date.now()) })] }];
  await producer.call(produce, 9, { acks: -1, timeoutMs: 10_000, topicData: [{ name: 't', partitionData }] });
  await second.stop('SIGTERM');
  for (const empty of [false, true]) {
    rmSync(segments, { recursive: true });
    if (empty) mkdirSync(segments);
    const { status, stderr } = await serve();
    expect(status).toBe(1);
    expect(stderr).toContain(`${segments} is missing or empty, but`);
    expect(stderr.split('\n')).toHaveLength(2);
    mkdirSync(segments, { recursive: true });
  }
});
