/** Changes of method calls: other methods, and removed calls. */
import type { CallExpression } from 'oxc-parser';
import type { Place } from '../place.ts';

const otherMethods = new Map<string, string>([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
]);
/** Methods whose result is similar to the object that they are called on. */
const leftOut = new Set([
  'filter',
  'sort',
  'toSorted',
  'reverse',
  'toReversed',
  'slice',
  'trim',
  'toLowerCase',
  'toUpperCase',
]);

export function otherCalls(node: CallExpression, place: Place): readonly string[] {
  const { callee } = node;
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier')
    return [];
  const { name } = callee.property;
  const other = otherMethods.get(name);
  if (other !== undefined) {
    const dot = callee.optional ? '?.' : '.';
    return [place.text(callee.object) + dot + other + place.text({ start: callee.end, end: node.end })];
  }
  return leftOut.has(name) && !callee.optional && place.parent?.type !== 'ExpressionStatement'
    ? [place.text(callee.object)]
    : [];
}
