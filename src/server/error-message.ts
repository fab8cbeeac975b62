/** Messages beside error codes. They may quote what the client sent, and a string on the wire has a bound. */
const MAX_LENGTH = 1_000;

/** As it goes on the wire: null for "", and not too long. */
export function errorMessage(text: string): string | null {
  return text === '' ? null : text.slice(0, MAX_LENGTH);
}
