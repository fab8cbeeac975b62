/** Assertions: for programmer error only. Whatever a client, a bucket or a config can cause is a typed result instead. */

/** Thrown when an invariant of Shoal's own is broken; seeing one is a bug report. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

/** Throws unless `condition` holds. `message` names the invariant, not the symptom. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

/** For the default branch of an exhaustive switch: fails to compile when a case is missing. */
export function unreachable(value: never): never {
  throw new AssertionError(`unreachable case ${String(value)}`);
}
