/** Removed statements, and negated answers. */
import type { Node, Statement } from 'oxc-parser';
import type { Change, Place } from '../place.ts';

/**
 * Returns the removal of a statement, unless the constant condition before it means the same, or the
 * statement only writes a debug log.
 */
export function removal(node: Statement, place: Place): readonly Change[] {
  const { parent, parents } = place;
  const { start, end } = node;
  if (node.type === 'ExpressionStatement') {
    const { expression } = node;
    if (expression.type === 'Literal') return [];
    if (expression.type === 'CallExpression' && expression.callee.type === 'Super') return [];
    if (/^log(ger)?\??\.debug\(/.test(place.text(expression))) return [];
  }
  const holder = parent?.type === 'BlockStatement' && parent.body.length === 1 ? parents.at(-2) : parent;
  if (holder?.type === 'IfStatement' && holder.alternate === null) return [];
  // The last return of a function is its purpose; its removal would remove everything.
  if (node.type === 'ReturnStatement') {
    const whole = parent?.type === 'BlockStatement' && /Function/.test(parents.at(-2)?.type ?? '');
    if (whole && parent.body.at(-1) === node) return [];
  }
  return [{ start, end, replacement: ';' }];
}

/** Returns the negated result of a function that answers yes or no. */
export function negated(value: Node | null, place: Place): readonly Change[] {
  if (value === null || !place.answersYesOrNo) return [];
  if (!['CallExpression', 'MemberExpression', 'Identifier', 'AwaitExpression'].includes(value.type))
    return [];
  return [{ start: value.start, end: value.end, replacement: `!(${place.text(value)})` }];
}
