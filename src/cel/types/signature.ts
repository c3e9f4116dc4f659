/**
 * Signatures of functions as text: `size(string): int`, `list<A>.indexOf(A): int`, `math.least(int, int):
 * int`.
 */

import type { Type } from './type.ts';
import * as types from './type.ts';

export interface Signature {
  readonly name: string;
  /** True if the first parameter is the receiver. */
  readonly member: boolean;
  readonly parameters: readonly Type[];
  readonly result: Type;
  /** True if a type has a parameter. */
  readonly isGeneric: boolean;
}

const scalars: Readonly<Record<string, Type>> = {
  bool: types.bool,
  bytes: types.bytes,
  double: types.double,
  dyn: types.dyn,
  duration: types.duration,
  int: types.int,
  null: types.nullType,
  string: types.string,
  timestamp: types.timestamp,
  uint: types.uint,
};

/**
 * Reads a signature. A receiver stands before the last dot; its name is that of a type,
 * so that `math.least` is one name. Single capitals are parameters.
 */
export function signature(text: string): Signature {
  const open = text.lastIndexOf('(');
  const close = text.indexOf(')', open);
  const path = text.slice(0, open);
  const own = readTypes(text.slice(open + 1, close));
  const result = readType(text.slice(text.indexOf(':', close) + 1).trim());
  const dot = path.lastIndexOf('.');
  const receiver = dot === -1 ? undefined : readReceiver(path.slice(0, dot));
  const parameters = receiver === undefined ? own : [receiver, ...own];
  const isGeneric = [...parameters, result].some(hasParameter);
  if (receiver === undefined) return { name: path, member: false, parameters, result, isGeneric };
  return { name: path.slice(dot + 1), member: true, parameters, result, isGeneric };
}

function hasParameter(type: Type): boolean {
  return type.kind === 'parameter' || types.parametersOf(type).some(hasParameter);
}

function readReceiver(text: string): Type | undefined {
  const isType = text.includes('<') || text in scalars || /^[A-Z]$/.test(text) || /\.[A-Z]\w*$/.test(text);
  return isType ? readType(text) : undefined;
}

function readTypes(text: string): Type[] {
  return text.trim() === '' ? [] : split(text).map(readType);
}

/** Splits at the commas that stand in no angle brackets. */
function split(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '<') depth++;
    else if (text[at] === '>') depth--;
    else if (text[at] === ',' && depth === 0) {
      parts.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  parts.push(text.slice(from).trim());
  return parts;
}

function readType(text: string): Type {
  const scalar = scalars[text];
  if (scalar) return scalar;
  if (/^[A-Z]$/.test(text)) return { kind: 'parameter', name: text };
  if (text === 'type') return { kind: 'type', of: undefined };
  const open = text.indexOf('<');
  if (open === -1) return types.opaque(text);
  const [first = types.dyn, second = types.dyn] = readTypes(text.slice(open + 1, -1));
  const name = text.slice(0, open);
  if (name === 'list') return types.listOf(first);
  if (name === 'map') return types.mapOf(first, second);
  if (name === 'type') return { kind: 'type', of: first };
  if (name === 'optional') return types.optionalOf(first);
  throw new Error(`no type: ${text}`);
}
