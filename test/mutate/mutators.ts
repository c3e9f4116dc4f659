/**
 * What may be changed at one node of a syntax tree. Changes that another one implies are left out: a test that notices
 * `a && b` become `a`, and become `b`, also notices `a || b`.
 */
import type { Node } from 'oxc-parser';
import { otherCalls } from './mutators/calls.ts';
import { otherConstant, otherTemplate, withoutOne } from './mutators/constants.ts';
import { otherAssignment, otherOperators, otherSign, otherStep } from './mutators/operators.ts';
import { negated, removal } from './mutators/statements.ts';
import { type Change, Place } from './place.ts';

/** `parents` from the program down to the node's own. */
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

/** The node as a whole, otherwise. */
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

/** What is in the node, or the node taken out. */
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
      // Those that are always true would never end.
      return node.test ? decided(node.test).filter(({ replacement }) => replacement === 'false') : [];
    default:
      return [];
  }
}

/** A condition that is always one way. Where `&&` or `||` decides, what is left of it when one side goes says more. */
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
