/** `shoal serve`: storage, coordinator, engine and broker host in one process, until a signal. Owns and closes all four. */
import pino from 'pino';
import { DisposalStack } from '../common/lifecycle.ts';
import type { Logger } from '../common/logger.ts';
import { MetricsRegistry } from '../common/metrics-registry.ts';
import { registryMeter } from '../common/registry-meter.ts';
import { systemTime } from '../common/time.ts';
import type { DisklessEngine } from '../engine/diskless-engine.ts';
import { openEngine } from '../engine/engine.ts';
import { type AdminServer, type AdminServerOptions, startAdminServer } from '../server/admin-server.ts';
import type { Endpoint } from '../server/broker.ts';
import { HostHealth } from '../server/host-health.ts';
import { type KafkaServer, startKafkaServer } from '../server/kafka-server.ts';
import { checkListener, ListenError, tryListener } from '../server/listener.ts';
import { observeProcess } from '../server/process-metrics.ts';
import { CliError, type Command, UsageError } from './command.ts';
import { type Components, isUrl, openComponents } from './components.ts';
import { endpointFlag } from './endpoint-flag.ts';
import { describeFlags, type FlagValues, parseFlags } from './flags.ts';
import { refuseForeignSegments } from './foreign-segments.ts';
import { greeting } from './greeting.ts';
import { say } from './output.ts';
import { onStopSignals } from './signals.ts';
import { packageVersion } from './version.ts';

const flags = {
  listen: {
    value: 'HOST:PORT',
    help: 'Where to accept Kafka clients; port 0 takes a free one.',
    defaultText: '127.0.0.1:9092',
  },
  'advertised-listener': {
    value: 'HOST:PORT',
    help: 'Where clients are told to connect, when that is another address than --listen (a container, a proxy).',
  },
  data: {
    value: 'FOLDER',
    help: 'The data folder: made when it is missing, used by one process at a time.',
    defaultText: './shoal-data',
  },
  storage: {
    value: 'URL',
    help:
      'Where segments are stored: a folder, or s3://BUCKET/PREFIX?endpoint=URL&region=NAME&path-style=true. ' +
      'Credentials come from where AWS tools look for them.',
    defaultText: 'segments/ in the data folder',
  },
  coordinator: {
    value: 'URL',
    help: 'What gives records their offsets: a SQLite file for one broker, or postgres://USER@HOST/DATABASE for many.',
    defaultText: 'coordinator.db in the data folder',
  },
  'node-id': { value: 'N', help: "This broker's id, different for every broker of a cluster.", defaultText: '0' },
  rack: { value: 'NAME', help: 'The rack or zone that this broker is in.' },
  'num-partitions': { value: 'N', help: 'Partitions of a topic that is made without a number.', defaultText: '1' },
  'auto-create-topics': {
    value: 'true|false',
    help: 'Whether a topic is made when a client first asks for it.',
    defaultText: 'true',
  },
  'commit-interval-ms': {
    value: 'N',
    help:
      'How long a segment waits for more records before it is stored. Longer makes fewer objects, which S3 counts; ' +
      'shorter answers producers sooner.',
    defaultText: '250 with S3, 10 with a folder',
  },
  'admin-listen': {
    value: 'HOST:PORT',
    help: 'Where to answer GET /metrics (Prometheus), /livez and /readyz; port 0 takes a free one.',
    defaultText: 'nowhere',
  },
  insecure: {
    help: 'Allow --listen and --admin-listen on an address that others can reach. There is no encryption and no authentication yet.',
  },
  'log-level': {
    value: 'LEVEL',
    help: 'debug, info, warn or error. Logs are JSON lines on standard error.',
    defaultText: 'info',
  },
} as const;

type ServeFlags = FlagValues<typeof flags>;

const help = `Usage: shoal serve [flags]

Runs a broker that any Kafka client can use. Topics lie in object storage; any
broker of a cluster serves any partition. Prints "ready HOST:PORT" on standard
output when it accepts clients. SIGINT or SIGTERM drains: what was accepted is
stored and answered, then it ends. A second one aborts.

Without flags everything lies in ./shoal-data, and clients connect to
127.0.0.1:9092:

  kcat -b 127.0.0.1:9092 -t greetings -P

Flags (the name in parentheses is the variable that means the same):
${describeFlags(flags)}
`;

