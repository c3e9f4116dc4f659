/** Prometheus' text format, version 0.0.4. Pure. */

export type MetricType = 'counter' | 'gauge' | 'histogram';

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  /** In the order they are written. */
  readonly labels?: Labels;
  readonly value: number;
  /** When it was measured, in milliseconds since the epoch; absent: when it is asked for. */
  readonly at?: number | undefined;
  /** Of a histogram: `_bucket`, `_sum` or `_count`. */
  readonly suffix?: string;
}

/** Samples of one name; of one set of labels there may be one. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  readonly samples: readonly Sample[];
}

export const expositionType = 'text/plain; version=0.0.4; charset=utf-8';

/** A family without samples is left out, as Prometheus' own library does. */
export function exposition(families: readonly Family[]): string {
  const lines: string[] = [];
  for (const { name, help, type, samples } of families) {
    if (samples.length === 0) continue;
    lines.push(`# HELP ${name} ${escapeHelp(help)}`, `# TYPE ${name} ${type}`);
    for (const { labels = {}, value, at, suffix = '' } of samples) {
      const time = at === undefined ? '' : ` ${Math.round(at)}`;
      lines.push(`${name}${suffix}${labelText(labels)} ${numberText(value)}${time}`);
    }
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

const escapeHelp = (text: string) => text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n');
const escapeLabel = (text: string) => escapeHelp(text).replace(/"/g, '\\"');

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

/** How often things of each kind happened; a kind that never did is left out. */
export class Counts {
  readonly #counts = new Map<string, { readonly labels: Labels; value: number }>();

  /** `labels`: always the same names, in the same order. */
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

  /** `bounds`: rising. */
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
