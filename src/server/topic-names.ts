/** Topics that Kafka keeps for itself. Here their content lives in the coordinator; nobody may create or write them. */
const INTERNAL: ReadonlySet<string> = new Set(['__consumer_offsets', '__transaction_state', '__share_group_state']);

export function isInternalTopic(name: string): boolean {
  return INTERNAL.has(name);
}
