/** Data of ConfigMaps and Secrets from the flags --from-literal, --from-file and --from-env-file. */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { goJson } from '../../apimachinery/go-json.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { FlagTable } from '../flags/flags.ts';
import type { Given } from './generator.ts';

export const fileSourceFlag = {
  'from-file': {
    type: 'string',
    hint: '[KEY=]FILE',
    about: 'file, or directory of files, whose bytes are a value; may be repeated',
  },
} as const satisfies FlagTable;

export const sourceFlags = {
  ...fileSourceFlag,
  'from-literal': { type: 'string', hint: 'KEY=VALUE', about: 'key and value; may be repeated' },
  'from-env-file': {
    type: 'string',
    hint: 'FILE',
    about: 'file with a line KEY=VALUE for each value; may be repeated',
  },
} as const satisfies FlagTable;

export const hashFlag = {
  'append-hash': { type: 'boolean', about: 'append a hash of the contents to the name' },
} as const satisfies FlagTable;

export type Entry = readonly [key: string, value: Uint8Array];

/** Returns the entries of all flags in kubectl's order. Throws UsageError for a bad or repeated key. */
export function entriesOf(given: Given, kind: 'ConfigMap' | 'Secret'): ReadonlyMap<string, Uint8Array> {
  const { flags } = given;
  const literals = flags.texts('from-literal').map(literalEntry);
  const files = flags.texts('from-file').flatMap((source) => fileEntries(given, source));
  const lines = flags.texts('from-env-file').flatMap((file) => envFileEntries(given, file));
  const entries = new Map<string, Uint8Array>();
  for (const [key, value] of [...files, ...literals, ...lines]) {
    if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key) || key === '.' || key.startsWith('..'))
      throw new UsageError(
        `${JSON.stringify(key)} is not a valid key name for a ${kind}: letters, digits, '-', '_' and '.' are`,
      );
    if (entries.has(key))
      throw new UsageError(
        `cannot add key ${JSON.stringify(key)}, another key by that name already exists in Data for ${kind} ${JSON.stringify(given.name)}`,
      );
    entries.set(key, value);
  }
  return entries;
}

function literalEntry(text: string): Entry {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`invalid literal source ${text}, expected key=value`);
  return [text.slice(0, at), Buffer.from(text.slice(at + 1))];
}

function fileEntries({ files }: Given, source: string): Entry[] {
  const { key, path } = namedFile(source);
  const names = files.list(path);
  if (!names) return [[key ?? basename(path), files.read(path)]];
  if (key !== undefined) throw new UsageError('cannot give a key name for a directory path');
  return names.map((name) => [name, files.read(`${path}/${name}`)]);
}

function namedFile(source: string): { readonly key?: string; readonly path: string } {
  const [key = '', path, ...more] = source.split('=');
  if (path === undefined) return { path: key };
  if (more.length > 0) throw new UsageError("key names or file paths cannot contain '='");
  if (!key) throw new UsageError(`key name for file path ${path} missing`);
  if (!path) throw new UsageError(`file path for key name ${key} missing`);
  return { key, path };
}

function envFileEntries({ files, env }: Given, path: string): Entry[] {
  if (files.list(path)) throw new UsageError(`${path} is a directory, not a file of lines KEY=VALUE`);
  const text = Buffer.from(files.read(path))
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  return text.split(/\r?\n/).flatMap((line) => {
    const [, key = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(line.trimStart()) ?? [];
    if (key.startsWith('#') || (key === '' && value === undefined)) return [];
    if (!/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(key))
      throw new UsageError(`${path}: ${JSON.stringify(key)} is not a valid key name of a variable`);
    // A line without a value takes it from the environment.
    return [[key, Buffer.from(value ?? env[key] ?? '')]];
  });
}

/**
 * Returns kubectl's hash of an object: the first 40 bits of SHA-256 of its canonical JSON, without vowels.
 * The keys of `fields` must be sorted.
 */
export function contentHash(fields: object): string {
  const hex = createHash('sha256').update(goJson(fields)).digest('hex').slice(0, 10);
  const letters: Readonly<Record<string, string>> = { '0': 'g', '1': 'h', '3': 'k', a: 'm', e: 't' };
  return hex.replaceAll(/[013ae]/g, (digit) => letters[digit] ?? digit);
}
