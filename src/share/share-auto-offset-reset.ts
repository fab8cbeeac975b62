/** `share.auto.offset.reset`: where a group starts in a partition that it has no state for. Pure. */

export type ShareAutoOffsetReset =
  | { readonly type: 'earliest' }
  | { readonly type: 'latest' }
  | { readonly type: 'by_duration'; readonly durationMs: number };

const DAY_MS = 86_400_000;
const DURATION =
  /^([-+]?)P(?:([-+]?\d+)D)?(?:(T)(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+)(?:[.,](\d{0,9}))?S)?)?$/i;

/** ISO-8601 days and times as Java's Duration takes them (`PT1H`, `P1DT0.5S`); undefined when it is none. */
function parseDurationMs(text: string): number | undefined {
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

/** Parses the config value; case matters, and a negative duration is refused. Undefined when it is not valid. */
export function parseShareAutoOffsetReset(value: string): ShareAutoOffsetReset | undefined {
  if (value === 'earliest' || value === 'latest') return { type: value };
  if (!value.startsWith('by_duration:')) return undefined;
  const durationMs = parseDurationMs(value.slice('by_duration:'.length));
  if (durationMs === undefined || durationMs < 0 || !Number.isSafeInteger(durationMs)) return undefined;
  // −0 is a duration too (`-PT0S`), and is none.
  return { type: 'by_duration', durationMs: durationMs + 0 };
}
