/** The end of a soak on the terminal: what was exercised, each invariant, and whether all of it holds. */
import type { Cluster } from './cluster.ts';
import type { Fleet } from './fleet.ts';
import { CODECS } from './journal.ts';
import type { Recovery } from './judge.ts';
import type { Topics } from './topics.ts';
import type { Verdict } from './verifier.ts';

export interface Ran {
  readonly verdict: Verdict;
  readonly cluster: Cluster;
  readonly fleet: Fleet;
  readonly topics: Topics;
  readonly recoveries: readonly Recovery[];
}

type Exercised = readonly [count: number, what: string];

/** Prints it. @returns whether every invariant holds and everything was exercised */
export function report(ran: Ran): boolean {
  const { verdict, cluster, fleet } = ran;
  const lines: [good: boolean, text: string][] = exercised(ran).map(([count, what]) => [count > 0, `${count} ${what}`]);
  for (const { invariant, meaning, compared, what, problems } of verdict.findings) {
    const good = problems.length === 0 && compared > 0;
    lines.push(
      [good, `${invariant} ${meaning}: ${compared} ${what}`],
      ...problems.map((text) => [false, `  ${text}`] as [boolean, string]),
    );
  }
  for (const problem of [...cluster.problems, ...fleet.problems]) lines.push([false, problem]);
  for (const [good, text] of lines) process.stdout.write(`${good ? 'ok  ' : 'FAIL'} ${text}\n`);
  const slowest = [...ran.recoveries].sort((a, b) => b.tookMs - a.tookMs)[0];
  if (slowest)
    process.stdout.write(`slowest recovery: ${(slowest.tookMs / 1000).toFixed(1)} s after ${slowest.after}\n`);
  const faults = [...cluster.storage.faults].map(([name, count]) => `${name} ${count}`);
  process.stdout.write(
    `faults of the storage: ${faults.join(', ')}; starts that failed without it: ${cluster.counts.failedStarts}\n`,
  );
  const errors = Object.entries(verdict.errors).map(([error, count]) => `${error} ${count}`);
  process.stdout.write(
    `${verdict.indeterminate} records in doubt; errors that clients met: ${errors.join(', ') || 'none'}\n`,
  );
  const failed = lines.filter(([good]) => !good).length;
  process.stdout.write(`soak: ${lines.length - failed} passed, ${failed} failed\n`);
  return failed === 0;
}

function exercised({ verdict, cluster, fleet, topics, recoveries }: Ran): Exercised[] {
  const { counts } = cluster;
  return [
    ...fleet.kinds.flatMap((kind): Exercised[] => [
      [verdict.acknowledged[kind] ?? 0, `records acknowledged to ${kind}`],
      [verdict.consumed[kind] ?? 0, `records read by its group`],
      [verdict.refused[kind] ?? 0, `of its records refused as they must be`],
      [verdict.rebalances[kind] ?? 0, `assignments of its group`],
      [fleet.count(kind, 'produce', 'kills'), `kill −9 of its producer`],
      [fleet.count(kind, 'consume', 'kills'), `kill −9 of its members`],
      [fleet.count(kind, 'consume', 'pauses'), `pauses of its members`],
    ]),
    ...CODECS.map((codec): Exercised => [verdict.codecs[codec] ?? 0, `batches read with codec ${codec}`]),
    [counts.kills, 'kill −9 of the host'],
    [counts.restarts, 'restarts of the host'],
    [counts.pauses, 'pauses of the host'],
    [cluster.faults, 'faults and delays of the storage'],
    [counts.outages, 'outages of the storage'],
    [counts.slowdowns, 'times of slow storage'],
    [counts.bursts, 'times of failing storage'],
    [topics.deletions, 'topics deleted and created again'],
    [topics.recordDeletions, 'times that records were deleted'],
    [verdict.logStartMoves, 'moves of a log start'],
    [recoveries.length, 'recoveries awaited'],
  ];
}
