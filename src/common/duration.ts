/** Durations as Java writes them. */

const DAY_MS = 86_400_000;
const DURATION =
  /^([-+]?)P(?:([-+]?\d+)D)?(?:(T)(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+)(?:[.,](\d{0,9}))?S)?)?$/i;

/** ISO-8601 days and times as Java's Duration takes them (`PT1H`, `P1DT0.5S`); undefined when it is none. */
export function parseDurationMs(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (!match) return undefined;
  const [, sign, days, time, hours, minutes, seconds, fraction] = match;
  const inTime = hours ?? minutes ?? seconds;
  if ((days ?? inTime) === undefined || (time !== undefined && inTime === undefined)) return undefined;
  const fractionMs = Math.floor(Number(`0.${fraction || 0}`) * 1000) * (seconds?.startsWith('-') ? -1 : 1);
  const ms =
    Number(days ?? 0) * DAY_MS +
    Number(hours ?? 0) * 3_600_000 +
    Number(minutes ?? 0) * 60_000 +
    Number(seconds ?? 0) * 1_000 +
    fractionMs;
  return sign === '-' ? -ms : ms;
}
