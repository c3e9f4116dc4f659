/**
 * Manifests: files, directories, URLs and standard input, each with any number of documents; Lists are split
 * into their items. A part that cannot be read becomes an entry with an error, so that everything before it
 * is processed and every error is reported.
 */
import { isUtf8 } from 'node:buffer';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { parseJson } from '../../apimachinery/json-decode.ts';
import { TextError } from '../../apimachinery/value-limit.ts';
import { type BooleanWord, parseYamlStream } from '../../apimachinery/yaml.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { fileProblem, readBounded } from '../../os/bounded-file.ts';
import type { Flags } from '../flags/flags.ts';
import type { Io } from '../io.ts';
import { buildKustomization } from '../kustomize/program.ts';
import { jsonParts, type TextPart } from './json-stream.ts';
import { fetchManifest, withoutPassword } from './remote-manifest.ts';
import { yamlAdvice } from './yaml-advice.ts';

export interface Manifest {
  /** The file as it was named; `STDIN` for standard input. */
  readonly file: string;
  /** Line on which the document starts. */
  readonly line: number;
  /** An empty string if it is missing. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: JsonObject;
  /**
   * Returns the line of a field or an item of the object, by a path of keys and indexes; the line of its
   * parent if the field does not exist.
   */
  lineOf(path: Path): number;
}

export type Path = readonly (string | number)[];

export type ManifestEntry = Manifest | { readonly error: Error };

/**
 * Reads everything that `-f` names, in the order of arguments, of file names and of documents. With
 * `kindless`, an object without a kind gets an empty kind; otherwise it is an error.
 */
export async function readManifests(
  io: Io,
  flags: Flags,
  { kindless = false } = {},
): Promise<ManifestEntry[]> {
  const directory = kustomizationOf(flags);
  if (directory !== undefined) return readKustomization(io, flags, directory, kindless);
  const entries: ManifestEntry[] = [];
  const files = flags.texts('filename').flatMap((value) => value.split(','));
  if (files.includes('')) throw new UsageError('-f: the name of a file is missing');
  if (files.filter((file) => file === '-').length > 1)
    throw new UsageError('standard input cannot be used for multiple arguments: keep one -f -');
  const parse = (text: string, file: string) =>
    parseManifests(text, file, (warning) => io.err(`Warning: ${warning}\n`), kindless);
  for (const file of files) {
    if (file === '-') entries.push(...parse(await io.readStdin(), 'STDIN'));
    else if (/^https?:\/\//.test(file)) entries.push(...(await readUrl(file, io, parse)));
    else entries.push(...(await readPath(file, flags.on('recursive'), io.signal, parse)));
  }
  return entries;
}

/** Returns the value of -k; throws UsageError beside flags that it excludes. */
function kustomizationOf(flags: Flags): string | undefined {
  const directory = flags.text('kustomize');
  if (directory === undefined) return undefined;
  if (flags.given('filename')) throw new UsageError('only one of -f or -k can be specified');
  if (flags.on('recursive')) throw new UsageError("the -k flag can't be used with -f or -R");
  return directory;
}

async function readKustomization(
  io: Io,
  flags: Flags,
  directory: string,
  kindless: boolean,
): Promise<ManifestEntry[]> {
  try {
    const request = { directory, order: 'legacy' } as const;
    const text = await buildKustomization(io, request, flags.text('cache-dir'));
    return parseManifests(text, directory, (warning) => io.err(`Warning: ${warning}\n`), kindless);
  } catch (error) {
    if (io.signal.aborted) throw error;
    return [failure(errorMessage(error))];
  }
}

type Parse = (text: string, file: string) => ManifestEntry[];

async function readPath(
  path: string,
  recursive: boolean,
  signal: AbortSignal,
  parse: Parse,
): Promise<ManifestEntry[]> {
  try {
    if (!(await stat(path)).isDirectory()) return await readOne(path, signal, parse);
    const files = await manifestFiles(path, recursive);
    if (files.length === 0)
      return [failure(`error reading [${path}]: recognized file extensions are [.json .yaml .yml]`)];
    const entries: ManifestEntry[] = [];
    for (const file of files) entries.push(...(await readOne(file, signal, parse)));
    return entries;
  } catch (error) {
    if (signal.aborted) throw error;
    return [failure(readProblem(path, error))];
  }
}

/** Returns the message for a path that cannot be read. */
function readProblem(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === undefined) return errorMessage(error);
  return code === 'ENOENT'
    ? `the path "${path}" does not exist`
    : `cannot read ${path}: ${fileProblem(code) ?? code}`;
}

