/**
 * The readable description of an object of any kind: metadata, every field, conditions as a table, then
 * events.
 */
import { ageSince } from '../../apimachinery/age.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt, valueAt } from '../objects/objects.ts';
import { shown, TableWriter } from './table-writer.ts';

/** `more` are lines of the head that come from other objects, such as the endpoints of a Service. */
export function describeObject(
  object: JsonObject,
  events: readonly JsonObject[],
  now: number,
  more: readonly Entry[] = [],
): string {
  const { name, namespace, labels, annotations, creationTimestamp, deletionTimestamp } = metadataOf(object);
  const { apiVersion, kind, metadata: _, ...rest } = object;
  const owners = recordsAt(object, 'metadata', 'ownerReferences').map(
    (owner) => `${textAt(owner, 'kind')}/${textAt(owner, 'name')}`,
  );
  const head: Entry[] = [
    ['Name', name],
    ...(namespace ? [['Namespace', namespace] as const] : []),
    ...multiline(
      'Labels',
      Object.entries(labels).map(([key, value]) => `${key}=${value}`),
    ),
    ...multiline(
      'Annotations',
      Object.entries(annotations)
        .filter(([key]) => !isLong(key))
        .map(([key, value]) => `${key}: ${value}`),
    ),
    ['API Version', String(apiVersion)],
    ['Kind', String(kind)],
    ['Created', `${creationTimestamp ?? '<unknown>'} (${ageSince(creationTimestamp, now)} ago)`],
    ...(deletionTimestamp ? [['Terminating', `since ${deletionTimestamp}`] as const] : []),
    ...(owners.length > 0 ? [['Controlled By', owners.join(', ')] as const] : []),
    ...more,
  ];
  const body = kind === 'Secret' ? withSizes(rest) : rest;
  return shown(alignEntries(head, '') + sections(body, '') + eventTable(events, now));
}

/** The last-applied annotation is not shown in descriptions. */
const isLong = (annotation: string) => annotation === 'kubectl.kubernetes.io/last-applied-configuration';

export type Entry = readonly [label: string, value: string];

const multiline = (label: string, values: readonly string[]): Entry[] =>
  values.length === 0
    ? [[label, '<none>']]
    : [...values].sort().map((value, index) => [index === 0 ? label : '', value] as const);

function alignEntries(entries: readonly Entry[], indent: string): string {
  const width = Math.max(0, ...entries.map(([label]) => label.length)) + 3;
  return entries
    .map(([label, value]) => `${indent}${`${label}${label && ':'}`.padEnd(width)}${value}\n`)
    .join('');
}

/** Replaces the values of a Secret by their sizes. */
function withSizes(secret: JsonObject): JsonObject {
  const { data, stringData: _, ...rest } = secret;
  const sizes = Object.entries(isRecord(data) ? data : {}).map(([key, value]) => [
    key,
    `${Buffer.from(String(value), 'base64').length} bytes`,
  ]);
  return { ...rest, data: Object.fromEntries(sizes) };
}

/** Returns the fields of an object: plain ones aligned, then the others below their names. */
export function sections(object: JsonObject, indent: string): string {
  const entries = Object.entries(object).filter(([, value]) => value !== null && value !== undefined);
  const plain = entries.filter(([, value]) => !isNested(value));
  const nested = entries.filter(([, value]) => isNested(value));
  return (
    alignEntries(
      plain.map(([key, value]) => [titleOf(key), inline(value, indent)] as const),
      indent,
    ) + nested.map(([key, value]) => section(key, value, indent)).join('')
  );
}

const isNested = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(isRecord) : isRecord(value) && Object.keys(value).length > 0;

function inline(value: unknown, indent: string): string {
  if (Array.isArray(value)) return value.map(String).join(', ') || '<none>';
  if (isRecord(value)) return '<none>';
  const text = String(value);
  return text.includes('\n') ? `\n${text.replaceAll(/^/gm, `${indent}  `)}` : text;
}

function section(key: string, value: unknown, indent: string): string {
  const title = `${indent}${titleOf(key)}:\n`;
  const inner = `${indent}  `;
  if (key === 'conditions' && Array.isArray(value)) return title + conditionTable(recordsOf(value), inner);
  if (Array.isArray(value)) return title + value.map((item) => listItem(item, inner)).join('');
  return title + (isRecord(value) ? sections(keyed(key, value), inner) : '');
}

const recordsOf = (list: readonly unknown[]) => list.filter(isRecord);

/** Maps with the user's own keys, such as labels: their keys are not field names. */
const ownKeys = new Set(['labels', 'annotations', 'matchLabels', 'data', 'nodeSelector', 'selector']);
const verbatim = '\u0000';

const keyed = (name: string, map: JsonObject): JsonObject =>
  ownKeys.has(name) && Object.values(map).every((value) => typeof value === 'string')
    ? Object.fromEntries(Object.entries(map).map(([key, value]) => [`${verbatim}${key}`, value]))
    : map;

/** The first line of an item begins with a dash. */
function listItem(item: unknown, indent: string): string {
  if (!isRecord(item)) return `${indent}- ${inline(item, indent)}\n`;
  const text = sections(item, `${indent}  `);
  return `${indent}- ${text.slice(indent.length + 2)}`;
}

/** Converts `terminationGracePeriodSeconds` to `Termination Grace Period Seconds`, `podIP` to `Pod IP`. */
function titleOf(key: string): string {
  if (key.startsWith(verbatim)) return key.slice(verbatim.length);
  if (!/^[a-z][A-Za-z0-9]*$/.test(key)) return key;
  const words = key
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z](?!s\b)[a-z])/g, '$1 $2');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function conditionTable(conditions: readonly JsonObject[], indent: string): string {
  const rows = conditions.map((condition) =>
    ['type', 'status', 'reason', 'message'].map((field) => textAt(condition, field)),
  );
  return indented([['Type', 'Status', 'Reason', 'Message'], ...rows], indent);
}

function indented(rows: readonly (readonly string[])[], indent: string): string {
  return new TableWriter()
    .format(rows)
    .replaceAll(/[ ]+$/gm, '')
    .replaceAll(/^(?=.)/gm, indent);
}

function eventTable(events: readonly JsonObject[], now: number): string {
  if (events.length === 0) return 'Events:  <none>\n';
  const rows = events
    .map((event) => ({ event, last: lastSeen(event) }))
    .sort((a, b) => (a.last < b.last ? -1 : 1))
    .map(({ event, last }) => {
      const count = valueAt(event, 'count');
      const times = typeof count === 'number' && count > 1;
      const first = ageSince(textAt(event, 'firstTimestamp') || last, now);
      const age = times ? `${ageSince(last, now)} (x${count} over ${first})` : ageSince(last, now);
      const from = textAt(event, 'source', 'component') || textAt(event, 'reportingComponent');
      return [textAt(event, 'type'), textAt(event, 'reason'), age, from, textAt(event, 'message').trim()];
    });
  return `Events:\n${indented([['Type', 'Reason', 'Age', 'From', 'Message'], ...rows], '  ')}`;
}

const lastSeen = (event: JsonObject) =>
  textAt(event, 'series', 'lastObservedTime') ||
  textAt(event, 'lastTimestamp') ||
  textAt(event, 'eventTime') ||
  textAt(event, 'metadata', 'creationTimestamp');
