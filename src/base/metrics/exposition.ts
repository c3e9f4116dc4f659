/** Prometheus' text format, version 0.0.4. Pure. */

export type MetricType = 'counter' | 'gauge' | 'histogram';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** Labels in the order in which they are written. */
  readonly labels?: Labels;
  readonly value: number;
  /** Time of the measurement, in milliseconds since the epoch; default: the time of the scrape. */
  readonly at?: number | undefined;
  /** Suffix of a histogram's sample: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string;
}

/** Samples of one name; each set of labels occurs at most once. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly samples: readonly Sample[];
}

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/** Returns the text of the families. A family without samples is left out, as in Prometheus' own library. */
export function exposition(families: readonly Family[]): string {
  // Samples of many families may share one object: formatting labels is most of the work.
  const texts = new Map<Labels, string>();
  const lines = families.flatMap((family) => [...familyLines(family, texts)]);
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** Yields the lines of a family, without line ends. `texts` caches the text of labels. */
export function* familyLines(family: Family, texts = new Map<Labels, string>()): Generator<string> {
  const { name, samples } = family;
  if (samples.length === 0) return;
  yield familyHead(family);
  for (const { labels = none, value, at, suffix = '' } of samples) {
    const time = at === undefined ? '' : ` ${Math.round(at)}`;
    yield `${name}${suffix}${texts.getOrInsertComputed(labels, labelText)} ${numberText(value)}${time}`;
  }
}

const none: Labels = {};

/** Returns the lines before the samples of a family, without the last line end. */
export const familyHead = ({ name, help, type }: Omit<Family, 'samples'>) =>
  `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}`;

/** Returns the labels with braces; empty when there are none. */
export function labelText(labels: Labels): string {
  const pairs = labelPairs(labels);
  return pairs === '' ? '' : `{${pairs}}`;
}

/** Returns the labels without braces, `a="1",b="2"`; empty when there are none. */
export const labelPairs = (labels: Labels) =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');

const escapeHelp = (text: string) => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
const escapeLabel = (text: string) => (/["\\\n]/.test(text) ? escapeHelp(text).replace(/"/g, '\\"') : text);

export function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

/** Counters by labels; a combination that never occurred is left out. */
export class Counts {
  readonly #counts = new Map<string, { readonly labels: Labels; value: number }>();

  /** Increments a counter. `labels` must always have the same names, in the same order. */
  add(labels: Labels = {}): void {
    const key = JSON.stringify(labels);
    const known = this.#counts.get(key);
    if (known) known.value++;
    else this.#counts.set(key, { labels, value: 1 });
  }

  samples(): readonly Sample[] {
    return [...this.#counts.values()].map(({ labels, value }) => ({ labels, value }));
  }
}

/** Counts of values up to each bound. */
export class Histogram {
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  /** `bounds` must be ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    const index = this.#bounds.findIndex((bound) => value <= bound);
    if (index >= 0) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += value;
    this.#count++;
  }

  samples(labels: Readonly<Record<string, string>> = {}): readonly Sample[] {
    let below = 0;
    const buckets = this.#bounds.map((bound, index) => {
      below += this.#counts[index] ?? 0;
      return { suffix: '_bucket', labels: { ...labels, le: numberText(bound) }, value: below };
    });
    return [
      ...buckets,
      { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: this.#count },
      { suffix: '_sum', labels, value: this.#sum },
      { suffix: '_count', labels, value: this.#count },
    ];
  }
}

/** A histogram for each observed set of labels. */
export class Histograms {
  readonly #bounds: readonly number[];
  readonly #histograms = new Map<string, { readonly labels: Labels; readonly histogram: Histogram }>();

  /** `bounds` must be ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
  }

  /** Records a value. `labels` must always have the same names, in the same order. */
  observe(labels: Labels, value: number): void {
    this.#histograms
      .getOrInsertComputed(JSON.stringify(labels), () => ({ labels, histogram: new Histogram(this.#bounds) }))
      .histogram.observe(value);
  }

  samples(): readonly Sample[] {
    return [...this.#histograms.values()].flatMap(({ labels, histogram }) => histogram.samples(labels));
  }
}

/** Default bounds in seconds, as in Prometheus' own library and upstream. */
export const usualBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Returns `count` bounds, each `factor` times the previous one. */
export const exponentialBounds = (first: number, factor: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => Number((first * factor ** index).toPrecision(12)));
