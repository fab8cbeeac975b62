/** Partitions that a request places on brokers by hand. Any broker serves any partition, and this one answers for all. */

/** What is wrong with the brokers of one partition, or undefined: only this broker can be named, as on a cluster of one. */
export function assignmentProblem(nodeId: number, brokerIds: readonly number[]): string | undefined {
  if (brokerIds.length === 1 && brokerIds[0] === nodeId) return undefined;
  const given = brokerIds.length > 5 ? `${brokerIds.length} brokers` : `broker ${brokerIds.join(', ') || '(none)'}`;
  return `a partition was assigned to ${given}; leave assignments out, or assign each to broker ${nodeId} alone`;
}
