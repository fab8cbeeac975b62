/** A broker host over a real engine with in-memory parts, and clients of it; closed after each test. */
import { afterEach } from 'vitest';
import type { Logger } from '../../src/common/logger.ts';
import { type KafkaServer, type KafkaServerOptions, startKafkaServer } from '../../src/server/kafka-server.ts';
import { EngineFixture, type FixtureOptions } from '../support/engine-fixture.ts';
import { WireClient } from './wire-client.ts';

export interface ServerFixtureOptions extends FixtureOptions {
  readonly server?: Partial<KafkaServerOptions>;
}

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

export class ServerFixture {
  readonly parts: EngineFixture;
  readonly server: KafkaServer;
  /** What the host logged, messages only. */
  readonly logged: string[];

  private constructor(parts: EngineFixture, server: KafkaServer, logged: string[]) {
    this.parts = parts;
    this.server = server;
    this.logged = logged;
  }

  static async open(options: ServerFixtureOptions = {}): Promise<ServerFixture> {
    const parts = await EngineFixture.open(options);
    const logged: string[] = [];
    const log = (_fields: object, message: string): number => logged.push(message);
    const logger: Logger = { debug: log, info: log, warn: log, error: log };
    const server = await startKafkaServer(parts.engine, {
      coordinator: parts.metadata,
      listen: { host: '127.0.0.1', port: 0 },
      logger,
      ...options.server,
    });
    opened.push(() => server.destroy());
    return new ServerFixture(parts, server, logged);
  }

  async client(): Promise<WireClient> {
    const client = await WireClient.connect(this.server.listener);
    opened.push(async () => {
      client.socket.destroy();
    });
    return client;
  }
}
