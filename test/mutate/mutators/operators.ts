/** Changes of operators: boundaries, opposites, arithmetic, assignments. */
import type {
  AssignmentExpression,
  BinaryExpression,
  Node,
  PrivateInExpression,
  UnaryExpression,
  UpdateExpression,
} from 'oxc-parser';
import type { Place } from '../place.ts';

const boundaries = new Map<string, string>([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
]);
const opposites = new Map<string, string>([
  ['<', '>='],
  ['<=', '>'],
  ['>', '<='],
  ['>=', '<'],
  ['===', '!=='],
  ['!==', '==='],
  ['==', '!='],
  ['!=', '=='],
]);
const arithmetic = new Map<string, string>([
  ['+', '-'],
  ['-', '+'],
  ['*', '/'],
  ['/', '*'],
  ['%', '*'],
  ['**', '*'],
  ['<<', '>>'],
  ['>>', '<<'],
  ['>>>', '<<'],
  ['&', '|'],
  ['|', '&'],
  ['^', '&'],
]);
const assignments = new Map<string, string>([
  ['+=', '-='],
  ['-=', '+='],
  ['*=', '/='],
  ['/=', '*='],
  ['&=', '|='],
  ['|=', '&='],
  ['??=', '='],
  ['||=', '='],
  ['&&=', '='],
]);

export function otherOperators(
  node: BinaryExpression | PrivateInExpression,
  place: Place,
): readonly string[] {
  const { left, right, operator } = node;
  if (operator === '+' && (isText(left) || isText(right))) return [];
  const others = [
    place.isStrictOrder(node) ? undefined : boundaries.get(operator),
    // A condition is made constant both ways anyway.
    place.isCondition(node) ? undefined : opposites.get(operator),
    arithmetic.get(operator),
  ].filter((other) => other !== undefined);
  if (others.length === 0) return place.isCondition(node) ? [] : [`!(${place.text(node)})`];
  const between = place.text({ start: left.end, end: right.start });
  // The replacement is a function, since `$` has a meaning in a replacement text.
  return others.map((other) => place.text(left) + between.replace(operator, () => other) + place.text(right));
}

export function otherSign(node: UnaryExpression, place: Place): readonly string[] {
  const { operator, argument } = node;
  if (operator === '!') return place.isCondition(node) ? [] : [`(${place.text(argument)})`];
  return operator === '-' && argument.type !== 'Literal' ? [place.text(argument)] : [];
}

export function otherStep({ operator, prefix, argument }: UpdateExpression, place: Place): readonly string[] {
  // A loop with the opposite step would never end.
  if (place.parent?.type === 'ForStatement') return [];
  const [text, other] = [place.text(argument), operator === '++' ? '--' : '++'];
  return [prefix ? other + text : text + other];
}

export function otherAssignment(
  { operator, left, right }: AssignmentExpression,
  place: Place,
): readonly string[] {
  const other = assignments.get(operator);
  return other === undefined || isText(right) ? [] : [`${place.text(left)} ${other} ${place.text(right)}`];
}

/** Returns whether the node is certainly a text, so that + concatenates texts. */
function isText(node: Node): boolean {
  if (node.type === 'BinaryExpression') return isText(node.left) || isText(node.right);
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');
}
