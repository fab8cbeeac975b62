/**
 * Random tests whose cases must all have come up: one run of few seeds may miss one by chance, so it is repeated with other
 * seeds. Only a case that the generator does not reach any more is missed every time.
 */
const MOST_ROUNDS = 20;

/** Runs `round` once, and again until `isCovered` or it was in vain often enough; the caller then asserts what it needs. */
export async function untilCovered(isCovered: () => boolean, round: () => Promise<void> | void): Promise<void> {
  let rounds = 0;
  do await round();
  while (!isCovered() && ++rounds < MOST_ROUNDS);
}
