/** Requests about partitions: asks once for all that can be asked for, and puts the answers back into request order. */
import { ApiError } from '../common/errors.ts';

/** What to ask for a partition, or its answer where there is nothing to ask. */
export type PartitionLook<Q, A> = { readonly ask: Q } | { readonly answer: A };

export interface PartitionQuestions<T, P, Q, R, A> {
  readonly topics: readonly T[];
  readonly partitionsOf: (topic: T) => readonly P[];
  readonly look: (topic: T, partition: P) => PartitionLook<Q, A>;
  /** Result i belongs to question i. Not called without questions. */
  readonly ask: (questions: readonly Q[]) => Promise<readonly R[]>;
  readonly answer: (partition: P, result: R) => A;
}

/** More than any client has reason to name at once: each costs the coordinator a look. */
const MAX_PARTITIONS_PER_REQUEST = 100_000;

/** Element i of `partitions` is those of topic i. @throws ApiError INVALID_REQUEST when they are too many together */
export function refuseTooMany(partitions: readonly (readonly unknown[])[]): void {
  const asked = partitions.reduce((sum, { length }) => sum + length, 0);
  if (asked <= MAX_PARTITIONS_PER_REQUEST) return;
  const message = `${asked} partitions stand in one request; at most ${MAX_PARTITIONS_PER_REQUEST} are allowed`;
  throw new ApiError('INVALID_REQUEST', message);
}

/** Element i belongs to topic i, and in it element j to its partition j. */
export async function answerPartitions<T, P, Q, R, A>(questions: PartitionQuestions<T, P, Q, R, A>): Promise<A[][]> {
  const { topics, partitionsOf, look, ask, answer } = questions;
  const looked = topics.map((topic) =>
    partitionsOf(topic).map((partition) => ({ partition, ...look(topic, partition) })),
  );
  const asked = looked.flat().flatMap((one) => ('ask' in one ? [one.ask] : []));
  const results = asked.length === 0 ? [] : await ask(asked);
  let next = 0;
  return looked.map((partitions) =>
    partitions.map((one) => ('ask' in one ? answer(one.partition, results[next++]!) : one.answer)),
  );
}
