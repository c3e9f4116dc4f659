/**
 * Metrics that are updated as events happen, by Prometheus' types, each with its name and labels. An update
 * costs one look-up of the label values, and none if the cell returned by `with` is kept. Text is formatted
 * only when a page is read.
 */
import { familyHead, labelText, type MetricType, numberText } from './exposition.ts';

/** Label values, in the order of the label names. */
export type Values<L extends readonly string[]> = { readonly [I in keyof L]: string };

export interface Description<L extends readonly string[]> {
  readonly name: string;
  /** Description of the metric; one sentence. */
  readonly help: string;
  /** Label names in a fixed order; default: none. */
  readonly labels?: L;
}

/**
 * Yields the current values in Prometheus' text format: several whole lines at a time, each of them a
 * consistent snapshot.
 */
export interface Collected {
  texts(): Iterable<string>;
}

interface Cell {
  /** Labels with braces; empty when there are none. */
  readonly labels: string;
}

/** The cells of one metric, by label values. */
class Cells<L extends readonly string[], C extends Cell> {
  readonly description: Description<L>;
  readonly #make: (labels: string) => C;
  readonly #cells = new Map<string, C>();

  constructor(description: Description<L>, make: (labels: string) => C) {
    this.description = description;
    this.#make = make;
    // A metric without labels exists from the start, with the value 0.
    if ((description.labels ?? []).length === 0) this.of([]);
  }

  of(values: readonly string[]): C {
    const key = values.length === 1 ? (values[0] as string) : values.join('\0');
    let cell = this.#cells.get(key);
    if (!cell) {
      const names = this.description.labels ?? [];
      cell = this.#make(
        labelText(Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']))),
      );
      this.#cells.set(key, cell);
    }
    return cell;
  }

  /** Removes the cell of these label values. */
  drop(values: readonly string[]): void {
    this.#cells.delete(values.join('\0'));
  }

  *texts(type: MetricType, textOf: (name: string, cell: C) => string): Iterable<string> {
    if (this.#cells.size === 0) return;
    const { name, help } = this.description;
    yield `${familyHead({ name, help, type })}\n`;
    for (const cell of this.#cells.values()) yield textOf(name, cell);
  }
}

class NumberCell {
  readonly labels: string;
  value = 0;

  constructor(labels: string) {
    this.labels = labels;
  }

  add(by = 1): void {
    this.value += by;
  }

  set(value: number): void {
    this.value = value;
  }
}

const lineOf = (name: string, { labels, value }: NumberCell) => `${name}${labels} ${numberText(value)}\n`;

export type CounterCell = Pick<NumberCell, 'add'>;

/** A counter, which only increases. */
export class Counter<const L extends readonly string[] = readonly []> implements Collected {
  readonly #cells: Cells<L, NumberCell>;

  constructor(description: Description<L>) {
    this.#cells = new Cells(description, (labels) => new NumberCell(labels));
  }

  with(...values: Values<L>): CounterCell {
    return this.#cells.of(values);
  }

  add(...values: Values<L>): void {
    this.#cells.of(values).add();
  }

  texts(): Iterable<string> {
    return this.#cells.texts('counter', lineOf);
  }
}

export type GaugeCell = Pick<NumberCell, 'add' | 'set'>;

/** A gauge, which increases and decreases. */
export class Gauge<const L extends readonly string[] = readonly []> implements Collected {
  readonly #cells: Cells<L, NumberCell>;

  constructor(description: Description<L>) {
    this.#cells = new Cells(description, (labels) => new NumberCell(labels));
  }

  with(...values: Values<L>): GaugeCell {
    return this.#cells.of(values);
  }

  drop(...values: Values<L>): void {
    this.#cells.drop(values);
  }

  texts(): Iterable<string> {
    return this.#cells.texts('gauge', lineOf);
  }
}

/** Counts of values up to each bound. */
class DistributionCell {
  readonly labels: string;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(labels: string, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    const index = this.#bounds.findIndex((bound) => value <= bound);
    if (index >= 0) this.#counts[index] = (this.#counts[index] as number) + 1;
    this.#sum += value;
    this.#count++;
  }

  text(name: string): string {
    const open = this.labels === '' ? '{' : `${this.labels.slice(0, -1)},`;
    const bucket = `${name}_bucket${open}le="`;
    let below = 0;
    let text = '';
    for (const [index, bound] of this.#bounds.entries()) {
      below += this.#counts[index] as number;
      text += `${bucket}${bound}"} ${below}\n`;
    }
    return `${text}${bucket}+Inf"} ${this.#count}\n${name}_sum${this.labels} ${numberText(this.#sum)}\n${name}_count${this.labels} ${this.#count}\n`;
  }
}

export type HistogramCell = Pick<DistributionCell, 'observe'>;

export class Histogram<const L extends readonly string[] = readonly []> implements Collected {
  readonly #cells: Cells<L, DistributionCell>;

  /** `bounds` must be ascending. */
  constructor(description: Description<L> & { readonly bounds: readonly number[] }) {
    this.#cells = new Cells(description, (labels) => new DistributionCell(labels, description.bounds));
  }

  with(...values: Values<L>): HistogramCell {
    return this.#cells.of(values);
  }

  observe(value: number, ...values: Values<L>): void {
    this.#cells.of(values).observe(value);
  }

  texts(): Iterable<string> {
    return this.#cells.texts('histogram', (name, cell) => cell.text(name));
  }
}
