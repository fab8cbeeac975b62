/** The assignors by name, the default one first. */
import type { Assignor } from './assignor.ts';
import { rangeAssignor } from './range.ts';
import { uniformAssignor } from './uniform.ts';

export const assignors: ReadonlyMap<string, Assignor> = new Map([
  ['uniform', uniformAssignor],
  ['range', rangeAssignor],
]);

export const DEFAULT_ASSIGNOR = 'uniform';
