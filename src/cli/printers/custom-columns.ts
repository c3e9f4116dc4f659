/** `-o custom-columns=HEADER:.field,…`, and its form in a file: a line of headers above a line of fields. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { findAll } from '../../apimachinery/jsonpath/evaluate.ts';
import { type Node, parsePath } from '../../apimachinery/jsonpath/parse.ts';
import { UsageError } from '../../base/usage-error.ts';
import { itemsOf } from '../objects/objects.ts';
import { TableWriter } from './table-writer.ts';

export interface CustomColumn {
  readonly header: string;
  /** A path, with or without braces; an empty string for an empty column. */
  readonly field: string;
}

/** Throws UsageError unless the text has the form `HEADER:.field`. */
export function columnsOfSpec(spec: string): CustomColumn[] {
  return spec.split(',').map((column) => {
    const colon = column.indexOf(':');
    if (colon < 0)
      throw new UsageError(
        `unexpected custom-columns spec: ${JSON.stringify(column)}, expected <header>:<json-path-expr>`,
      );
    return { header: column.slice(0, colon), field: column.slice(colon + 1) };
  });
}

/** Throws UsageError unless the text has a line of headers and a line with the same number of fields. */
export function columnsOfFile(text: string, file: string): CustomColumn[] {
  const [headers = [], fields = []] = text.split('\n').map((line) => line.split(/\s+/).filter(Boolean));
  if (headers.length === 0 || headers.length !== fields.length)
    throw new UsageError(
      `${file}: expected one line of space separated headers, and one line of as many column specs; ` +
        `got ${headers.length} and ${fields.length}`,
    );
  return headers.map((header, index) => ({ header, field: fields[index] ?? '' }));
}

/**
 * Returns a format that writes a table; headers are above the first object only, and later objects are
 * aligned to them.
 */
export function customColumns(
  columns: readonly CustomColumn[],
  noHeaders: boolean,
): (object: JsonObject) => string {
  const paths = columns.map(({ field }) => (field === '' ? [] : parsePath(field)));
  const writer = new TableWriter();
  let headerDue = !noHeaders;
  return (object) => {
    const header = headerDue ? [columns.map(({ header }) => header)] : [];
    headerDue = false;
    const rows = itemsOf(object).map((item) => paths.map((path) => cellOf(path, item)));
    return writer.format([...header, ...rows]);
  };
}

function cellOf(path: readonly Node[], item: unknown): string {
  const found = findAll(path, item);
  return found.length > 0 ? found.map(goText).join(',') : '<none>';
}

/** Formats a value like Go's `%v`: `map[app:web]`, `[a b]`. */
function goText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isRecord(value)) return String(value);
  const entries = Object.keys(value).sort();
  return `map[${entries.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`;
}
