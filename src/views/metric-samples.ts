/** Samples on a page of metrics, in the text format of Prometheus. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';

const sampleForm = /^(\w+)(?:\{(.*)\})? (\S+)/;
const labelForm = /(\w+)="((?:[^"\\]|\\.)*)"/g;

/** Returns the samples that have all of the labels; each is an object with `name`, `labels` and `value`. */
export function samplesWith(page: string, labels: Readonly<Record<string, string>>): JsonObject[] {
  const wanted = Object.entries(labels);
  return page.split('\n').flatMap((line) => {
    if (line.startsWith('#') || !wanted.every(([, value]) => line.includes(value))) return [];
    const [, name, text = '', value] = sampleForm.exec(line) ?? [];
    if (name === undefined) return [];
    const found = Object.fromEntries(
      [...text.matchAll(labelForm)].map(([, key, quoted = '']) => [key, unescaped(quoted)]),
    );
    return wanted.every(([key, one]) => found[key] === one)
      ? [{ name, labels: found, value: Number(value) }]
      : [];
  });
}

const unescaped = (text: string) => text.replaceAll(/\\(.)/g, (_, char) => (char === 'n' ? '\n' : char));
