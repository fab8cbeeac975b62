/** The assignors by name, the default one first. */
import type { Assignor } from './assignor.ts';
import { rangeAssignor } from './range.ts';
import { uniformAssignor } from './uniform.ts';

export const assignors: ReadonlyMap<string, Assignor> = new Map([
  ['uniform', uniformAssignor],
  ['range', rangeAssignor],
]);

export const DEFAULT_ASSIGNOR = 'uniform';

/** What most members ask for; of equals, the one that was asked for first; the default when nobody asks. */
export function preferredAssignor(members: readonly { readonly serverAssignor: string | null }[]): string {
  const votes = new Map<string, number>();
  for (const { serverAssignor } of members) {
    if (serverAssignor !== null) votes.set(serverAssignor, (votes.get(serverAssignor) ?? 0) + 1);
  }
  let [preferred, most] = [DEFAULT_ASSIGNOR, 0];
  for (const [name, count] of votes) if (count > most) [preferred, most] = [name, count];
  return preferred;
}
