/**
 * YAML as Kubernetes reads it. The structure is that of YAML 1.2 with `<<` merges; the meaning of plain words
 * is in yaml-scalars.ts. Only kubeconfig and settings files are parsed with the YAML package directly.
 */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Scalar,
  type SchemaOptions,
  type Tags,
  type YAMLWarning,
} from 'yaml';
import type { ParsedText } from './json-decode.ts';
import { maxDepth, TextError, tooDeep } from './value-limit.ts';
import { isBooleanWord, type ScalarRule, scalarRules } from './yaml-scalars.ts';

export interface ParsedYaml extends ParsedText {
  /** Words that were read as booleans and may be meant as text, such as `app: y`. */
  readonly booleanWords: readonly BooleanWord[];
  /**
   * Returns the offset, in characters, at which the field or the item at a path of keys and indexes begins.
   * If the text does not contain the path, such as one below an alias, returns the offset of its nearest
   * ancestor.
   */
  offsetOf(path: readonly (string | number)[]): number;
}

export interface BooleanWord {
  /** Path of the word, such as `metadata.labels.app`. */
  readonly path: string;
  /** The word as it is written. */
  readonly word: string;
  /** Offset of the word in the text, in characters. */
  readonly offset: number;
  readonly isKey: boolean;
}

/**
 * Reads one document. Throws TextError also for a text with only comments, and for more than one document.
 */
export function parseYaml(text: string): ParsedYaml {
  const documents = parseYamlStream(text);
  const [first] = documents;
  if (documents.length !== 1 || !first)
    throw new TextError(`expected one YAML document, found ${documents.length}`);
  return first;
}

/** Reads documents separated by `---`, leaving out empty ones; throws TextError. Accepts JSON, too. */
export function parseYamlStream(text: string): ParsedYaml[] {
  return parseDocuments(text)
    .map((document) => readDocument(document, text))
    .filter((parsed) => parsed.value !== null && parsed.value !== undefined);
}

function parseDocuments(text: string): readonly Document.Parsed[] {
  try {
    const documents = parseAllDocuments(text, {
      ...schema,
      uniqueKeys: false,
      strict: true,
      prettyErrors: false,
    });
    return Array.isArray(documents) ? documents : [];
  } catch (cause) {
    // Thousands of nested brackets exhaust the parser's stack.
    if (cause instanceof RangeError) throw new TextError('invalid YAML: nested too deeply', { cause });
    throw cause;
  }
}

const schema = {
  version: '1.2',
  merge: true,
  customTags: (tags) => [...others(tags, scalarRules), ...scalarRules],
} as const satisfies SchemaOptions & { version: string };

/** Returns the tags without those that other rules replace. */
const others = (tags: Tags, rules: readonly ScalarRule[]): Tags =>
  tags.filter((tag) => typeof tag === 'string' || !rules.some((rule) => rule.tag === tag.tag));

