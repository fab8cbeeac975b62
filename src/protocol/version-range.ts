/** Ranges of message versions, written as in Kafka's schemas: `3+`, `0-12`, `7`. */

export interface VersionRange {
  readonly min: number;
  readonly max: number;
}

/** `3+`, `0-12` or `7`. */
export type VersionText = `${number}+` | `${number}-${number}` | `${number}`;

/** @throws RangeError when the text is none of the three forms. */
export function versionRange(text: string): VersionRange {
  const match = /^(\d+)(?:(\+)|-(\d+))?$/.exec(text);
  if (!match) throw new RangeError(`"${text}" is not a version range such as 3+, 0-12 or 7`);
  const min = Number(match[1]);
  if (match[2]) return { min, max: Number.MAX_SAFE_INTEGER };
  return { min, max: match[3] === undefined ? min : Number(match[3]) };
}

export function inRange(range: VersionRange, version: number): boolean {
  return version >= range.min && version <= range.max;
}
