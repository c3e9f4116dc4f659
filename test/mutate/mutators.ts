/**
 * Changes of one node of a syntax tree. Changes that another one implies are left out: a test that detects `a
 * && b` as `a`, and as `b`, also detects `a || b`.
 */
import type { Node } from 'oxc-parser';
import { otherCalls } from './mutators/calls.ts';
import { otherConstant, otherTemplate, withoutOne } from './mutators/constants.ts';
import { otherAssignment, otherOperators, otherSign, otherStep } from './mutators/operators.ts';
import { negated, removal } from './mutators/statements.ts';
import { type Change, Place } from './place.ts';

/** Returns the changes of the node. `parents` are listed from the program down to the node's own parent. */
export function changesOf(node: Node, parents: readonly Node[], source: string): readonly Change[] {
  const place = new Place(parents, source);
  if (place.isInMessage) return [];
  const { start, end } = node;
  return [
    ...conditions(node),
    ...parts(node, place),
    ...expressions(node, place).map((replacement) => ({ start, end, replacement })),
  ];
}

/** Returns replacements of the node as a whole. */
function expressions(node: Node, place: Place): readonly string[] {
  switch (node.type) {
    case 'BinaryExpression':
      return otherOperators(node, place);
    case 'LogicalExpression': {
      const [left, right] = [`(${place.text(node.left)})`, `(${place.text(node.right)})`];
      return node.operator === '??' ? [left] : [left, right];
    }
    case 'UnaryExpression':
      return otherSign(node, place);
    case 'UpdateExpression':
      return otherStep(node, place);
    case 'AssignmentExpression':
      return otherAssignment(node, place);
    case 'CallExpression':
      return otherCalls(node, place);
    case 'Literal':
      return otherConstant(node, node.value, place);
    case 'TemplateLiteral':
      return otherTemplate(node, place);
    default:
      return [];
  }
}

/** Returns changes of the parts of the node, or its removal. */
function parts(node: Node, place: Place): readonly Change[] {
  switch (node.type) {
    case 'ArrayExpression':
      return place.parent?.type === 'ArrayExpression' ? [] : withoutOne(node.elements, place.source);
    case 'ObjectExpression':
      return withoutOne(node.properties, place.source, ({ type }) => type === 'SpreadElement');
    case 'ReturnStatement':
      return [...removal(node, place), ...negated(node.argument, place)];
    case 'ArrowFunctionExpression':
      return negated(node.body, new Place([...place.parents, node], place.source));
    case 'ThrowStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'ExpressionStatement':
      return removal(node, place);
    default:
      return [];
  }
}

function conditions(node: Node): readonly Change[] {
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
      return decided(node.test);
    case 'WhileStatement':
    case 'DoWhileStatement':
    case 'ForStatement':
      // A loop whose condition is always true would never end.
      return node.test ? decided(node.test).filter(({ replacement }) => replacement === 'false') : [];
    default:
      return [];
  }
}

/**
 * Returns the changes that make a condition constant. For `&&` or `||` one constant is left out, since the
 * removal of one side says more.
 */
function decided(test: Node): readonly Change[] {
  if (test.type === 'Literal') return [];
  const { start, end } = test;
  const inner = test.type === 'ParenthesizedExpression' ? test.expression : test;
  const operator = inner.type === 'LogicalExpression' ? inner.operator : '';
  return [
    ...(operator === '&&' ? [] : [{ start, end, replacement: 'true' }]),
    ...(operator === '||' ? [] : [{ start, end, replacement: 'false' }]),
  ];
}
