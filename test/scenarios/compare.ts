/** Comparing what a scenario expects with what happened: differences are collected, unknown fields refused. */
import { isDeepStrictEqual } from 'node:util';

/** A parsed JSON object; scenario files are data, checked field by field as they are read. */
// biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes, each of which is checked by `fields`
export type Json = Record<string, any>;

export type Level = 'required' | 'recommended' | 'strict';

/** @throws when `json` has a field that is not in `known`: what a runner does not read, it must not pass over. */
export function fields(json: Json, known: readonly string[]): void {
  const unknown = Object.keys(json).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new Error(`unknown field ${unknown.join(', ')}`);
}

const isText = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'));

/** `fields` for a file or a case, which may have any text besides that says what it is about. */
export function describedFields(json: Json, known: readonly string[]): void {
  fields(Object.fromEntries(Object.entries(json).filter(([, value]) => !isText(value))), known);
}

/** What a step expects; all of it may be left out. */
export function expectation(step: Json, known: readonly string[]): Json {
  const expected = (step.expect ?? {}) as Json;
  fields(expected, known);
  return expected;
}

/** @throws when a value is none of those that it may have. */
export function oneOf<T extends string>(what: string, value: unknown, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value);
  if (found === undefined)
    throw new Error(`unknown ${what} ${JSON.stringify(value)}, not one of ${allowed.join(', ')}`);
  return found;
}

/** Without members that are undefined, and with maps as sorted entries, so that equal things look equal. */
function normal(value: unknown): unknown {
  if (value instanceof Map) return [...value].sort(([a], [b]) => a - b).map(normal);
  if (Array.isArray(value)) return value.map(normal);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, normal(member)]),
  );
}

export class Differences {
  readonly list: string[] = [];
  #place = '';
  #compared = 0;

  /** How many comparisons were made; a scenario without one shows nothing. */
  get compared(): number {
    return this.#compared;
  }

  at(place: string): void {
    this.#place = place;
  }

  add(text: string): void {
    this.list.push(this.#place ? `${this.#place}: ${text}` : text);
  }

  equal(what: string, actual: unknown, expected: unknown): void {
    this.#compared++;
    const [is, should] = [normal(actual), normal(expected)];
    if (!isDeepStrictEqual(is, should))
      this.add(`${what}: got ${JSON.stringify(is)}, expected ${JSON.stringify(should)}`);
  }
}
