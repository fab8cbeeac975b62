/** Calls over very many partitions, a portion at a time. */

const PORTION = 10_000;

/**
 * Asks for requests that stand for themselves. One call over hundreds of thousands would hold up all others for as long, or
 * outlast the deadline of a statement. Result i belongs to request i.
 */
export async function inPortions<Q, R>(
  requests: readonly Q[],
  ask: (some: readonly Q[]) => Promise<R[]>,
): Promise<R[]> {
  if (requests.length <= PORTION) return ask(requests);
  const results: R[] = [];
  for (let from = 0; from < requests.length; from += PORTION) {
    for (const result of await ask(requests.slice(from, from + PORTION))) results.push(result);
  }
  return results;
}
