/** What stands more than once in a list. */
export function standingTwice(keys: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  return new Set(keys.filter((key) => seen.size === seen.add(key).size));
}
