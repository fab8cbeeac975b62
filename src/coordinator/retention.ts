/** The rules of retention, pure: which limits hold for a topic and whether its oldest coordinate has to go. */

/** Kafka's default of `log.retention.ms`. */
const DEFAULT_RETENTION_MS = 604_800_000n;

/** Partitions that one retention step looks at, at most; what it may drop has a limit of its own. */
export const PARTITIONS_PER_RETENTION_STEP = 256;

const MAX_INT64 = 2n ** 63n - 1n;

export interface RetentionLimits {
  /** undefined: no limit. */
  readonly retentionMs: bigint | undefined;
  readonly retentionBytes: bigint | undefined;
}

export type Configs = Readonly<Record<string, string>>;

/** The first of the values that is an integer (configs are checked where they are set); −1 means no limit. */
function limit(values: readonly (string | undefined)[], fallback: bigint): bigint | undefined {
  const text = values.find((value) => value !== undefined && /^-?\d{1,19}$/.test(value));
  const value = text === undefined ? fallback : BigInt(text);
  if (value < 0n) return undefined;
  return value < MAX_INT64 ? value : MAX_INT64;
}

export function retentionLimits(topic: Configs, broker: Configs): RetentionLimits {
  const policy = topic['cleanup.policy'] ?? broker['log.cleanup.policy'] ?? 'delete';
  const deletes = policy.split(',').some((part) => part.trim() === 'delete');
  if (!deletes) return { retentionMs: undefined, retentionBytes: undefined };
  return {
    retentionMs: limit([topic['retention.ms'], broker['log.retention.ms']], DEFAULT_RETENTION_MS),
    retentionBytes: limit([topic['retention.bytes'], broker['log.retention.bytes']], -1n),
  };
}

/**
 * Whether the oldest coordinate of a log breaches a limit. Records without a timestamp count from when they were
 * committed. By size it goes only when at least `retention.bytes` remain, as in Kafka.
 */
export function breaches(
  oldest: { readonly maxTimestamp: bigint; readonly appendTimeMs: bigint; readonly size: number },
  logBytes: bigint,
  limits: RetentionLimits,
  nowMs: bigint,
): boolean {
  const timestamp = oldest.maxTimestamp >= 0n ? oldest.maxTimestamp : oldest.appendTimeMs;
  if (limits.retentionMs !== undefined && nowMs - timestamp > limits.retentionMs) return true;
  return limits.retentionBytes !== undefined && logBytes - BigInt(oldest.size) >= limits.retentionBytes;
}

/** `producer.id.expiration.ms` as it is set for the brokers, else the given default. */
export function producerIdExpirationMs(broker: Configs, fallback: number): number {
  const value = Number(broker['producer.id.expiration.ms']);
  return Number.isInteger(value) && value > 0 ? value : fallback;
}
