/** Lines that descriptions of several kinds share. A tab ends a cell. Pure. */
import { ageSince } from '../../apimachinery/age.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import { stringsAt } from '../../apimachinery/fields.ts';
import { lastAppliedAnnotation } from '../../apimachinery/last-applied.ts';
import { canonicalQuantity, tryParseQuantity } from '../../apimachinery/quantity.ts';
import { metadataOf, recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';

export { stringsAt };

export const none = '<none>';
export const unset = '<unset>';

/** Returns a title with one value per line; `<none>` if there are none. */
export function listLines(title: string, values: readonly string[], indent = ''): string[] {
  if (values.length === 0) return [`${indent}${title}:\t${none}`];
  return values.map((value, index) => (index === 0 ? `${indent}${title}:\t${value}` : `${indent}\t${value}`));
}

const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Sorts like Go: by code units. */
export const sorted = (values: Iterable<string>): string[] => [...values].sort(byText);

/** Returns the value at a path as text: numbers and booleans included; empty if there is none. */
export function shownAt(value: unknown, ...path: readonly string[]): string {
  const found = valueAt(value, ...path);
  return found === undefined || found === null ? '' : String(found);
}

/** Returns a value as text, or `<unset>`. */
export const shownOrUnset = (value: unknown, ...path: readonly string[]): string =>
  shownAt(value, ...path) || unset;

/** Returns a map's entries as `key=value`, sorted. */
export const pairsOf = (map: JsonObject): string[] =>
  sorted(Object.keys(map)).map((key) => `${key}=${String(map[key])}`);

/** Returns `a=1,b=2`, or `<none>`. */
export const pairsText = (map: JsonObject): string => pairsOf(map).join(',') || none;

export const labelLines = (title: string, map: JsonObject, indent = ''): string[] =>
  listLines(title, pairsOf(map), indent);

const maxAnnotation = 140;

/** Returns annotations; a long or multiline one stands indented below its key. */
export function annotationLines(title: string, map: JsonObject): string[] {
  const values = sorted(Object.keys(map))
    .filter((key) => key !== lastAppliedAnnotation)
    .flatMap((key) => {
      const value = String(map[key]).replace(/\n$/, '');
      if (key.length + value.length + 2 <= maxAnnotation && !value.includes('\n'))
        return [`${key}: ${value}`];
      return [`${key}:`, ...value.split('\n').map((line) => `  ${shorten(line)}`)];
    });
  return listLines(title, values);
}

const shorten = (text: string) =>
  text.length > maxAnnotation - 2 ? `${text.slice(0, maxAnnotation - 2)}...` : text;

/** Returns the lines that begin most descriptions: name, namespace, labels, annotations. */
export function headLines(object: JsonObject, { namespaced = true } = {}): string[] {
  const { name, namespace } = metadataOf(object);
  return [
    `Name:\t${name}`,
    ...(namespaced ? [`Namespace:\t${namespace}`] : []),
    ...labelsAndAnnotations(object),
  ];
}

export const labelsAndAnnotations = (object: JsonObject): string[] => [
  ...labelLines('Labels', recordAt(object, 'metadata', 'labels')),
  ...annotationLines('Annotations', recordAt(object, 'metadata', 'annotations')),
];

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const two = (value: number) => String(value).padStart(2, '0');

/**
 * Returns a time in the user's zone, such as `Tue, 03 Nov 2026 10:00:00 +0100` (RFC 1123). A missing time is
 * Go's zero time, as kubectl prints it.
 */
export function timeText(timestamp: string): string {
  const at = new Date(Date.parse(timestamp));
  if (Number.isNaN(at.getTime())) return 'Mon, 01 Jan 0001 00:00:00 +0000';
  const date = `${days[at.getDay()]}, ${two(at.getDate())} ${months[at.getMonth()]} ${at.getFullYear()}`;
  return `${date} ${clockText(at)} ${zoneText(at)}`;
}

export const clockText = (at: Date): string =>
  `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;

export function zoneText(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.trunc(size / 60))}${two(size % 60)}`;
}

export const createdLine = (object: JsonObject): string =>
  `CreationTimestamp:\t${timeText(textAt(object, 'metadata', 'creationTimestamp'))}`;

