/** The bounds of a broker's sockets, by Kafka's names where it has them; checked by `startKafkaServer`. */
const KIB = 1024;
const MIB = 1024 * KIB;

export interface ServerLimits {
  /** `socket.request.max.bytes`: the largest request frame. @default 100 MiB */
  readonly socketRequestMaxBytes: number;
  /** `queued.max.request.bytes`: requests of all connections that are not answered yet. @default 128 MiB */
  readonly queuedMaxRequestBytes: number;
  /** The same for one connection; a single larger frame is still taken. @default 32 MiB */
  readonly connectionMaxRequestBytes: number;
  /** What a connection may hold even when the broker is over its limit: consumers go on. @default 64 KiB */
  readonly connectionReserveBytes: number;
  /** Requests of one connection that may wait for their answer. @default 1,000 */
  readonly connectionMaxRequests: number;
  /** `max.connections`; further ones are closed at once. @default 10,000 */
  readonly maxConnections: number;
  /** `max.connections.per.ip`: of them from one address. @default 2147483647, which is no limit, as in Kafka */
  readonly maxConnectionsPerIp: number;
  /** `connections.max.idle.ms`: a connection without a request is closed after it. @default 600,000 */
  readonly connectionsMaxIdleMs: number;
  /** A client that takes nothing of its answer, or sends nothing of a begun frame, is closed after it. @default 60,000 */
  readonly stalledConnectionMs: number;
}

export const defaultServerLimits: ServerLimits = Object.freeze({
  socketRequestMaxBytes: 100 * MIB,
  queuedMaxRequestBytes: 128 * MIB,
  connectionMaxRequestBytes: 32 * MIB,
  connectionReserveBytes: 64 * KIB,
  connectionMaxRequests: 1_000,
  maxConnections: 10_000,
  maxConnectionsPerIp: 2 ** 31 - 1,
  connectionsMaxIdleMs: 600_000,
  stalledConnectionMs: 60_000,
});

/** Defaults filled in. @throws RangeError that names the limit that is not a positive integer */
export function serverLimits(given: Partial<ServerLimits> = {}): ServerLimits {
  const set = Object.entries(given).filter(([, value]) => value !== undefined);
  const limits: ServerLimits = { ...defaultServerLimits, ...Object.fromEntries(set) };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new RangeError(`${name} is ${value}; a positive integer is needed`);
  }
  return Object.freeze(limits);
}
