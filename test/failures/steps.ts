/** Steps of an append, in their order. `during-commit`: after the commit was sent and before it answered. */
export const STEPS = ['before-put', 'after-put', 'during-commit', 'before-ack'] as const;
export type Step = (typeof STEPS)[number];