function readDocument(document: Document.Parsed, text: string): ParsedYaml {
  const [error] = [...document.errors, ...document.warnings.filter(isWrongValue)];
  if (error) {
    const line = text.slice(0, error.pos[0]).split('\n').length;
    // The package reports its exhausted stack like any other error of the text.
    const why = /call stack/.test(error.message) ? 'nested too deeply' : error.message.replaceAll('\n', ' ');
    throw new TextError(`invalid YAML at line ${line}: ${why}`);
  }
  const found: Found = {
    anchors: new Map(),
    open: new Set(),
    merged: 0,
    duplicates: new Set(),
    repeated: [],
    booleanWords: [],
  };
  walk(document.contents, '', 0, found);
  try {
    const value: unknown = document.toJS({ maxAliasCount: 1000 });
    return {
      value,
      duplicates: [...found.duplicates],
      repeats: found.repeated.slice(0, maxRepeats).map(({ key, offset }) => {
        const line = text.slice(0, offset).split('\n').length;
        return `line ${line}: key ${JSON.stringify(key)} already set in map`;
      }),
      booleanWords: found.booleanWords,
      offsetOf: (path) => offsetOf(document.contents, path),
    };
  } catch (cause) {
    throw new TextError(`invalid YAML: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function offsetOf(contents: unknown, path: readonly (string | number)[]): number {
  let [node, offset] = [contents, startOf(contents) ?? 0];
  for (const step of path) {
    let at: unknown;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      [at, node] = [pair?.key, pair?.value];
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      at = node;
    }
    const start = startOf(at);
    if (start === undefined) break;
    offset = start;
  }
  return offset;
}

const startOf = (node: unknown): number | undefined =>
  isMap(node) || isSeq(node) || isScalar(node) || isAlias(node) ? node.range?.[0] : undefined;

/**
 * Returns true for a tag like `!!int x`, for which the package warns and reads text. Unknown tags are
 * ignored.
 */
const isWrongValue = ({ code, message }: YAMLWarning) =>
  code === 'TAG_RESOLVE_FAILED' && /tag:yaml\.org,2002:(bool|int|float|null)$/.test(message);

/** Maximum of repeated keys that are described with their lines. */
const maxRepeats = 100;

interface Found {
  /**
   * Nodes by anchor, for aliases further on in the text. Resolving each alias with the package takes
   * quadratic time.
   */
  readonly anchors: Map<string, unknown>;
  /** Nodes with an anchor whose inside is being read. */
  readonly open: Set<unknown>;
  /** Number of keys that the merges so far have brought in. */
  merged: number;
  readonly duplicates: Set<string>;
  /** Own keys that their map has already, with their offsets in the text. */
  readonly repeated: { readonly key: string; readonly offset: number }[];
  readonly booleanWords: BooleanWord[];
}

function walk(node: unknown, path: string, depth: number, found: Found): void {
  if (depth > maxDepth) throw tooDeep();
  if (isAlias(node) && found.open.has(found.anchors.get(node.source)))
    throw new TextError(`invalid YAML: the anchor ${node.source} contains itself`);
  const hasAnchor = isNode(node) && !isAlias(node) && node.anchor !== undefined;
  if (hasAnchor) {
    found.anchors.set(node.anchor ?? '', node);
    found.open.add(node);
  }
  walkInside(node, path, depth, found);
  if (hasAnchor) found.open.delete(node);
}

function walkInside(node: unknown, path: string, depth: number, found: Found): void {
  if (isSeq(node))
    for (const [index, item] of node.items.entries()) walk(item, `${path}[${index}]`, depth + 1, found);
  else if (isMap(node)) {
    const seen = new Set<string>();
    for (const pair of node.items) {
      const inner = noteKey(pair, path, seen, found);
      walk(pair.value, inner, depth + 1, found);
    }
  } else if (isScalar(node)) noteBoolean(node, path, false, found);
}

/** Checks the key of a pair for duplicates; returns the path of its value. */
function noteKey(pair: unknown, path: string, seen: Set<string>, found: Found): string {
  if (!isPair(pair) || !isScalar(pair.key))
    throw new TextError('invalid YAML: a key that is not a plain value');
  if (pair.key.value === null)
    throw new TextError(`invalid YAML: a key is missing${path && ` in ${path}`}: write "" for an empty one`);
  const merges = typeof pair.key.value === 'symbol';
  const key = merges ? '<<' : String(pair.key.value);
  const below = (name: string) => (path ? `${path}.${name}` : name);
  noteBoolean(pair.key, below(key), true, found);
  // kubectl takes the merged value when the merge follows an own key, YAML the own one: the intended value is
  // ambiguous.
  const names = merges ? mergedKeys(pair.value, found) : [key];
  for (const name of names) if (seen.has(name)) found.duplicates.add(below(name));
  if (!merges) noteOwnKey(key, pair.key, seen, found);
  return below(key);
}

function noteOwnKey(key: string, node: unknown, seen: Set<string>, found: Found): void {
  if (seen.has(key)) found.repeated.push({ key, offset: startOf(node) ?? 0 });
  seen.add(key);
}

/**
 * Returns the keys of the map, or the maps, that a merge brings in. Throws TextError where all merges
 * together bring in too many.
 */
function mergedKeys(node: unknown, found: Found): string[] {
  const source = isAlias(node) ? found.anchors.get(node.source) : node;
  if (isSeq(source)) return source.items.flatMap((item) => (isSeq(item) ? [] : mergedKeys(item, found)));
  if (!isMap(source)) return [];
  found.merged += source.items.length;
  if (found.merged > maxMerged)
    throw new TextError(`invalid YAML: merges (<<) bring in more than ${maxMerged} keys: write them out`);
  return source.items.flatMap(({ key }) =>
    isScalar(key) && typeof key.value !== 'symbol' ? [String(key.value)] : [],
  );
}

/** Maximum of merged keys: a text of 64 KiB could have a hundred million. */
const maxMerged = 100_000;

function noteBoolean(scalar: Scalar, path: string, isKey: boolean, found: Found): void {
  const { value, source = '', range } = scalar;
  if (typeof value === 'boolean' && scalar.tag === undefined && isBooleanWord(source))
    found.booleanWords.push({ path, word: source, offset: range?.[0] ?? 0, isKey });
}
