/**
 * The broker host: Kafka's wire protocol over TCP in front of an engine.
 *
 * Owns the listening socket, the connections and the API modules. The engine and the coordinator stay the caller's; close
 * them after the server. Main thread.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { once } from '../common/lifecycle.ts';
import { type Logger, silentLogger } from '../common/logger.ts';
import { MetricsRegistry } from '../common/metrics-registry.ts';
import { type Random, systemRandom } from '../common/random.ts';
import { registryMeter } from '../common/registry-meter.ts';
import { systemTime, type Time } from '../common/time.ts';
import type { DisklessCoordinator } from '../coordinator/diskless-coordinator.ts';
import { measuredCoordinator } from '../coordinator/measured-coordinator.ts';
import type { DisklessEngine } from '../engine/diskless-engine.ts';
import { groupSettings } from '../group/group-settings.ts';
import type { ApiModule } from './api-handler.ts';
import { ApiMetrics } from './api-metrics.ts';
import { apiModules } from './api-modules.ts';
import type { SupportedApi } from './apis/api-versions.ts';
import { type Broker, type BrokerSettings, defaultBrokerSettings, type Endpoint } from './broker.ts';
import { BrokerTopics } from './broker-topics.ts';
import { Connection } from './connection.ts';
import { ConnectionLimits } from './connection-limits.ts';
import { ConnectionMetrics } from './connection-metrics.ts';
import { FrameBuffers } from './frame-buffers.ts';
import { KafkaApis } from './kafka-apis.ts';
import { advertisedEndpoint, checkListener, formatEndpoint, listen } from './listener.ts';
import { RequestMemory } from './request-memory.ts';
import { type ServerLimits, serverLimits } from './server-limits.ts';
import { observeTopics } from './topic-metrics.ts';

export interface KafkaServerOptions {
  /** The engine's coordinator: producer ids, groups and topics are kept there. */
  readonly coordinator: DisklessCoordinator;
  /** Where to listen; port 0 takes a free one. @default 127.0.0.1:9092 */
  readonly listen?: Endpoint;
  /** Where clients are told to connect. @default where the server listens */
  readonly advertisedListener?: Endpoint;
  /** Allows to listen on an address that others can reach, although nothing is encrypted or authenticated. */
  readonly insecure?: boolean;
  /** `node.id`. @default 0 */
  readonly nodeId?: number;
  /** `broker.rack`. */
  readonly rack?: string;
  readonly settings?: Partial<BrokerSettings>;
  readonly limits?: Partial<ServerLimits>;
  readonly time?: Time;
  readonly random?: Random;
  readonly logger?: Logger;
  /** Where the server keeps what it measures; see `MetricsRegistry.text`. @default one of its own */
  readonly metrics?: MetricsRegistry;
}

export interface KafkaServerStats {
  readonly connections: number;
  /** Requests received and not answered yet, bytes. */
  readonly requestBytes: number;
  /** Connections that would read, but may not until there is room. */
  readonly connectionsHeldBack: number;
}

export interface KafkaServer extends AsyncDisposable {
  /** Where it listens. */
  readonly listener: Endpoint;
  readonly advertisedListener: Endpoint;
  /** The APIs it serves and their versions, by key: what ApiVersions answers. */
  readonly supportedApis: readonly SupportedApi[];
  stats(): KafkaServerStats;
  /**
   * Drains: accepts nobody, takes no further request, answers those that run (fetches that only wait are cut off), closes.
   * What is not done after `timeoutMs` is cut off. @default 30,000
   */
  close(options?: { timeoutMs?: number }): Promise<void>;
  /** Aborts: cuts every connection off. */
  destroy(): Promise<void>;
}

/** Starts serving. @throws ListenError when it cannot listen there, or must not */
export async function startKafkaServer(engine: DisklessEngine, options: KafkaServerOptions): Promise<KafkaServer> {
  const server = new RunningServer(engine, options);
  await server.open();
  return server;
}

const DEFAULT_LISTENER: Endpoint = { host: '127.0.0.1', port: 9092 };
const DRAIN_TIMEOUT_MS = 30_000;

class RunningServer implements KafkaServer {
  readonly #requested: Endpoint;
  readonly #advertised: Endpoint | undefined;
  readonly #limits: ServerLimits;
  readonly #logger: Logger;
  readonly #time: Time;
  readonly #broker: Broker;
  readonly #memory: RequestMemory;
  readonly #frames = new FrameBuffers();
  readonly #connections = new Set<Connection>();
  readonly #connectionMetrics: ConnectionMetrics;
  readonly #connectionLimits: ConnectionLimits;
  readonly #sockets: Server;
  #modules: ApiModule[] = [];
  #apis!: KafkaApis;
  #listener: Endpoint | undefined;
  #connectionsMade = 0;
  #onEmpty: (() => void) | undefined;

