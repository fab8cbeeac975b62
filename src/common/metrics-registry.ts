/**
 * What a process measures, in memory, and its exposition as Prometheus text (format 0.0.4).
 *
 * A family is a name; a series is a family with certain label values. Whoever measures on a hot path gets its series once
 * and keeps it: adding to it is an addition, recording a search in a small table, and neither allocates. What is known
 * anyway (sizes, counts kept elsewhere) is observed when the text is made and costs nothing until then.
 *
 * Label values must come from bounded sets (API and error names, operations). A family that grows past `MAX_SERIES` all
 * the same counts the rest under `overflow="true"`. Main thread.
 */
import { assert } from './assert.ts';

export type Labels = Readonly<Record<string, string>>;
/** Tells one value of an observed family. */
export type Observe = (value: number, labels?: Labels) => void;
type Kind = 'counter' | 'gauge' | 'histogram';

const MAX_SERIES = 2_000;
const MAX_LABEL_VALUE = 256;
const OVERFLOW = 'overflow="true"';

/** A count that only rises. */
export class CounterSeries {
  value = 0;

  add(amount: number): void {
    this.value += amount;
  }
}

/** A distribution over fixed buckets. */
export class HistogramSeries {
  readonly #bounds: readonly number[];
  /** Per bound the values up to it and above the bound before; the last one is what lies above all. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  record(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > bounds[at]!) at++;
    this.#counts[at]! += 1;
    this.#sum += value;
  }

  *lines(name: string, labels: string): Iterable<string> {
    const open = labels === '' ? '{' : `{${labels},`;
    let count = 0;
    for (const [at, own] of this.#counts.entries()) {
      count += own;
      yield `${name}_bucket${open}le="${this.#bounds[at] ?? '+Inf'}"} ${count}`;
    }
    const braced = labels === '' ? '' : `{${labels}}`;
    yield `${name}_sum${braced} ${this.#sum}`;
    yield `${name}_count${braced} ${count}`;
  }
}

/** The series of one name, by their label values. */
export class Family<S> {
  readonly #make: () => S;
  readonly #series = new Map<string, S>();

  constructor(make: () => S) {
    this.#make = make;
  }

  /** The series with these labels, made when it is new. */
  of(labels: Labels = {}): S {
    const key = labelText(labels);
    const known = this.#series.get(key);
    if (known) return known;
    const full = this.#series.size >= MAX_SERIES;
    const series = (full && this.#series.get(OVERFLOW)) || this.#make();
    this.#series.set(full ? OVERFLOW : key, series);
    return series;
  }

  entries(): Iterable<[labels: string, series: S]> {
    return this.#series.entries();
  }
}

interface Registered {
  readonly kind: Kind;
  readonly help: string;
  readonly family: object;
  readonly lines: (name: string) => Iterable<string>;
}

export class MetricsRegistry {
  readonly #registered = new Map<string, Registered>();

  /** The family of that name, which an earlier call may have made. @throws AssertionError when it is of another kind */
  counter(name: string, help: string): Family<CounterSeries> {
    return this.#family(name, 'counter', help, () => new Family(() => new CounterSeries()), counterLines);
  }

  /** @param bounds rising upper bounds of the buckets; what lies above them all is counted as well */
  histogram(name: string, help: string, bounds: readonly number[]): Family<HistogramSeries> {
    return this.#family(name, 'histogram', help, () => new Family(() => new HistogramSeries(bounds)), histogramLines);
  }

  /** A family whose values are asked for when the text is made. Several may observe one name with other labels. */
  observe(kind: 'counter' | 'gauge', name: string, help: string, read: (observe: Observe) => void): void {
    this.#family(name, kind, help, () => [] as ((observe: Observe) => void)[], observedLines).push(read);
  }

  /** Everything, families in order of their names. A reader that throws is left out. */
  text(): string {
    const parts: string[] = [];
    for (const [name, { kind, help, lines }] of [...this.#registered].sort(([a], [b]) => (a < b ? -1 : 1))) {
      parts.push(`# HELP ${name} ${help.replace(/\s+/g, ' ')}`, `# TYPE ${name} ${kind}`, ...lines(name));
    }
    return `${parts.join('\n')}\n`;
  }

  #family<F extends object>(
    name: string,
    kind: Kind,
    help: string,
    make: () => F,
    linesOf: (name: string, family: F) => Iterable<string>,
  ): F {
    const known = this.#registered.get(name);
    assert(!known || known.kind === kind, `${name} is one kind of metric only`);
    if (known) return known.family as F;
    assert(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name), `${name} is a name of a Prometheus metric`);
    const family = make();
    this.#registered.set(name, { kind, help, family, lines: (of) => linesOf(of, family) });
    return family;
  }
}

function* counterLines(name: string, family: Family<CounterSeries>): Iterable<string> {
  for (const [labels, { value }] of family.entries()) yield line(name, labels, value);
}

function* histogramLines(name: string, family: Family<HistogramSeries>): Iterable<string> {
  for (const [labels, series] of family.entries()) yield* series.lines(name, labels);
}

function observedLines(name: string, readers: readonly ((observe: Observe) => void)[]): string[] {
  const values = new Map<string, number>();
  for (const read of readers) {
    const own: [labels: string, value: number][] = [];
    try {
      read((value, labels = {}) => own.push([labelText(labels), value]));
    } catch {
      continue; // what it measured is closed; the rest of the text is as good as before
    }
    // Of two that tell the same, the later one measures what has taken the other's place.
    for (const [labels, value] of own) values.set(labels, value);
  }
  return [...values].map(([labels, value]) => line(name, labels, value));
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '"': '\\"' };

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${metricName(name)}="${escaped(value)}"`)
    .sort()
    .join();
}

function escaped(value: string): string {
  return value.slice(0, MAX_LABEL_VALUE).replace(/[\\\n"]/g, (character) => ESCAPES[character]!);
}

/** Dots and whatever else a Prometheus name must not have become underscores. */
export function metricName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_:]/g, '_');
}
