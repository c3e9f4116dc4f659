/** Changes of numbers, texts and answers; lists with one element less. */
import type { Node, TemplateLiteral } from 'oxc-parser';
import type { Change, Place } from '../place.ts';

export function otherConstant(node: Node, value: unknown, place: Place): readonly string[] {
  if (typeof value === 'boolean') return [String(!value)];
  if (typeof value === 'number') return value === 1 && place.isOrder(node) ? [] : [String(value + 1)];
  if (typeof value !== 'string' || place.isListed(node) || place.isMessage) return [];
  if (place.isErrorName || isName(node, place.parent)) return [];
  return [value === '' ? "'mutated'" : "''"];
}

export function otherTemplate(node: TemplateLiteral, place: Place): readonly string[] {
  const { parent } = place;
  return parent?.type === 'TaggedTemplateExpression' || place.isListed(node) || place.isMessage ? [] : ["''"];
}

/**
 * Returns whether a text is a name of something else: a key, a module, or one of the few results of typeof.
 */
function isName(node: Node, parent: Node | undefined): boolean {
  switch (parent?.type) {
    case 'Property':
    case 'PropertyDefinition':
      return parent.key === node && !parent.computed;
    case 'BinaryExpression':
      return [parent.left, parent.right].some(
        (side) => side.type === 'UnaryExpression' && side.operator === 'typeof',
      );
    case 'ExpressionStatement':
    case 'ExportNamedDeclaration':
    case 'ImportExpression':
      return true;
    default:
      return false;
  }
}

/** Returns the changes that remove one element of the list, for each element that may be removed. */
export function withoutOne<T extends Node | null>(
  elements: readonly T[],
  source: string,
  mayGo: (element: NonNullable<T>) => boolean = () => true,
): readonly Change[] {
  return elements.flatMap((element) => {
    if (element === null || !mayGo(element)) return [];
    const comma = /^\s*,/.exec(source.slice(element.end))?.[0].length ?? 0;
    return { start: element.start, end: element.end + comma, replacement: '' };
  });
}
