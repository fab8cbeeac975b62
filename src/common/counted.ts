/** A number and what it counts, for people: `1 object`, `2 objects`. `noun` is the singular; its plural ends with s. */
export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
