/**
 * The two brokers of the host bench, each a process of its own with a data folder of its own under /tmp, on loopback: Shoal
 * as `npm start` runs it, and Apache Kafka as a single KRaft node. Whoever starts one stops it, which removes its folder.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { HostProcess, root } from '../../test/server/host-process.ts';
import { freePorts } from '../../test/support/free-ports.ts';
import type { KafkaJars } from './kafka-jars.ts';

export interface MeasuredServer {
  readonly name: string;
  /** HOST:PORT */
  readonly address: string;
  readonly admin: Admin;
  /** From the start of the process until a client was connected, milliseconds; retries make it coarse by half a second. */
  readonly readyMs: number;
  /** User and system time of the process so far, in seconds. */
  cpuSeconds(): number;
  /** The most memory that it ever had resident, in bytes. */
  peakMemoryBytes(): number;
  stop(): Promise<void>;
}

/** Of a clock tick in /proc/PID/stat, on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** `npm start` without npm: `exec node … dist/cli.js serve`. */
function startCommand(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } };
  const [, , ...args] = scripts.start.split(' ');
  return [process.execPath, ...args];
}

export async function startShoal(): Promise<MeasuredServer> {
  const data = await mkdtemp(join(tmpdir(), 'shoal-bench-host-'));
  const flags = ['--auto-create-topics', 'false', '--log-level', 'error'];
  const startMs = performance.now();
  const host = await HostProcess.start({ data, command: startCommand(), flags });
  return measured('Shoal', host.address, host.child, startMs, async () => {
    await host.stop('SIGTERM');
    await rm(data, { recursive: true, force: true });
  });
}

export async function startKafka(jars: KafkaJars): Promise<MeasuredServer> {
  const folder = await mkdtemp(join(tmpdir(), 'shoal-bench-kafka-'));
  const [port, controllerPort] = await freePorts(2);
  const address = `127.0.0.1:${port}`;
  const settings = join(folder, 'server.properties');
  writeFileSync(settings, kafkaProperties(folder, address, `127.0.0.1:${controllerPort}`));
  const format = jars.command('kafka.tools.StorageTool', '128m');
  await promisify(execFile)('java', [...format, 'format', '-t', 'c2hvYWwtYmVuY2gtaG9zdA', '-c', settings]);
  const startMs = performance.now();
  const child = spawn('java', [...jars.command('kafka.Kafka', '1g'), settings], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return await measured(`Apache Kafka ${jars.version}`, address, child, startMs, stop);
  } catch (error) {
    await stop();
    throw new Error(`Apache Kafka did not start: ${error}\n${Buffer.concat(said)}`);
  }
}

/** What Kafka's own config/server.properties sets, for one node; and no wait before a group's first rebalance, as ours. */
function kafkaProperties(folder: string, address: string, controller: string): string {
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@${controller}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://${address},CONTROLLER://${controller}`,
    'advertised.listeners': `PLAINTEXT://${address}`,
    'log.dirs': join(folder, 'data'),
    'num.network.threads': '3',
    'num.io.threads': '8',
    'socket.send.buffer.bytes': '102400',
    'socket.receive.buffer.bytes': '102400',
    'auto.create.topics.enable': 'false',
    'group.initial.rebalance.delay.ms': '0',
    'offsets.topic.replication.factor': '1',
    'offsets.topic.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

async function measured(
  name: string,
  address: string,
  { pid }: ChildProcess,
  startMs: number,
  stop: () => Promise<void>,
): Promise<MeasuredServer> {
  if (!existsSync(`/proc/${pid}/stat`)) throw new Error('the CPU time of a process is read from /proc, as on Linux');
  const retry = { retries: 60, initialRetryTime: 100, maxRetryTime: 500 };
  const admin = new Kafka({ clientId: 'bench', brokers: [address], logLevel: logLevel.NOTHING, retry }).admin();
  await admin.connect();
  return {
    name,
    address,
    admin,
    readyMs: performance.now() - startMs,
    cpuSeconds: () => {
      // After the command's name, which may hold spaces; utime and stime are fields 14 and 15.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
    peakMemoryBytes: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024,
    stop: async () => {
      await admin.disconnect();
      await stop();
    },
  };
}
