/**
 * How Shoal measures: a figure is always a ratio against a named baseline, the median of at least 11
 * rounds in which both sides take turns on the same input, after their results were compared. tinybench does the timing.
 *
 * One body, two sizes: full by hand, smoke inside the test run, so that no bench can rot. Single-threaded; a bench file
 * exports `default (bench: BenchContext) => Promise<void>` and closes what it opens.
 */
import { Bench, type TimestampProvider } from 'tinybench';

/** One line of `--json`. Rows are identified by name and baseline; `ratio` above 1 means better than the baseline. */
export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly baseline: string | null;
  readonly ratio: number | null;
  readonly rounds: number;
  readonly p25: number | null;
  readonly p75: number | null;
}

export type Side = () => unknown;

export interface Contest {
  /** Carries the size or workload: `crc32c/16KiB`. */
  readonly name: string;
  /** What `value` counts a second, e.g. `MB/s`, `commits/s`. */
  readonly unit: string;
  /** How many such units one call of a side does. */
  readonly amount: number;
  /** The code under test, as the package exports it. When it returns a promise, every side must. */
  readonly subject: Side;
  readonly baselines: Readonly<Record<string, Side>>;
  /** Whether a baseline did the same work; asked once, before timing. @default deep equality of the results */
  readonly same?: (subject: unknown, baseline: unknown, baselineName: string) => boolean;
  /** What is measured. `cpu` is user plus system time of this process: for work that waits. @default 'wall' */
  readonly clock?: 'wall' | 'cpu';
  /** How long each side runs in each round, milliseconds. @default 60 (2 in smoke) */
  readonly roundMs?: number;
  /** @default 15 (3 in smoke) */
  readonly rounds?: number;
}

export interface BenchSize {
  /** True inside the test run: use small inputs. */
  readonly smoke: boolean;
  /** How many rounds were asked for, instead of the bench's own number. */
  readonly rounds?: number | undefined;
}

export interface BenchContext extends BenchSize {
  /** Measures one contest and reports a row for each baseline. Returns the rows. */
  contest(contest: Contest): Promise<BenchRow[]>;
  /** Reports a figure that no clock made (counts, costs under a model), or one measured elsewhere. */
  row(row: BenchRow): void;
  /** Prints a remark under the rows. */
  note(text: string): void;
}

/** CPU time of this process as tinybench's clock, in milliseconds of user plus system time. */
const cpuClock: TimestampProvider = {
  name: 'cpu',
  fn: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e3;
  },
  fromMs: (ms) => ms,
  toMs: (timestamp) => Number(timestamp),
};

/** The q-quantile of unsorted values, linearly interpolated. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * q;
  const low = sorted[Math.floor(at)]!;
  return low + (sorted[Math.ceil(at)]! - low) * (at - Math.floor(at));
}

/** Calls a side so often that one sample is long against the clock's own cost. */
function repeated(side: Side, times: number, isAsync: boolean): Side {
  if (isAsync) {
    return async () => {
      for (let i = 0; i < times; i++) await side();
    };
  }
  return () => {
    for (let i = 0; i < times; i++) side();
  };
}

/** Milliseconds per call of `side`, from one sample of `calls` calls. */
async function timePerCall(side: Side, calls: number, isAsync: boolean, clock: Contest['clock']): Promise<number> {
  const options = { iterations: 1, time: 0, warmup: false, throws: true };
  const bench = new Bench(clock === 'cpu' ? { ...options, timestampProvider: cpuClock } : options);
  bench.add('side', repeated(side, calls, isAsync) as () => void, { async: isAsync });
  const [task] = isAsync ? await bench.run() : bench.runSync();
  const result = task!.result;
  if (!('latency' in result)) throw new Error(`tinybench did not complete: ${result.state}`);
  return result.latency.mean / calls;
}

/** How many calls fill `targetMs`, found by doubling; warms the code up on the way. */
async function calibrate(side: Side, isAsync: boolean, targetMs: number): Promise<number> {
  for (let calls = 1; ; calls *= 2) {
    const startMs = performance.now();
    const done = repeated(side, calls, isAsync)();
    if (isAsync) await done;
    const tookMs = performance.now() - startMs;
    if (tookMs >= targetMs / 4 || calls >= 2 ** 30) return Math.max(1, Math.round((calls * targetMs) / tookMs));
  }
}

function deepEqual(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return Object.is(a, b) || JSON.stringify(a) === JSON.stringify(b);
}

async function compareResults(contest: Contest): Promise<boolean> {
  const first = contest.subject();
  const expected = await first;
  for (const [name, side] of Object.entries(contest.baselines)) {
    if (!(contest.same ?? deepEqual)(expected, await side(), name)) {
      throw new Error(
        `${contest.name}: subject and baseline ${name} disagree; a ratio of different work means nothing`,
      );
    }
  }
  return first instanceof Promise;
}

/** Times of every side, by side and round. The order turns round by round, so that no side always runs second. */
async function runRounds(
  contest: Contest,
  sides: readonly Side[],
  isAsync: boolean,
  { smoke, rounds: asked }: BenchSize,
): Promise<number[][]> {
  const targetMs = contest.roundMs ?? (smoke ? 2 : 60);
  const rounds = asked ?? contest.rounds ?? (smoke ? 3 : 15);
  const calls: number[] = [];
  for (const side of sides) calls.push(await calibrate(side, isAsync, targetMs));
  const times: number[][] = sides.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (let k = 0; k < sides.length; k++) {
      const side = (k + round) % sides.length;
      times[side]!.push(await timePerCall(sides[side]!, calls[side]!, isAsync, contest.clock));
    }
  }
  return times;
}

async function measure(contest: Contest, size: BenchSize): Promise<BenchRow[]> {
  const isAsync = await compareResults(contest);
  const names = Object.keys(contest.baselines);
  const times = await runRounds(contest, [contest.subject, ...Object.values(contest.baselines)], isAsync, size);
  const own = times[0]!;
  const shared = {
    name: contest.name,
    value: (contest.amount * 1e3) / quantile(own, 0.5),
    unit: contest.unit,
    rounds: own.length,
  };
  if (names.length === 0) return [{ ...shared, baseline: null, ratio: null, p25: null, p75: null }];
  return names.map((baseline, index) => {
    const ratios = own.map((time, round) => times[index + 1]![round]! / time);
    return {
      ...shared,
      baseline,
      ratio: quantile(ratios, 0.5),
      p25: quantile(ratios, 0.25),
      p75: quantile(ratios, 0.75),
    };
  });
}

const short = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3));

function print(row: BenchRow): void {
  const versus = row.ratio === null ? '' : `${short(row.ratio)}x ${row.baseline}`;
  const spread = row.p25 === null || row.p75 === null ? '' : ` (${short(row.p25)} to ${short(row.p75)})`;
  process.stdout.write(
    `  ${row.name.padEnd(36)} ${short(row.value).padStart(9)} ${row.unit.padEnd(10)} ${versus}${spread}\n`,
  );
}

/** A context that prints as it goes and collects its rows. */
export function benchContext(size: BenchSize): BenchContext & { readonly rows: readonly BenchRow[] } {
  const rows: BenchRow[] = [];
  const row = (made: BenchRow): void => {
    rows.push(made);
    print(made);
  };
  return {
    ...size,
    rows,
    row,
    note: (text) => process.stdout.write(`  · ${text}\n`),
    async contest(contest) {
      const made = await measure(contest, size);
      made.forEach(row);
      return made;
    },
  };
}