async function readUrl(address: string, io: Io, parse: Parse): Promise<ManifestEntry[]> {
  try {
    return parse(await fetchManifest(address, io), withoutPassword(address));
  } catch (error) {
    if (io.signal.aborted) throw error;
    return [failure(errorMessage(error))];
  }
}

async function readOne(file: string, signal: AbortSignal, parse: Parse): Promise<ManifestEntry[]> {
  const bytes = await readBounded(file, { signal });
  return isUtf8(bytes) ? parse(bytes.toString('utf8'), file) : [failure(binary(file))];
}

async function manifestFiles(directory: string, recursive: boolean): Promise<string[]> {
  const found: string[] = [];
  const entries = await readdir(directory, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) {
      if (recursive) found.push(...(await manifestFiles(path, recursive)));
    } else if (/\.(json|ya?ml)$/.test(entry.name)) found.push(path);
  }
  return found;
}

/**
 * Returns the manifests of one text. `file` is the name in errors and warnings. Reading ends with the first
 * document that is not YAML.
 */
export function parseManifests(
  text: string,
  file: string,
  warn: (warning: string) => void,
  kindless = false,
): ManifestEntry[] {
  if (controlCharacter.test(text)) return [failure(binary(file))];
  const entries: ManifestEntry[] = [];
  for (const part of partsOf(text)) {
    if (part.fault !== undefined) return [...entries, failure(`error parsing ${file}: ${part.fault}`)];
    try {
      entries.push(...entriesOf(part, file, warn, kindless));
    } catch (error) {
      if (!(error instanceof TextError)) throw error;
      entries.push(failure(parsingFailure(error.message, file, part)));
      break;
    }
  }
  return entries;
}

/** Yields each document, and each value of a JSON text with its fault. */
function* partsOf(text: string): Generator<TextPart & { readonly fault?: string | undefined }> {
  const isJson = beginsAsJson.test(text);
  for (const { body, line } of splitDocuments(text)) {
    if (isJson) for (const part of jsonParts(body, line)) yield { ...part, fault: jsonFault(part, body) };
    else yield { text: body, line, start: 0 };
  }
}

/** Returns the message for an invalid document, or a part of one; `message` may name a line within it. */
function parsingFailure(message: string, file: string, { text, line }: TextPart): string {
  const [, inPart = 1, why = message] = /^invalid YAML at line (\d+): (.*)$/s.exec(message) ?? [];
  const advice = yamlAdvice(why, text, Number(inPart), line);
  return `error parsing ${file}:${Number(inPart) + line - 1}: ${why}${advice}`;
}

/**
 * Returns the manifests of one document, or of one value of a JSON text. Throws TextError if it is invalid.
 */
function entriesOf(
  { text, line }: TextPart,
  file: string,
  warn: (warning: string) => void,
  kindless: boolean,
): ManifestEntry[] {
  const lineIn = (offset: number) => lineAt(text, offset) + line - 1;
  const entries: ManifestEntry[] = [];
  for (const { value, duplicates, booleanWords, offsetOf } of parseYamlStream(text)) {
    for (const word of booleanWords) warn(booleanWarning(word, `${file}:${lineIn(word.offset)}`));
    if (duplicates[0] !== undefined)
      entries.push(failure(`${file}:${line}: the key ${duplicates[0]} is given twice; keep one`));
    else {
      const lineOf = (path: Path) => lineIn(offsetOf(path));
      entries.push(...fromValue(value, { file, line: firstLine(text, line), lineOf }, kindless));
    }
  }
  return entries;
}

/**
 * A text that begins like this is meant as JSON, and has to be JSON: YAML would accept more, such as a comma
 * before a closing brace. kubectl reads every text that begins with a brace as JSON; YAML's flow style with
 * bare keys is accepted here.
 */
