/**
 * Text from clients as databases keep it. Neither PostgreSQL nor every binding of SQLite takes a NUL character: the one
 * refuses the text, the other ends it there, and `a␀b` would be the group `a`. Kafka takes any.
 */

const NUL = '\u0000';
/** Stands before what replaces a NUL, or itself. */
const ESCAPE = '\u0001';

export function toStored(text: string): string {
  if (!text.includes(NUL) && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, `${ESCAPE}1`).replaceAll(NUL, `${ESCAPE}0`);
}

export function fromStored(text: string): string {
  return text.includes(ESCAPE) ? text.replaceAll(`${ESCAPE}0`, NUL).replaceAll(`${ESCAPE}1`, ESCAPE) : text;
}
