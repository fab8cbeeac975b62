/**
 * How many connections there may be, in total and from one address (`max.connections`, `max.connections.per.ip`). Those
 * beyond are closed at once, with a line in the log that names the limit; a storm of them makes one line a second. Main
 * thread; owned by the server.
 */
import type { Logger } from '../common/logger.ts';
import type { Time } from '../common/time.ts';
import type { ConnectionMetrics } from './connection-metrics.ts';
import type { ServerLimits } from './server-limits.ts';

const LOG_EVERY_MS = 1_000;

export interface ConnectionLimitsOptions {
  readonly limits: Pick<ServerLimits, 'maxConnections' | 'maxConnectionsPerIp'>;
  readonly metrics: ConnectionMetrics;
  readonly time: Time;
  readonly logger: Logger;
}

export class ConnectionLimits {
  readonly #options: ConnectionLimitsOptions;
  readonly #byHost = new Map<string, number>();
  #open = 0;
  #lastLogMs = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  constructor(options: ConnectionLimitsOptions) {
    this.#options = options;
  }

  /** Whether a connection from that address may stay; if so, `release` must follow when it is closed. */
  admit(clientHost: string): boolean {
    const { maxConnections, maxConnectionsPerIp } = this.#options.limits;
    const ofHost = this.#byHost.get(clientHost) ?? 0;
    if (this.#open >= maxConnections) return this.#refuse(clientHost, 'max.connections', maxConnections);
    if (ofHost >= maxConnectionsPerIp) return this.#refuse(clientHost, 'max.connections.per.ip', maxConnectionsPerIp);
    this.#open++;
    this.#byHost.set(clientHost, ofHost + 1);
    return true;
  }

  release(clientHost: string): void {
    const ofHost = this.#byHost.get(clientHost)!;
    this.#open--;
    if (ofHost === 1) this.#byHost.delete(clientHost);
    else this.#byHost.set(clientHost, ofHost - 1);
  }

  #refuse(clientHost: string, limit: string, value: number): false {
    const { metrics, time, logger } = this.#options;
    metrics.refused(limit);
    const nowMs = time.monotonicMs();
    if (nowMs - this.#lastLogMs < LOG_EVERY_MS) {
      this.#unlogged++;
      return false;
    }
    const fields = { clientHost, limit, connections: this.#open, refusedSinceLastLine: this.#unlogged };
    logger.warn(fields, `connection from ${clientHost} refused: ${limit} is ${value}, and as many are open`);
    this.#lastLogMs = nowMs;
    this.#unlogged = 0;
    return false;
  }
}
