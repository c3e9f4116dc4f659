/**
 * Adds the OpenAPI of other servers to the document of version 2. Definitions of the same name that differ
 * get another name, as upstream (kube-openapi, pkg/aggregator): no server may change the description of
 * another one.
 */
import { deepEqual, type JsonObject } from '../apimachinery/equality.ts';
import type { DocumentSteps, OpenApiV2Document, PathItem } from '../apimachinery/openapi.ts';
import type { SchemaObject } from '../apimachinery/openapi-schema.ts';
import type { DelegatedDescription, DelegatedV2 } from './delegation.ts';

/** Approximate number of bytes of a path or a definition. */
const partBytes = 4 * 1024;

/** Returns the document with the paths and definitions of the descriptions. */
export function* withDelegated(
  own: OpenApiV2Document,
  descriptions: readonly DelegatedDescription[],
): DocumentSteps<OpenApiV2Document> {
  if (descriptions.length === 0) return own;
  const paths: Record<string, PathItem> = { ...own.paths };
  const definitions: Record<string, SchemaObject> = { ...own.definitions };
  for (const { v2 } of descriptions) {
    if (!v2) continue;
    const names = namesBeside(definitions, v2);
    for (const [name, definition] of Object.entries(v2.definitions)) {
      definitions[names.get(name) ?? name] ??= renamed(definition, names) as SchemaObject;
      yield partBytes;
    }
    for (const [path, item] of Object.entries(v2.paths)) {
      paths[path] ??= renamed(item, names) as PathItem;
      yield partBytes;
    }
  }
  return { ...own, paths, definitions };
}

/** Returns new names for the definitions whose name has another meaning in the document. */
function namesBeside(present: Readonly<Record<string, SchemaObject>>, { definitions }: DelegatedV2) {
  const names = new Map<string, string>();
  for (const [name, definition] of Object.entries(definitions)) {
    const taken = present[name];
    if (!taken || deepEqual(meaning(taken), meaning(definition))) continue;
    let number = 2;
    while (present[`${name}_v${number}`] || definitions[`${name}_v${number}`]) number++;
    names.set(name, `${name}_v${number}`);
  }
  return names;
}

/**
 * Returns a definition without its descriptions and the list of its kinds: servers of another version of
 * Kubernetes describe ObjectMeta in other words.
 */
function meaning(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(meaning);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([key, inner]) =>
      !(key === 'description' && typeof inner === 'string') &&
      !(key === 'default' && !('enum' in value)) &&
      key !== 'x-kubernetes-group-version-kind',
  );
  return Object.fromEntries(kept.map(([key, inner]) => [key, meaning(inner)]));
}

const prefix = '#/definitions/';

/** Returns a copy in which references have the new names. */
function renamed(part: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  if (names.size === 0) return part;
  const copy = (value: unknown, key?: string): unknown => {
    if (Array.isArray(value)) return value.map((one) => copy(one));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copy(inner, name)]));
    if (key !== '$ref' || typeof value !== 'string' || !value.startsWith(prefix)) return value;
    return prefix + (names.get(value.slice(prefix.length)) ?? value.slice(prefix.length));
  };
  return copy(part) as JsonObject;
}
