/** Makers of nodes of a syntax tree. */
import type {
  CallNode,
  ConstNode,
  Expression,
  FieldEntry,
  IdentNode,
  ListNode,
  Literal,
  MapEntry,
  MapNode,
  SelectNode,
  StructNode,
} from './tree.ts';

/** Maximum levels of a tree. Upstream's limit on recursion refuses such expressions, too. */
export const maxHeight = 500;

export class HeightError extends Error {}

export function heightOf(children: readonly Expression[]): number {
  let highest = 0;
  for (const child of children) highest = Math.max(highest, child.height);
  if (highest >= maxHeight) throw new HeightError();
  return highest + 1;
}

export function constant(offset: number, value: Literal): ConstNode {
  return { kind: 'const', offset, height: 1, value };
}

export function ident(offset: number, name: string): IdentNode {
  return { kind: 'ident', offset, height: 1, name };
}

export function select(offset: number, operand: Expression, field: string, test = false): SelectNode {
  return { kind: 'select', offset, height: heightOf([operand]), operand, field, test };
}

export function call(
  offset: number,
  name: string,
  args: readonly Expression[],
  target?: Expression,
): CallNode {
  const height = heightOf(target ? [target, ...args] : args);
  return { kind: 'call', offset, height, name, target, args };
}

export function list(offset: number, elements: ListNode['elements']): ListNode {
  return { kind: 'list', offset, height: heightOf(elements.map(({ value }) => value)), elements };
}

export function map(offset: number, entries: readonly MapEntry[]): MapNode {
  const height = heightOf(entries.flatMap(({ key, value }) => [key, value]));
  return { kind: 'map', offset, height, entries };
}

export function struct(offset: number, name: string, fields: readonly FieldEntry[]): StructNode {
  return { kind: 'struct', offset, height: heightOf(fields.map(({ value }) => value)), name, fields };
}
