/**
 * Properties of a kubeconfig by dotted names, such as `clusters.main.server`, for `config set` and `unset`.
 * A name of an entry may have dots: it ends where a field of the entry follows. Pure.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { recordAt } from '../objects/objects.ts';
import { Changes, type EntryList, findEntry, type KubeconfigDocuments } from './documents.ts';

/** The type of a field: `whole` fields can only be unset. */
type FieldType = 'text' | 'boolean' | 'bytes' | 'whole';

/** Fields of the entries in Go's order, which is the order of JSON. */
export const fieldTypes: Readonly<Record<EntryList, Readonly<Record<string, FieldType>>>> = {
  clusters: {
    server: 'text',
    'tls-server-name': 'text',
    'insecure-skip-tls-verify': 'boolean',
    'certificate-authority': 'text',
    'certificate-authority-data': 'bytes',
    'proxy-url': 'text',
    'disable-compression': 'boolean',
    extensions: 'whole',
  },
  users: {
    'client-certificate': 'text',
    'client-certificate-data': 'bytes',
    'client-key': 'text',
    'client-key-data': 'bytes',
    token: 'text',
    tokenFile: 'text',
    as: 'text',
    'as-uid': 'text',
    'as-groups': 'whole',
    'as-user-extra': 'whole',
    username: 'text',
    password: 'text',
    'auth-provider': 'whole',
    exec: 'whole',
    extensions: 'whole',
  },
  contexts: { cluster: 'text', user: 'text', namespace: 'text', extensions: 'whole' },
};

/** Names of fields that kubectl has on the command line, and the names of the same fields in the file. */
const otherNames: Readonly<Record<string, string>> = {
  'act-as': 'as',
  'act-as-uid': 'as-uid',
  'act-as-groups': 'as-groups',
  'act-as-user-extra': 'as-user-extra',
};

/** Fields that an entry has even if they are empty. */
const required: readonly string[] = ['server', 'cluster', 'user'];

type Property =
  | { readonly kind: 'current-context' }
  | { readonly kind: 'colors' }
  | { readonly kind: 'preferences' }
  | { readonly kind: 'list'; readonly list: EntryList }
  | { readonly kind: 'entry'; readonly list: EntryList; readonly name: string }
  | { readonly kind: 'field'; readonly list: EntryList; readonly name: string; readonly field: string };

/** Reads a dotted name. Throws UsageError for a field that a kubeconfig does not have. */
function propertyOf(path: string): Property {
  const [first = '', ...rest] = path.split('.');
  if (path === 'current-context') return { kind: 'current-context' };
  if (path === 'preferences') return { kind: 'preferences' };
  if (path === 'preferences.colors') return { kind: 'colors' };
  if (!Object.hasOwn(fieldTypes, first)) throw unknown(path);
  const list = first as EntryList;
  if (rest.length === 0) return { kind: 'list', list };
  const isField = (word: string) => Object.hasOwn(fieldTypes[list], otherNames[word] ?? word);
  const at = rest.findIndex((word, index) => index > 0 && isField(word));
  if (at < 0) return { kind: 'entry', list, name: rest.join('.') };
  if (at !== rest.length - 1) throw unknown(path);
  const word = rest[at] ?? '';
  return { kind: 'field', list, name: rest.slice(0, at).join('.'), field: otherNames[word] ?? word };
}

const unknown = (path: string) =>
  new UsageError(
    `${JSON.stringify(path)} is no property of a kubeconfig: expected current-context, preferences.colors, ` +
      'clusters.NAME.FIELD, users.NAME.FIELD or contexts.NAME.FIELD',
  );

/** Returns the entry with the field; an empty value removes a field that may be absent. */
export function withField(entry: JsonObject, field: string, value: unknown): JsonObject {
  const isEmpty = value === undefined || value === '' || value === false;
  if (!isEmpty) return { ...entry, [field]: value };
  const { [field]: _, ...rest } = entry;
  return required.includes(field) ? { ...rest, [field]: '' } : rest;
}

/** Returns the fields that a new entry has, as kubectl writes it. */
export const newEntry: Readonly<Record<EntryList, JsonObject>> = {
  clusters: { server: '' },
  users: {},
  contexts: { cluster: '', user: '' },
};

/** Returns the files that `config set` changes. `raw` is true if `text` is not yet base64. */
export function propertySet(
  documents: KubeconfigDocuments,
  path: string,
  text: string,
  raw: boolean,
): Changes {
  if (text === '') throw new UsageError('you cannot use set to unset a property');
  const property = propertyOf(path);
  const changes = new Changes(documents);
  if (property.kind === 'current-context') return changes.use(text);
  if (property.kind === 'colors') return withPreferences(documents, { colors: booleanOf(text) });
  if (property.kind !== 'field')
    throw new UsageError(`${JSON.stringify(path)} has fields: set one of them, not the whole`);
  const { list, name, field } = property;
  const type = fieldTypes[list][field];
  if (type === 'whole') throw new UsageError(`${JSON.stringify(path)} has fields, which set cannot change`);
  const before = findEntry(documents, list, name)?.value ?? newEntry[list];
  return changes.put(list, name, withField(before, field, encodedValue(type, text, raw)));
}

function encodedValue(type: FieldType | undefined, text: string, raw: boolean): string | boolean {
  if (type === 'boolean') return booleanOf(text);
  if (type !== 'bytes') return text;
  if (raw) return Buffer.from(text).toString('base64');
  if (Buffer.from(text, 'base64').toString('base64') !== text)
    throw new UsageError('error decoding input value: expected base64; --set-raw-bytes=true encodes it');
  return text;
}

/** Reads the words that Go reads as a boolean. */
function booleanOf(text: string): boolean {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  throw new UsageError(`expected true or false, got ${JSON.stringify(text)}`);
}

/** Returns the files that `config unset` changes. */
export function propertyUnset(documents: KubeconfigDocuments, path: string): Changes {
  const property = propertyOf(path);
  const changes = new Changes(documents);
  switch (property.kind) {
    case 'current-context':
      return changes.use('');
    case 'colors':
      return withPreferences(documents, { colors: undefined });
    case 'preferences':
      return withPreferences(documents, undefined);
    case 'list':
      for (const { path: file, document } of documents.files)
        if (Array.isArray(document[property.list]))
          changes.edit(file, (one) => ({ ...one, [property.list]: [] }));
      return changes;
    case 'entry':
      return changes.remove(property.list, property.name);
    case 'field': {
      const { list, name, field } = property;
      const found = findEntry(documents, list, name);
      if (!found) throw new UsageError(`current map key \`${name}\` is invalid: ${list} has no such entry`);
      return changes.put(list, name, withField(found.value, field, undefined));
    }
  }
}

/** Changes preferences in the first file, which has precedence; undefined removes all of them. */
function withPreferences(documents: KubeconfigDocuments, change: JsonObject | undefined): Changes {
  const path = documents.files[0]?.path ?? documents.target;
  return new Changes(documents).edit(path, (document) => {
    const after = change ? { ...recordAt(document, 'preferences'), ...change } : {};
    return {
      ...document,
      preferences: Object.fromEntries(Object.entries(after).filter(([, value]) => value)),
    };
  });
}
