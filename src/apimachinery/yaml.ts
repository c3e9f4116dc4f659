/**
 * YAML as Kubernetes' users write it; the only module that imports the YAML package. YAML 1.2's core rules, so that
 * `on`, `yes` and `no` stay strings, but 0644 is octal and `<<` merges, as in the YAML that Kubernetes reads.
 */
import {
  type Document,
  isMap,
  isPair,
  isScalar,
  isSeq,
  parseAllDocuments,
  type ScalarTag,
  stringify,
} from 'yaml';
import { maxDepth, type ParsedText, TextError } from './json-decode.ts';

/** Reads one document; throws TextError. Nothing but comments is no document, and neither are two. */
export function parseYaml(text: string): ParsedText {
  const documents = parseYamlStream(text);
  const [first] = documents;
  if (documents.length !== 1 || !first)
    throw new TextError(`expected one YAML document, found ${documents.length}`);
  return first;
}

/** Reads documents parted by `---`, leaving out empty ones; throws TextError. JSON is YAML too. */
export function parseYamlStream(text: string): ParsedText[] {
  return parseDocuments(text)
    .map((document) => readDocument(document, text))
    .filter((parsed) => parsed.value !== null && parsed.value !== undefined);
}

function parseDocuments(text: string): readonly Document.Parsed[] {
  try {
    const documents = parseAllDocuments(text, {
      version: '1.2',
      merge: true,
      uniqueKeys: false,
      strict: true,
      prettyErrors: false,
      customTags: (tags) => [octal, ...tags],
    });
    return Array.isArray(documents) ? documents : [];
  } catch (cause) {
    // Thousands of nested brackets exhaust the parser's stack.
    if (cause instanceof RangeError) throw new TextError('invalid YAML: nested too deeply', { cause });
    throw cause;
  }
}

/** One document, as `kubectl get -o yaml` writes it. */
export function formatYaml(value: unknown): string {
  return stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false, indentSeq: false });
}

/** File modes: a leading zero makes octal, as YAML 1.1 had it. */
const octal: ScalarTag = {
  tag: 'tag:yaml.org,2002:int',
  default: true,
  format: 'OCT',
  test: /^[-+]?0[0-7]+$/,
  identify: () => false,
  resolve: (text: string) => (text.startsWith('-') ? -1 : 1) * Number.parseInt(text.replace(/^[-+]/, ''), 8),
};

function readDocument(document: Document.Parsed, text: string): ParsedText {
  const [error] = document.errors;
  if (error) {
    const line = text.slice(0, error.pos[0]).split('\n').length;
    throw new TextError(`invalid YAML at line ${line}: ${error.message.replaceAll('\n', ' ')}`);
  }
  const duplicates: string[] = [];
  findDuplicates(document.contents, '', 0, duplicates);
  try {
    return { value: document.toJS({ maxAliasCount: 1000 }), duplicates: [...new Set(duplicates)] };
  } catch (cause) {
    throw new TextError(`invalid YAML: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function findDuplicates(node: unknown, path: string, depth: number, found: string[]): void {
  if (depth > maxDepth) throw new TextError(`the value is nested deeper than ${maxDepth} levels`);
  if (isSeq(node)) {
    for (const [index, item] of node.items.entries())
      findDuplicates(item, `${path}[${index}]`, depth + 1, found);
  } else if (isMap(node)) {
    const seen = new Set<string>();
    for (const pair of node.items) {
      if (!isPair(pair) || !isScalar(pair.key))
        throw new TextError('invalid YAML: a key that is not a plain value');
      const key = String(pair.key.value);
      const inner = path ? `${path}.${key}` : key;
      if (seen.has(key) && key !== '<<') found.push(inner);
      seen.add(key);
      findDuplicates(pair.value, inner, depth + 1, found);
    }
  }
}
