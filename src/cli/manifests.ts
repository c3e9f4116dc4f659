/**
 * Manifests: files, directories and standard input, each with any number of documents, Lists taken apart. What cannot
 * be read is an entry like any other, so that everything before it is done and everything wrong is told.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord, type JsonObject } from '../apimachinery/equality.ts';
import { TextError } from '../apimachinery/json-decode.ts';
import { parseYamlStream } from '../apimachinery/yaml.ts';
import { UsageError } from '../base/usage-error.ts';
import type { Flags } from './flags.ts';
import type { Io } from './io.ts';

export interface Manifest {
  /** The file, as it was named; `STDIN` for standard input. */
  readonly file: string;
  /** The line its document starts at. */
  readonly line: number;
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: JsonObject;
}

export type ManifestEntry = Manifest | { readonly error: Error };

/** All that `-f` names, in the order of the arguments, of file names and of documents. */
export async function readManifests(io: Io, flags: Flags): Promise<ManifestEntry[]> {
  const entries: ManifestEntry[] = [];
  const files = flags.texts('filename').flatMap((value) => value.split(','));
  if (files.includes('')) throw new UsageError('-f: the name of a file is missing');
  if (files.filter((file) => file === '-').length > 1)
    throw new UsageError('standard input cannot be used for multiple arguments: keep one -f -');
  for (const file of files) {
    if (file === '-') entries.push(...parseManifests(await io.readStdin(), 'STDIN'));
    else if (/^https?:\/\//.test(file))
      throw new UsageError(`-f ${file}: only files; fetch it first, then apply the file or -f -`);
    else entries.push(...(await readPath(file, flags.on('recursive'))));
  }
  return entries;
}

async function readPath(path: string, recursive: boolean): Promise<ManifestEntry[]> {
  try {
    if (!(await stat(path)).isDirectory()) return parseManifests(await readFile(path, 'utf8'), path);
    const files = await manifestFiles(path, recursive);
    if (files.length === 0)
      return [failure(`error reading [${path}]: recognized file extensions are [.json .yaml .yml]`)];
    const entries: ManifestEntry[] = [];
    for (const file of files) entries.push(...parseManifests(await readFile(file, 'utf8'), file));
    return entries;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return [
      failure(code === 'ENOENT' ? `the path "${path}" does not exist` : `cannot read ${path}: ${code}`),
    ];
  }
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

/** The manifests of one text. `file` is what errors call it. Reading ends with the document that is no YAML. */
export function parseManifests(text: string, file: string): ManifestEntry[] {
  const entries: ManifestEntry[] = [];
  for (const { body, line } of splitDocuments(text)) {
    try {
      // Blank lines in front, so that the parser counts lines as the file does.
      for (const { value, duplicates } of parseYamlStream('\n'.repeat(line - 1) + body)) {
        if (duplicates[0] !== undefined)
          entries.push(failure(`${file}:${line}: the key ${duplicates[0]} stands twice; keep one`));
        else entries.push(...fromValue(value, file, firstLine(body, line)));
      }
    } catch (error) {
      if (!(error instanceof TextError)) throw error;
      const [, at = line, why = error.message] =
        /^invalid YAML at line (\d+): (.*)$/s.exec(error.message) ?? [];
      entries.push(failure(`error parsing ${file}:${at}: ${why}`));
      break;
    }
  }
  return entries;
}

interface DocumentText {
  readonly body: string;
  readonly line: number;
}

/** Documents end at lines that start with `---`; inside a document such a line is always indented. */
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

/** Of the first line that is neither blank nor a comment. */
function firstLine(body: string, line: number): number {
  const skipped = body.split('\n').findIndex((text) => !/^\s*(#.*)?$/.test(text));
  return line + Math.max(skipped, 0);
}

function fromValue(value: unknown, file: string, line: number): ManifestEntry[] {
  const where = `${file}:${line}`;
  if (!isRecord(value)) return [failure(`${where}: expected an object with apiVersion, kind and metadata`)];
  const { apiVersion, kind } = value;
  if (typeof kind !== 'string' || kind === '')
    return [failure(`${where}: kind is missing: say what it is, such as Deployment`)];
  if (typeof apiVersion !== 'string' || apiVersion === '')
    return [failure(`${where}: apiVersion is missing: the ${kind} needs one, such as v1 or apps/v1`)];
  if (kind.endsWith('List') && Array.isArray(value.items))
    return value.items.flatMap((item) => fromValue(item, file, line));
  return [{ file, line, apiVersion, kind, object: value }];
}

const failure = (message: string): ManifestEntry => ({ error: new Error(message) });