/** Returns the line for an object that is being deleted; undefined if it is not. */
export function terminatingLine(object: JsonObject, now: number): string | undefined {
  const { deletionTimestamp } = metadataOf(object);
  return deletionTimestamp && `Status:\tTerminating (lasts ${ageSince(deletionTimestamp, now)})`;
}

/** Returns `Kind/name` of the controller that owns the object; empty if there is none. */
export function controllerOf(object: JsonObject): string {
  const owner = recordsAt(object, 'metadata', 'ownerReferences').find(
    ({ controller }) => controller === true,
  );
  return owner ? `${textAt(owner, 'kind')}/${textAt(owner, 'name')}` : '';
}

export const controlledByLines = (object: JsonObject): string[] => {
  const controller = controllerOf(object);
  return controller ? [`Controlled By:\t${controller}`] : [];
};

/** Returns a label selector such as `app=web,tier in (a,b)`; empty if it selects everything. */
export function selectorText(selector: JsonObject): string {
  const equal = Object.entries(recordAt(selector, 'matchLabels')).map(
    ([key, value]) => [key, `${key}=${String(value)}`] as const,
  );
  const others = recordsAt(selector, 'matchExpressions').map((one) => {
    const key = textAt(one, 'key');
    const values = sorted(stringsAt(one, 'values')).join(',');
    switch (textAt(one, 'operator')) {
      case 'Exists':
        return [key, key] as const;
      case 'DoesNotExist':
        return [key, `!${key}`] as const;
      case 'NotIn':
        return [key, `${key} notin (${values})`] as const;
      default:
        return [key, `${key} in (${values})`] as const;
    }
  });
  return [...equal, ...others]
    .sort(([a], [b]) => byText(a, b))
    .map(([, text]) => text)
    .join(',');
}

export const selectorOrNone = (selector: JsonObject): string => selectorText(selector) || none;

/** Returns a quantity in its canonical form; a text that is no quantity is returned unchanged. */
export function amountText(value: unknown): string {
  if (value === undefined || value === null) return '0';
  const text = String(value);
  return tryParseQuantity(text) ? canonicalQuantity(text) : text;
}

/** Returns a line `name: amount` for each resource, sorted by name. */
export const amountLines = (amounts: JsonObject, indent: string): string[] =>
  sorted(Object.keys(amounts)).map((name) => `${indent}${name}:\t${amountText(amounts[name])}`);

/** Returns a list as Go prints a slice: `[a b]`. */
export const goList = (values: readonly string[]): string => `[${values.join(' ')}]`;

/** Returns `Title:\tvalue` if the field has a value. */
export const optionalLine = (title: string, value: string): string[] =>
  value ? [`${title}:\t${value}`] : [];

/** Returns a table of conditions, or nothing. */
export function conditionLines(
  object: JsonObject,
  columns: readonly (readonly [title: string, field: string])[],
  gap = '',
): string[] {
  const conditions = recordsAt(object, 'status', 'conditions');
  if (conditions.length === 0) return [];
  const cells = (condition: JsonObject) =>
    columns.map(([, field]) =>
      field.endsWith('Time') ? timeText(textAt(condition, field)) : textAt(condition, field),
    );
  return [
    'Conditions:',
    `  ${columns.map(([title]) => title).join('\t')}`,
    `  ${columns.map(([title]) => underlines[title] ?? '-'.repeat(title.length)).join('\t')}`,
    ...conditions.map((condition) => `  ${cells(condition).join(`${gap}\t`)}`),
  ];
}

/** Returns the conditions of the kinds of minik8s as a table: each with its reason and message. */
export const reasonLines = (object: JsonObject): string[] =>
  conditionLines(object, [
    ['Type', 'type'],
    ['Status', 'status'],
    ['Reason', 'reason'],
    ['Message', 'message'],
  ]);

/** Returns a table with a title and rules below its headers; `Title: <none>` without rows. */
export function tableLines(
  title: string,
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  if (rows.length === 0) return [`${title}:\t${none}`];
  return [`${title}:`, headers, headers.map((header) => '-'.repeat(header.length)), ...rows].map((cells) =>
    typeof cells === 'string' ? cells : `  ${cells.join('\t')}`,
  );
}

/** Rules below titles that kubectl draws longer than the title. */
const underlines: Readonly<Record<string, string>> = { LastProbeTime: '-'.repeat(17) };