export const command: Command = {
  help,
  run: (args) => serve(readOptions(parseFlags(flags, args, process.env))),
};

const DRAIN_TIMEOUT_MS = 30_000;
const GIVE_UP_TIMEOUT_MS = 5_000;
/**
 * KIP-1163's 250 ms weighs the price of a PUT against latency; a folder has no price. A producer with Kafka's defaults
 * has five requests of 16 KiB in flight, so that 250 ms bound it to 0.3 MB/s, and one that waits for each answer to four
 * sends a second. The other side is up to a hundred small objects a second under a trickle.
 */
const FOLDER_COMMIT_INTERVAL_MS = 10;
const PRICED_COMMIT_INTERVAL_MS = 250;

async function serve(options: ServeOptions): Promise<number> {
  const opened = new DisposalStack();
  const { stop, close } = onStopSignals(() => systemTime.monotonicMs(), abort);
  opened.use(close, (leave) => leave());
  try {
    const host = await open(options, opened);
    await say(greeting({ ...host, version: packageVersion(), colours: usesColours(process.stdout) }));
    const failure = await Promise.race([stop, failureOf(host.engine)]);
    host.health.stopping();
    if (failure) return await giveUp(failure, host, opened);
    await say('draining; a second signal aborts\n');
  } catch (error) {
    await opened.dispose();
    throw error instanceof ListenError ? new CliError(error.message) : error;
  }
  // In the reverse order of opening: clients first, so that what they were promised is stored.
  await opened.dispose();
  return 0;
}

function failureOf({ failed }: DisklessEngine): Promise<Error> {
  return new Promise((resolve) => {
    const onFailed = (): void => resolve(failed.reason as Error);
    if (failed.aborted) onFailed();
    else failed.addEventListener('abort', onFailed, { once: true });
  });
}

/**
 * The engine takes no more appends and never will: whoever supervises the process may start another. Nothing is drained,
 * for what is under way cannot be committed any more.
 */
async function giveUp(failure: Error, { server, engine }: Host, opened: DisposalStack): Promise<number> {
  process.stderr.write(
    `shoal: the engine has failed: ${failure.message}; what was acknowledged is stored, start the broker again\n`,
  );
  systemTime.setTimer(GIVE_UP_TIMEOUT_MS, abort);
  await server.destroy();
  await engine.destroy(failure);
  await opened.dispose();
  return 1;
}

/** As after kill −9: what was acknowledged is stored, what was not is not promised. */
function abort(): void {
  process.stderr.write('shoal: aborted\n');
  process.exit(1);
}

/** What waits for standard error at most, characters; newer lines are dropped then. */
const LOG_BACKLOG = 1024 * 1024;

/**
 * Lines that cannot be written, because the log's disk is full, wait for the next ones; a broker does not end with its
 * log.
 */
function openLog(level: string): Logger {
  const destination = pino.destination({ fd: 2, sync: true, maxLength: LOG_BACKLOG });
  destination.on('error', () => {});
  return pino({ level }, destination);
}

interface Host {
  readonly server: KafkaServer;
  readonly engine: DisklessEngine;
  readonly components: Components;
  readonly health: HostHealth;
  readonly admin: AdminServer | undefined;
}