  constructor(engine: DisklessEngine, options: KafkaServerOptions) {
    this.#requested = options.listen ?? DEFAULT_LISTENER;
    this.#advertised = options.advertisedListener;
    checkListener(this.#requested, this.#advertised, options.insecure ?? false);
    this.#limits = serverLimits(options.limits);
    this.#logger = options.logger ?? silentLogger;
    this.#time = options.time ?? systemTime;
    this.#broker = this.#makeBroker(engine, options);
    this.#memory = new RequestMemory({
      limitBytes: this.#limits.queuedMaxRequestBytes,
      reserveBytes: this.#limits.connectionReserveBytes,
    });
    this.#sockets = createServer((socket) => this.#accept(socket));
    this.#connectionMetrics = new ConnectionMetrics(this.#broker.metrics);
    this.#connectionLimits = new ConnectionLimits({
      limits: this.#limits,
      metrics: this.#connectionMetrics,
      time: this.#time,
      logger: this.#logger,
    });
    this.#observe(this.#broker.metrics);
  }

  get listener(): Endpoint {
    return this.#listener ?? this.#requested;
  }

  get advertisedListener(): Endpoint {
    return advertisedEndpoint(this.listener, this.#advertised);
  }

  get supportedApis(): readonly SupportedApi[] {
    return this.#apis.supported;
  }

  /** Modules first: a connection may come as soon as the socket listens. */
  async open(): Promise<void> {
    try {
      for (const make of apiModules) this.#modules.push(await make(this.#broker));
      this.#apis = new KafkaApis(
        this.#modules.flatMap(({ handlers }) => handlers),
        {
          identity: { clusterId: this.#broker.coordinator.clusterId, nodeId: this.#broker.nodeId },
          logger: this.#logger,
          metrics: new ApiMetrics(this.#broker.metrics, this.#time),
        },
      );
      this.#listener = await listen(this.#sockets, this.#requested);
      this.#sockets.on('error', (err) => this.#logger.error({ err }, 'accepting a connection failed'));
    } catch (error) {
      await this.#closeModules();
      throw error;
    }
  }

  stats(): KafkaServerStats {
    return {
      connections: this.#connections.size,
      requestBytes: this.#memory.heldBytes,
      connectionsHeldBack: this.#memory.waiting,
    };
  }

  readonly close = once(async (options?: { timeoutMs?: number }): Promise<void> => {
    this.#sockets.close();
    const timeoutMs = options?.timeoutMs ?? DRAIN_TIMEOUT_MS;
    const timer = this.#time.setTimer(timeoutMs, () => this.#cutOff(`not drained within ${timeoutMs} ms`));
    const modulesClosed = this.#closeModules();
    for (const connection of [...this.#connections]) connection.drain();
    await this.#allGone();
    timer.cancel();
    await modulesClosed;
  });

  async destroy(): Promise<void> {
    const closed = this.close();
    this.#cutOff('the broker stops at once');
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #makeBroker(engine: DisklessEngine, options: KafkaServerOptions): Broker {
    const metrics = options.metrics ?? new MetricsRegistry();
    const advertised = (): Endpoint => this.advertisedListener;
    const listener = (): Endpoint => this.listener;
    return {
      engine,
      coordinator: measuredCoordinator(options.coordinator, {
        meter: registryMeter(metrics),
        time: this.#time,
        logger: this.#logger,
      }),
      topics: new BrokerTopics(engine),
      nodeId: options.nodeId ?? 0,
      rack: options.rack ?? null,
      settings: Object.freeze({ ...defaultBrokerSettings, ...options.settings }),
      groupSettings: groupSettings(options.settings?.group),
      limits: this.#limits,
      time: this.#time,
      random: options.random ?? systemRandom,
      logger: this.#logger,
      metrics,
      get advertisedListener() {
        return advertised();
      },
      get listener() {
        return listener();
      },
    };
  }

  #accept(socket: Socket): void {
    const clientHost = socket.remoteAddress ?? '';
    if (!this.#connectionLimits.admit(clientHost)) {
      socket.on('error', () => {}); // it may reset before it is closed
      socket.destroy();
      return;
    }
    this.#connectionMetrics.created.add(1);
    const connection = new Connection({
      socket,
      id: `${formatEndpoint(this.listener)}-${this.#connectionsMade++}`,
      apis: this.#apis,
      memory: this.#memory,
      frames: this.#frames,
      limits: this.#limits,
      logger: this.#logger,
      metrics: this.#connectionMetrics,
      onClosed: (closed) => {
        this.#connections.delete(closed);
        this.#connectionLimits.release(clientHost);
        this.#connectionMetrics.closed.add(1);
        if (this.#connections.size === 0) this.#onEmpty?.();
      },
    });
    this.#connections.add(connection);
  }

  #observe(metrics: MetricsRegistry): void {
    const gauge = (name: string, help: string, read: () => number): void =>
      metrics.observe('gauge', name, help, (observe) => observe(read()));
    gauge('kafka_server_socket_server_metrics_connection_count', 'Connections.', () => this.#connections.size);
    gauge('kafka_network_socketserver_memorypoolused', 'Bytes of unanswered requests.', () => this.#memory.heldBytes);
    gauge('shoal_connections_held_back', 'Connections that must not read now.', () => this.#memory.waiting);
    observeTopics(metrics, this.#broker.engine);
  }

  #allGone(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEmpty = resolve;
      if (this.#connections.size === 0) resolve();
    });
  }

  #cutOff(reason: string): void {
    for (const connection of [...this.#connections]) connection.destroy(reason);
  }

  async #closeModules(): Promise<void> {
    for (const module of this.#modules.splice(0)) await module.close?.();
  }
}
