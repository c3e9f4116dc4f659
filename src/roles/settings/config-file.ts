/** The configuration file of a role: its keys with their values, and the lines of the keys. */
import { readFileSync } from 'node:fs';
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';

export type ConfigFile = Readonly<Record<string, unknown>>;

/** Returns the text `line N: ` for a key of the file; an empty one for a key that the file does not have. */
export type KeyLines = (key: string) => string;

/** Returns the text of a configuration file; an empty text if the file may be missing, and is. */
export function readConfigText(path: string, mustExist: boolean): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!mustExist && (error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw new UsageError(`cannot read the configuration file ${path}: ${whyUnreadable(error)}`);
  }
}

/** Returns the content of the file; throws UsageError if it is not YAML, or not a map. */
export function readConfigFile(
  path: string,
  mustExist: boolean,
): { readonly content: ConfigFile; readonly lines: KeyLines } {
  const lineCounter = new LineCounter();
  const document = parseDocument(readConfigText(path, mustExist), {
    lineCounter,
    // Without it, the library prints a warning for a key that is a list.
    logLevel: 'error',
  });
  const content = parsed(document, path) ?? {};
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw new UsageError(`${path}: expected lines such as "port: 6443"`);
  }
  const starts = new Map<string, number>();
  for (const { key } of isMap(document.contents) ? document.contents.items : [])
    if (isScalar(key) && key.range) starts.set(String(key.value), lineCounter.linePos(key.range[0]).line);
  const lines = (key: string) => (starts.has(key) ? `line ${starts.get(key)}: ` : '');
  return { content: content as ConfigFile, lines };
}

function parsed(document: ReturnType<typeof parseDocument>, path: string): unknown {
  try {
    const [error] = document.errors;
    if (error) throw error;
    return document.toJS();
  } catch (error) {
    // The first line names the place; the lines after it show the place.
    const [what = ''] = (error as Error).message.split(/:?\n/);
    throw new UsageError(`${path}: not YAML: ${what}`);
  }
}

function whyUnreadable(error: unknown): string {
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a directory',
    EACCES: 'permission denied',
  };
  return known[(error as NodeJS.ErrnoException).code ?? ''] ?? errorMessage(error);
}