async function open(options: ServeOptions, opened: DisposalStack): Promise<Host> {
  // Before anything on disk is made for a server that will not start.
  checkListener(options.listen, options.advertisedListener, options.insecure);
  await tryListener(options.listen);
  const logger = openLog(options.logLevel);
  const health = new HostHealth(systemTime);
  const metrics = new MetricsRegistry();
  // First and so closed last: a host that starts or drains can be seen doing it.
  const admin = await openAdmin(options, { metrics, health, logger }, opened);
  const components = opened.use(await openComponents({ ...options, logger }), (one) => one.close());
  await refuseForeignSegments(components);
  const { nodeId, numPartitions, rack, insecure, advertisedListener } = options;
  const engine = opened.use(
    await openEngine(
      { ...components, logger, meter: registryMeter(metrics) },
      { nodeId, numPartitions, produceCommitIntervalMs: options.commitIntervalMs },
    ),
    // By now no client waits for an answer. A storage that is down must not keep the process for ever.
    (one) => one.close({ timeoutMs: DRAIN_TIMEOUT_MS }),
  );
  const server = opened.use(
    await startKafkaServer(engine, {
      coordinator: components.coordinator,
      listen: options.listen,
      ...(advertisedListener && { advertisedListener }),
      ...(rack !== undefined && { rack }),
      insecure,
      nodeId,
      settings: { numPartitions, autoCreateTopicsEnable: options.autoCreateTopics },
      logger,
      metrics,
    }),
    (one) => one.close({ timeoutMs: DRAIN_TIMEOUT_MS }),
  );
  const { coordinator, objectStorage } = components;
  health.started({ engine, coordinator, probeStorage: (signal) => objectStorage.head(PROBE_KEY, { signal }) });
  return { server, engine, components, health, admin };
}

/** An object that need not exist. */
const PROBE_KEY = 'shoal-readiness-probe';

async function openAdmin(
  { adminListen, insecure }: ServeOptions,
  parts: Pick<AdminServerOptions, 'metrics' | 'health'> & { readonly logger: Logger },
  opened: DisposalStack,
): Promise<AdminServer | undefined> {
  if (!adminListen) return undefined;
  opened.use(observeProcess(parts.metrics, systemTime), (end) => end());
  return opened.use(await startAdminServer({ ...parts, listen: adminListen, insecure }), (one) => one.close());
}

function usesColours(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !process.env.NO_COLOR;
}

interface ServeOptions {
  readonly listen: Endpoint;
  readonly advertisedListener: Endpoint | undefined;
  readonly data: string;
  readonly storage: string | undefined;
  readonly coordinator: string | undefined;
  readonly nodeId: number;
  readonly rack: string | undefined;
  readonly numPartitions: number;
  readonly autoCreateTopics: boolean;
  readonly commitIntervalMs: number;
  readonly adminListen: Endpoint | undefined;
  readonly insecure: boolean;
  readonly logLevel: string;
}

/** @throws UsageError that names the flag */
function readOptions(values: ServeFlags): ServeOptions {
  const advertised = values['advertised-listener'];
  const admin = values['admin-listen'];
  return {
    listen: endpointFlag('listen', values.listen ?? '127.0.0.1:9092'),
    advertisedListener: advertised === undefined ? undefined : endpointFlag('advertised-listener', advertised),
    data: values.data ?? './shoal-data',
    storage: values.storage,
    coordinator: values.coordinator,
    nodeId: integer('node-id', values['node-id'] ?? '0', 0, 2 ** 31 - 1),
    rack: values.rack,
    numPartitions: integer('num-partitions', values['num-partitions'] ?? '1', 1, 10_000),
    autoCreateTopics: oneOf('auto-create-topics', values['auto-create-topics'] ?? 'true', ['true', 'false']) === 'true',
    commitIntervalMs: integer('commit-interval-ms', commitInterval(values), 0, 60_000),
    adminListen: admin === undefined ? undefined : endpointFlag('admin-listen', admin),
    insecure: values.insecure,
    logLevel: oneOf('log-level', values['log-level'] ?? 'info', ['debug', 'info', 'warn', 'error']),
  };
}

function commitInterval({ 'commit-interval-ms': given, storage }: ServeFlags): string {
  const folder = storage === undefined || !isUrl(storage);
  return given ?? String(folder ? FOLDER_COMMIT_INTERVAL_MS : PRICED_COMMIT_INTERVAL_MS);
}

function integer(flag: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new UsageError(`--${flag} is "${text}"; an integer from ${min} to ${max} is needed`);
}

function oneOf(flag: string, text: string, allowed: readonly string[]): string {
  if (allowed.includes(text)) return text;
  throw new UsageError(`--${flag} is "${text}"; ${allowed.join(' or ')} is needed`);
}
