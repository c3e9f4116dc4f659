/**
 * Paths to fields of a schema, as in selectable fields and in the fieldPath of rules
 * (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go).
 */

import type { WrittenSchema } from './schema.ts';
import { additionalOf } from './written-schema.ts';

export type FoundField =
  | { readonly path: string; readonly schema: WrittenSchema }
  /** Reason why the path is invalid. */
  | { readonly error: string };

/**
 * Reads a path such as `.spec.size` or `.spec['key']`, and returns the schema of the field. With `keys`
 * false, brackets are rejected.
 */
export function fieldAtPath(path: string, schema: WrittenSchema, keys = true): FoundField {
  const tokens = tokensOf(path);
  let at: WrittenSchema = schema;
  let shown = '';
  for (let index = 0; index < tokens.length; index++) {
    const step = stepAt(tokens, index, keys);
    if ('error' in step) return step;
    const isNamed = hasProperties(at);
    const inner = isNamed ? namedField(step.name, at) : additionalOf(at);
    if (!inner) return { error: 'does not refer to a valid field' };
    shown = isNamed ? `${shown}${shown && '.'}${step.name}` : `${shown}[${step.name}]`;
    at = inner;
    index = step.end;
  }
  return { path: shown, schema: at };
}

/** Returns true if the schema's fields are properties, and not keys of a map. */
const hasProperties = ({ properties }: WrittenSchema) => Object.keys(properties ?? {}).length > 0;

function namedField(name: string, { properties }: WrittenSchema): WrittenSchema | undefined {
  return properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

/** Splits a path at dots and brackets, which are tokens of their own; quoted texts stay together. */
const tokensOf = (path: string): string[] => path.match(/'(?:[^'\\]|\\.)*'|[.[\]]|[^.[\]]+/g) ?? [];

interface Step {
  readonly name: string;
  /** Index of the last token of the step. */
  readonly end: number;
}

function stepAt(tokens: readonly string[], index: number, keys: boolean): Step | { readonly error: string } {
  const token = tokens[index] ?? '';
  const next = tokens[index + 1];
  if (token === '[') return keys ? keyStep(tokens, index) : { error: 'array notation is not allowed' };
  if (token !== '.') return { error: `expected [ or . but got: ${token}` };
  if (next === undefined) return { error: 'unexpected end of JSON path' };
  if (next === '.' || next === '[' || next === ']') return { error: `unexpected token: ${next}` };
  return { name: next, end: index + 1 };
}

function keyStep(tokens: readonly string[], index: number): Step | { readonly error: string } {
  const [quoted, closing] = tokens.slice(index + 1, index + 3);
  if (quoted === undefined) return { error: 'unexpected end of JSON path' };
  if (quoted.length < 2 || !quoted.startsWith("'") || !quoted.endsWith("'"))
    return { error: `expected single quoted string but got ${quoted}` };
  if (closing === undefined) return { error: 'unexpected end of JSON path' };
  if (closing !== ']') return { error: `expected ] but got ${closing}` };
  const name = quoted.slice(1, -1).replace(/\\(.)/g, '$1');
  return { name, end: index + 2 };
}
