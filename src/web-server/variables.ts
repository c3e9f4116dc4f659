/** Variables of a configuration of nginx that are computed from the request: maps and splits. Pure. */
import { quoted } from './quote.ts';

/** Name of the variable with a dollar sign as its value, since a dollar sign cannot be quoted. */
export const dollar = '$minik8s_dollar';

/** Returns a text in quotes whose dollar signs are literal. */
export const quotedText = (text: string): string => quoted(text.replaceAll('$', () => `$\{minik8s_dollar}`));

/** A line of a map: a pattern for the source, and the value, which is quoted and may have variables. */
export interface MapLine {
  readonly pattern: string;
  readonly value: string;
}

export class Variables {
  /** Names by the definition without its name. */
  readonly #names = new Map<string, string>();
  readonly #texts = new Map<string, string>();

  /** Returns the variable with the value of the first line whose pattern matches the source. */
  map(source: string, lines: readonly MapLine[], otherwise = "''"): string {
    const text = lines.map(({ pattern, value }) => `    ${quoted(`~${pattern}`)} ${value};\n`).join('');
    return this.#named('map', (name) => `  map ${source} ${name} {\n    default ${otherwise};\n${text}  }\n`);
  }

  /** Returns the variable that has each value for its part of the requests; the weights are above 0. */
  split(parts: readonly { readonly weight: number; readonly value: string }[]): string {
    const total = parts.reduce((sum, { weight }) => sum + weight, 0);
    const lines = parts.map(({ weight, value }, index) =>
      index === parts.length - 1 ? `    * ${value};\n` : `    ${percent(weight / total)} ${value};\n`,
    );
    return this.#named(
      'split',
      (name) => `  split_clients "$request_id ${name.slice(1)}" ${name} {\n${lines.join('')}  }\n`,
    );
  }

  #named(kind: string, render: (name: string) => string): string {
    const key = render('');
    const known = this.#names.get(key) ?? `$minik8s_${kind}_${this.#names.size}`;
    this.#names.set(key, known);
    this.#texts.set(known, render(known));
    return known;
  }

  /** Returns the definitions; each variable is defined after those that it uses. */
  render(): string {
    if (this.#texts.size === 0) return '';
    return `  geo ${dollar} {\n    default "$";\n  }\n${[...this.#texts.values()].join('')}`;
  }
}

/** Returns a percentage with two decimals, as nginx reads it. A part above 0 never becomes 0. */
const percent = (part: number) => `${Math.max(0.01, Math.min(99.99, part * 100)).toFixed(2)}%`;
