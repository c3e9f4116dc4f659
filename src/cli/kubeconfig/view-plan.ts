/** The document that `config view` prints: the files merged, perhaps cut down to one context. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { recordAt, recordsAt, textAt } from '../objects/objects.ts';
import {
  currentContextOf,
  type EntryList,
  entryField,
  entryNames,
  findEntry,
  type KubeconfigDocuments,
} from './documents.ts';
import { fieldTypes, newEntry } from './properties.ts';

export interface ViewOptions {
  /** Keeps only what the current context uses. */
  readonly minify: boolean;
  /** Context instead of the current one. */
  readonly context?: string | undefined;
  /** Replaces paths of files by their contents, and keeps secrets. */
  readonly flatten: boolean;
  /** Keeps secrets. */
  readonly raw: boolean;
}

/** Returns the base64 of a file; `kubeconfig` is the file to whose folder the path is relative. */
export type EncodeFile = (path: string, kubeconfig: string) => string;

interface Entry {
  readonly name: string;
  readonly path: string;
  readonly value: JsonObject;
}

type Entries = Readonly<Record<EntryList, readonly Entry[]>>;

/** Returns the document to print, with its keys in Go's order. Throws UsageError for a missing entry. */
export function viewedDocument(
  documents: KubeconfigDocuments,
  options: ViewOptions,
  encode: EncodeFile,
): JsonObject {
  const current = (options.minify && options.context) || currentContextOf(documents);
  const all: Entries = {
    clusters: entriesOf(documents, 'clusters'),
    users: entriesOf(documents, 'users'),
    contexts: entriesOf(documents, 'contexts'),
  };
  const kept = options.minify ? minified(all, current) : all;
  const shown = (list: EntryList, entry: Entry) => {
    const whole = options.flatten ? flattened(entry, list, encode) : entry.value;
    return inOrder(list, options.flatten || options.raw ? whole : redacted(whole));
  };
  const listed = (list: EntryList) => {
    const entries = kept[list].map((entry) => ({ name: entry.name, [entryField[list]]: shown(list, entry) }));
    return entries.length > 0 ? entries : null;
  };
  return {
    kind: 'Config',
    apiVersion: 'v1',
    preferences: mergedPreferences(documents),
    clusters: listed('clusters'),
    users: listed('users'),
    contexts: listed('contexts'),
    'current-context': current,
    ...mergedExtensions(documents),
  };
}

const entriesOf = (documents: KubeconfigDocuments, list: EntryList): readonly Entry[] =>
  entryNames(documents, list).flatMap((name) => {
    const found = findEntry(documents, list, name);
    return found ? [{ name, ...found }] : [];
  });

const mergedPreferences = ({ files }: KubeconfigDocuments): JsonObject =>
  Object.assign({}, ...files.toReversed().map(({ document }) => recordAt(document, 'preferences')));

function mergedExtensions({ files }: KubeconfigDocuments): JsonObject {
  const byName = new Map(
    files
      .toReversed()
      .flatMap(({ document }) =>
        recordsAt(document, 'extensions').map((one) => [textAt(one, 'name'), one] as const),
      ),
  );
  return byName.size > 0 ? { extensions: [...byName.values()] } : {};
}

function minified(all: Entries, current: string): Entries {
  if (current === '') throw new UsageError('current-context must exist in order to minify');
  const context = named(all.contexts, current, 'context');
  const cluster = textAt(context.value, 'cluster');
  const user = textAt(context.value, 'user');
  return {
    contexts: [context],
    clusters: cluster === '' ? [] : [named(all.clusters, cluster, 'cluster')],
    users: user === '' ? [] : [named(all.users, user, 'user')],
  };
}

function named(entries: readonly Entry[], name: string, what: string): Entry {
  const found = entries.find((entry) => entry.name === name);
  if (!found) throw new UsageError(`cannot locate ${what} ${name}`);
  return found;
}

const inlined: Readonly<Partial<Record<EntryList, readonly string[]>>> = {
  clusters: ['certificate-authority'],
  users: ['client-certificate', 'client-key'],
};

function flattened({ name, path, value }: Entry, list: EntryList, encode: EncodeFile): JsonObject {
  return (inlined[list] ?? []).reduce((made, field) => {
    const file = textAt(made, field);
    if (file === '') return made;
    if (textAt(made, `${field}-data`) !== '')
      throw new UsageError(`${list}.${name}: cannot have values for both ${field} and ${field}-data`);
    const { [field]: _, ...rest } = made;
    return { ...rest, [`${field}-data`]: encode(file, path) };
  }, value);
}

const secrets: Readonly<Record<string, string>> = {
  'certificate-authority-data': 'DATA+OMITTED',
  'client-certificate-data': 'DATA+OMITTED',
  'client-key-data': 'DATA+OMITTED',
  token: 'REDACTED',
  password: 'REDACTED',
};

const redacted = (value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, field ? (secrets[key] ?? field) : field]),
  );

/** Returns the entry with its fields in Go's order; fields that kubectl does not know come last. */
function inOrder(list: EntryList, value: JsonObject): JsonObject {
  const whole: JsonObject = { ...newEntry[list], ...value };
  const known = Object.keys(fieldTypes[list]).filter((field) => Object.hasOwn(whole, field));
  const ordered = Object.fromEntries(known.map((field) => [field, goOrdered(field, whole[field])]));
  return { ...ordered, ...Object.fromEntries(Object.entries(whole).filter(([key]) => !known.includes(key))) };
}

const innerOrder: Readonly<Record<string, readonly string[]>> = {
  exec: ['command', 'args', 'env', 'apiVersion', 'installHint', 'provideClusterInfo', 'interactiveMode'],
  'auth-provider': ['name', 'config'],
};

function goOrdered(field: string, value: unknown): unknown {
  const order = innerOrder[field];
  if (!order || !isRecord(value)) return value;
  const known = order.filter((key) => Object.hasOwn(value, key));
  const rest = Object.keys(value).filter((key) => !known.includes(key));
  return Object.fromEntries([...known, ...rest].map((key) => [key, value[key]]));
}
