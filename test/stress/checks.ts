/** What a stress run has to show, as checks with a sentence each: of what was exercised, not only of what went wrong. */
import type { LoadCounts } from './load.ts';
import type { Verdict } from './verifier.ts';

export interface Settings {
  readonly minutes: number;
  readonly producers: number;
  readonly inFlight: number;
  readonly consumers: number;
  readonly partitions: number;
  readonly shape: { readonly records: number; readonly valueBytes: number };
  readonly faults: number;
  readonly seed: number;
}

export interface Ran {
  readonly topicId: string;
  readonly counts: LoadCounts;
  readonly faultCount: number;
}

export type Check = readonly [passed: boolean, what: string];

/** Whether a run has done everything that its checks ask to have been done. */
export function isExercised({ consumers, faults }: Settings, { counts, faultCount }: Omit<Ran, 'topicId'>): boolean {
  const { appendedRecords, consumedRecords } = counts;
  return appendedRecords > 0 && (consumers === 0 || consumedRecords > 0) && (faults === 0 || faultCount > 0);
}

export function checksOf(settings: Settings, { counts, faultCount }: Ran, verdict: Verdict): Check[] {
  const { acknowledgedRecords, readRecords, lost, uninvited, wrong, gaps, inDoubtFound } = verdict;
  const { refused, inDoubt } = counts;
  const faultCheck: Check = [
    faultCount > 0,
    `${faultCount} faults were injected, ${refused} appends refused, ${inDoubt} in doubt`,
  ];
  return [
    [acknowledgedRecords > 0, `${acknowledgedRecords} records were acknowledged`],
    [lost === 0, `${lost} acknowledged records are missing or displaced`],
    [wrong === 0, `${wrong} of ${readRecords} records read back differ from what was sent`],
    [
      uninvited === 0,
      `${uninvited} records are there that were refused, unknown or doubled (${inDoubtFound} of appends in doubt)`,
    ],
    [gaps === 0, `${gaps} gaps in the offsets`],
    [
      counts.wrongRecords === 0 && (settings.consumers === 0 || counts.consumedRecords > 0),
      `${counts.consumedRecords} records were read along by ${settings.consumers} consumers, ${counts.wrongRecords} wrong`,
    ],
    ...(settings.faults === 0 ? [] : [faultCheck]),
  ];
}
