/**
 * Writes a value of JSON as YAML, byte for byte as kubectl does: the order of keys, quotes, blocks, and lines
 * that are folded. Pure.
 */
import { compareKeys } from './key-order.ts';
import { hasBreak } from './scalar-style.ts';
import { writeNumber, writeText } from './write-scalar.ts';

/** Returns one document, which ends with a line break. Fields without a value are left out. */
export function formatYaml(value: unknown): string {
  if (isFilledList(value)) return listLines(value, 0, '');
  if (isFilledMap(value)) return mapLines(value, 0, '');
  return scalarLine(value, 0, 2);
}

type Fields = Readonly<Record<string, unknown>>;

const isFilledList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.length > 0;

const isFilledMap = (value: unknown): value is Fields =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).some((field) => field !== undefined);

/** Returns the lines of a map; `begun` is what the first line has instead of its indentation. */
function mapLines(map: Fields, indent: number, begun: string | undefined): string {
  const pad = ' '.repeat(indent);
  let [out, start] = ['', begun ?? pad];
  for (const key of Object.keys(map).sort(compareKeys)) {
    const value = map[key];
    if (value === undefined) continue;
    out += start + (isSimpleKey(key) ? fieldLines(key, value, indent) : longFieldLines(key, value, indent));
    start = pad;
  }
  return out;
}

/** Returns a field whose key and value begin on the same line. */
function fieldLines(key: string, value: unknown, indent: number): string {
  const place = { column: indent, indent: indent + 2, oneLine: true };
  // kubectl writes a key << without quotes, which readers take for a merge.
  const name = key === '<<' ? '"<<":' : `${writeText(key.toWellFormed(), place)}:`;
  if (isFilledList(value)) return `${name}\n${listLines(value, indent, undefined)}`;
  if (isFilledMap(value)) return `${name}\n${mapLines(value, indent + 2, undefined)}`;
  return `${name} ${scalarLine(value, indent + [...name].length + 1, indent + 2)}`;
}

/** Returns a field whose key has a line, or several lines, of its own. */
function longFieldLines(key: string, value: unknown, indent: number): string {
  const name = scalarLine(key, indent + 2, indent + 2);
  return `? ${name}${' '.repeat(indent)}: ${nestedLines(value, indent)}`;
}

function listLines(list: readonly unknown[], indent: number, begun: string | undefined): string {
  const pad = ' '.repeat(indent);
  let [out, start] = ['', begun ?? pad];
  for (const item of list) {
    out += `${start}- ${nestedLines(item, indent)}`;
    start = pad;
  }
  return out;
}

/** Returns a value that begins on a line which has a mark of two characters. */
function nestedLines(value: unknown, indent: number): string {
  if (isFilledList(value)) return listLines(value, indent + 2, '');
  if (isFilledMap(value)) return mapLines(value, indent + 2, '');
  return scalarLine(value, indent + 2, indent + 2);
}

/** Maximum size, in bytes, of a key on the line of its value. */
const maxKeyBytes = 128;

const isSimpleKey = (key: string): boolean =>
  key.length <= maxKeyBytes &&
  !hasBreak(key) &&
  (key.length * 3 <= maxKeyBytes || sizeOf(key) <= maxKeyBytes);

const sizeOf = (key: string): number => new TextEncoder().encode(key).length;

/** Returns a scalar, or an empty list or map, with the break that ends its line. */
function scalarLine(value: unknown, column: number, indent: number): string {
  if (typeof value === 'string') {
    const text = writeText(value.toWellFormed(), { column, indent });
    return /[\n\u2028\u2029]$/.test(text) ? text : `${text}\n`;
  }
  if (typeof value === 'number') return `${writeNumber(value)}\n`;
  if (typeof value === 'boolean') return `${value}\n`;
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? '[]\n' : '{}\n';
  return 'null\n';
}
