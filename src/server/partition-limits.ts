/** How many partitions one request may create: Kafka's own bound. */
const MAX_PARTITIONS_PER_REQUEST = 10_000;

/** Why so many partitions cannot be created at once (POLICY_VIOLATION), or undefined. */
export function tooManyPartitions(counts: readonly number[]): string | undefined {
  const asked = counts.reduce((sum, count) => sum + Math.max(0, count), 0);
  if (asked <= MAX_PARTITIONS_PER_REQUEST) return undefined;
  return `${asked} partitions asked for in one request; at most ${MAX_PARTITIONS_PER_REQUEST} are allowed`;
}
