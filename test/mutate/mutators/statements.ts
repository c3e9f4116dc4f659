/** Statements that go, and answers that are turned round. */
import type { Node, Statement } from 'oxc-parser';
import type { Change, Place } from '../place.ts';

/**
 * A statement that goes, unless the condition before it, decided, means the same, or it only tells those who look for the cause
 * of something.
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
  // The last of a function gives what it was for; without it there is nothing.
  if (node.type === 'ReturnStatement') {
    const whole = parent?.type === 'BlockStatement' && /Function/.test(parents.at(-2)?.type ?? '');
    if (whole && parent.body.at(-1) === node) return [];
  }
  return [{ start, end, replacement: ';' }];
}

/** What a function that says yes or no gives, the other way round. */
export function negated(value: Node | null, place: Place): readonly Change[] {
  if (value === null || !place.answersYesOrNo) return [];
  if (!['CallExpression', 'MemberExpression', 'Identifier', 'AwaitExpression'].includes(value.type))
    return [];
  return [{ start: value.start, end: value.end, replacement: `!(${place.text(value)})` }];
}