const beginsAsJson = /^\uFEFF?\s*\{\s*["}]/;

/**
 * Returns what is wrong with a value of a JSON text, in kubectl's form: the offset is the number of bytes of
 * `body` up to and including the wrong one. Returns undefined for valid JSON.
 */
function jsonFault({ text, line, start }: TextPart, body: string): string | undefined {
  try {
    parseJson(text, false, Number.POSITIVE_INFINITY);
    return undefined;
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    const [, inPart, inLine, why] =
      /^invalid JSON at line (\d+), column (\d+): (.*)$/s.exec(error.message) ?? [];
    if (why === undefined) return `json: ${error.message}`;
    const lines = text.split('\n').slice(0, Number(inPart));
    const wrong = [...lines.slice(0, -1), lines.at(-1)?.slice(0, Number(inLine))].join('\n');
    const before = body.slice(0, start) + wrong;
    const column = before.length - (before.lastIndexOf('\n') + 1);
    const place = `line ${Number(inPart) + line - 1}, column ${column}`;
    return `json: offset ${Buffer.byteLength(before)}: ${why} (${place})`;
  }
}

/** Characters that are invalid everywhere in YAML. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for control characters.
const controlCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

const binary = (file: string) => `error parsing ${file}: it is binary or not UTF-8: expected YAML or JSON`;

/**
 * Returns the warning about a word that YAML reads as a boolean. kubectl reads it the same way without a
 * warning, and the server's error does not show the cause.
 */
function booleanWarning({ path, word, isKey }: BooleanWord, where: string): string {
  const what = isKey ? `the key ${path}` : path;
  return `${where}: ${what}: YAML reads ${word} as ${/^[yo](?!f)/i.test(word)}; write "${word}" for the word`;
}

const lineAt = (text: string, offset: number) => text.slice(0, offset).split('\n').length;

interface DocumentText {
  readonly body: string;
  readonly line: number;
}

/** Splits at lines that start with `---`; inside a document such a line is always indented. */
function splitDocuments(text: string): DocumentText[] {
  const documents: DocumentText[] = [];
  let start = 0;
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  const push = (end: number) => {
    const body = lines.slice(start, end).join('\n');
    if (body.trim() !== '') documents.push({ body, line: start + 1 });
  };
  lines.forEach((line, index) => {
    if (!/^---(\s|$)/.test(line)) return;
    push(index);
    start = index;
    lines[index] = line.slice(3);
  });
  push(lines.length);
  return documents;
}

/** Returns the number of the first line that is neither blank nor a comment. */
function firstLine(body: string, line: number): number {
  const skipped = body.split('\n').findIndex((text) => !/^\s*(#.*)?$/.test(text));
  return line + Math.max(skipped, 0);
}

type Position = Pick<Manifest, 'file' | 'line' | 'lineOf'>;

function fromValue(value: unknown, position: Position, kindless: boolean): ManifestEntry[] {
  const where = `${position.file}:${position.line}`;
  if (!isRecord(value)) return [failure(`${where}: expected an object with apiVersion, kind and metadata`)];
  const { apiVersion, kind = kindless ? '' : undefined } = value;
  if (kindless && kind === '') return [{ ...position, apiVersion: '', kind, object: value }];
  if (typeof kind !== 'string' || kind === '') return [failure(kindMissing(where))];
  if (!isTextOrAbsent(apiVersion))
    return [failure(`${where}: apiVersion: expected text such as v1 or apps/v1`)];
  if (kind.endsWith('List') && Array.isArray(value.items)) {
    const items = value.items.map((item) => typed(item, apiVersion, kind.slice(0, -'List'.length)));
    return fromItems(items, position, kindless);
  }
  return [{ ...position, apiVersion: apiVersion ?? '', kind, object: value }];
}

const isTextOrAbsent = (value: unknown): value is string | undefined | null =>
  value === undefined || value === null || typeof value === 'string';

/**
 * Returns an item of a list such as a ConfigMapList; an item without a type, as servers send it, gets the
 * type that the list implies.
 */
const typed = (item: unknown, apiVersion: string | undefined | null, kind: string): unknown =>
  isRecord(item) && !item.kind && !item.apiVersion && kind !== '' ? { ...item, apiVersion, kind } : item;

/** Returns the objects in a List. */
const fromItems = (items: readonly unknown[], position: Position, kindless: boolean): ManifestEntry[] =>
  items.flatMap((item, index) => {
    const lineOf = (path: Path) => position.lineOf(['items', index, ...path]);
    return fromValue(item, { ...position, lineOf }, kindless);
  });

/** Returns the message for an object without a kind at `where`. */
export const kindMissing = (where: string): string =>
  `${where}: kind is missing: say what it is, such as Deployment`;

const failure = (message: string): ManifestEntry => ({ error: new Error(message) });
