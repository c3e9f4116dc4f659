/** Changes settings in the text of a configuration file. */
import { isMap, isScalar, parseDocument, YAMLMap } from 'yaml';
import { UsageError } from '../../base/usage-error.ts';

/**
 * Returns the text of the file with the settings. Comments, order and other keys stay as they are.
 * Throws UsageError if the text is no configuration file. `path` is named in the error.
 */
export function withSettings(text: string, settings: Readonly<Record<string, string>>, path: string): string {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw new UsageError(`${path}: not YAML: ${error.message.split(/:?\n/)[0]}`);
  // A file with nothing but `---` and comments has the value null.
  if (isScalar(document.contents) && document.contents.value === null) {
    const { commentBefore, comment } = document.contents;
    const comments = [commentBefore, comment].filter((each) => each).join('\n');
    document.contents = Object.assign(new YAMLMap(), comments !== '' && { commentBefore: comments }) as never;
  }
  if (document.contents !== null && !isMap(document.contents))
    throw new UsageError(`${path}: expected lines such as "port: 6443"`);
  const changed = Object.entries(settings).filter(([name, value]) => String(document.get(name)) !== value);
  if (changed.length === 0) return text;
  for (const [name, value] of changed) document.set(name, plain(value));
  return document.toString({ lineWidth: 0 });
}

/** Returns a number for the text of one, which YAML would otherwise put in quotes. */
const plain = (value: string): string | number => (/^[1-9]\d{0,14}$/.test(value) ? Number(value) : value);
