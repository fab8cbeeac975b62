/** Reads a scenario file: JSON whose errors name line and column, and whose numbers keep every digit. */
import { readFileSync } from 'node:fs';
import type { Json } from './compare.ts';

/** "line 3, column 7" of an offset that an error of JSON.parse names; the end of the text when it names none. */
function placeOf(message: string, text: string): string {
  const position = Number(/at position (\d+)/.exec(message)?.[1] ?? text.length);
  const lines = text.slice(0, position).split(/\r\n|\r|\n/);
  return `line ${lines.length}, column ${lines[lines.length - 1]!.length + 1}`;
}

function checkNumbers(value: unknown): void {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new Error(`the number ${value} is past 2^53, where offsets end and digits get lost`);
  if (value !== null && typeof value === 'object') Object.values(value).forEach(checkNumbers);
}

/** @throws when the file is not a JSON object, or has a number that would not be read as it is written. */
export function readJson(path: string): Json {
  // Some editors begin a file with a byte order mark.
  const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`is not JSON: ${path}, ${placeOf(message, text)}: ${message}`);
  }
  if (json === null || typeof json !== 'object' || Array.isArray(json)) throw new Error(`${path} is no JSON object`);
  checkNumbers(json);
  return json as Json;
}
