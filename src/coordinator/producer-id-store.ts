/** The coordinator's part that gives out producer ids: in blocks, durably, never the same id twice (also after kill −9). */
export interface ProducerIdStore {
  /** Reserves `size` consecutive producer ids; durable before it resolves. Ids of a block that is lost are never used. */
  allocateProducerIdBlock(size: number): Promise<{ readonly firstProducerId: bigint; readonly size: number }>;
}
