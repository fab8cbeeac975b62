/** Small rules that every implementation applies before it writes; pure. */
import { CoordinatorError } from './diskless-coordinator.ts';

export const MAX_PARTITIONS_PER_TOPIC = 50_000;
const MAX_PRODUCER_ID_BLOCK = 1_000_000;

/** @throws CoordinatorError `invalid` */
export function validatePartitionCount(partitions: number): void {
  if (Number.isInteger(partitions) && partitions >= 1 && partitions <= MAX_PARTITIONS_PER_TOPIC) return;
  throw new CoordinatorError('invalid', `a topic has 1 to ${MAX_PARTITIONS_PER_TOPIC} partitions, not ${partitions}`);
}

/** @throws CoordinatorError `invalid` */
export function validateBlockSize(size: number): void {
  if (Number.isInteger(size) && size >= 1 && size <= MAX_PRODUCER_ID_BLOCK) return;
  throw new CoordinatorError('invalid', `a block has 1 to ${MAX_PRODUCER_ID_BLOCK} producer ids, not ${size}`);
}

/** Half a surrogate pair is no text that databases know, and PostgreSQL's JSON has no NUL. Kafka's values have neither. */
const UNKEEPABLE = /[\0\p{Surrogate}]/u;

/** What one store cannot keep is refused by all of them. @throws CoordinatorError `invalid` */
export function validateConfigs(configs: Readonly<Record<string, string | null>>): void {
  for (const [name, value] of Object.entries(configs)) {
    if (!UNKEEPABLE.test(name) && !UNKEEPABLE.test(value ?? '')) continue;
    throw new CoordinatorError('invalid', `config ${JSON.stringify(name)} holds a NUL or half a character`);
  }
}

/** Configs after some were set and others (null) removed. */
export function applyConfigChanges(
  configs: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const merged = new Map(Object.entries(configs));
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) merged.delete(name);
    else merged.set(name, value);
  }
  return Object.fromEntries(merged);
}
