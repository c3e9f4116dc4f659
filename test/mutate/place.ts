/** Place of a node in a source, as far as it decides which changes of the node are made. */
import type { Node } from 'oxc-parser';

export interface Change {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

export class Place {
  /** Parents from the program down to the node's own parent. */
  readonly parents: readonly Node[];
  readonly source: string;

  constructor(parents: readonly Node[], source: string) {
    this.parents = parents;
    this.source = source;
  }

  get parent(): Node | undefined {
    return this.parents.at(-1);
  }

  text({ start, end }: Span): string {
    return this.source.slice(start, end);
  }

  /** Returns whether the node is a condition, or part of one, that is made constant both ways anyway. */
  isCondition(node: Node): boolean {
    const { parent } = this;
    if (parent?.type === 'LogicalExpression') return parent.operator !== '??';
    return parent !== undefined && 'test' in parent && parent.test === node && parent.type !== 'SwitchCase';
  }

  /** True if the node is in a text for people: a thrown value, a created error, a line of a log. */
  get isMessage(): boolean {
    return this.parents.some((node) => {
      if (node.type === 'ThrowStatement') return true;
      if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return false;
      const { callee } = node;
      if (/Error$/.test(nameOf(callee))) return true;
      return callee.type === 'MemberExpression' && /^(log|logger)$/.test(nameOf(callee.object));
    });
  }

  /** True if the node is part of a template in such a text, like the numbers in it. */
  get isInMessage(): boolean {
    return this.isMessage && this.parents.some(({ type }) => type === 'TemplateLiteral');
  }

  /** True if the node is the name of a class of errors: code checks the class instead. */
  get isErrorName(): boolean {
    const { parent, parents } = this;
    const around = parents.at(-3);
    return (
      parent?.type === 'PropertyDefinition' &&
      nameOf(parent.key) === 'name' &&
      around?.type === 'ClassDeclaration' &&
      around.superClass !== null &&
      /Error$/.test(nameOf(around.superClass))
    );
  }

  /** Returns whether the node is a whole element of a list, which is removed with the element. */
  isListed(node: Node): boolean {
    const { parent } = this;
    return (
      parent?.type === 'ArrayExpression' &&
      !this.isPair &&
      parent.elements.some((element) => element === node)
    );
  }

  /** True if the list around is inside another list: mostly a pair, which has no meaning with one half. */
  get isPair(): boolean {
    return this.parent?.type === 'ArrayExpression' && this.parents.at(-2)?.type === 'ArrayExpression';
  }

  /**
   * Returns whether the node is a result of `a < b ? -1 : 1`, or of a longer one such as `a < b ? -1 : a > b
   * ? 1 : 0`: only the sign counts.
   */
  isOrder(node: Node): boolean {
    const { parent, parents } = this;
    const around = parents.at(-2);
    if (parent?.type === 'UnaryExpression') return this.#orders(around);
    if (parent?.type !== 'ConditionalExpression' || parent.test === node) return false;
    return this.#orders(parent) || this.#orders(around);
  }

  /** Returns whether the node is the comparison of `a < b ? -1 : 1`, in which no two values are equal. */
  isStrictOrder(node: Node): boolean {
    const { parent } = this;
    return (
      parent?.type === 'ConditionalExpression' &&
      parent.test === node &&
      this.#orders(parent) &&
      this.text(parent.alternate) === '1'
    );
  }

  #orders(node: Node | undefined): boolean {
    if (node?.type !== 'ConditionalExpression' || node.test.type !== 'BinaryExpression') return false;
    return /^[<>]$/.test(node.test.operator) && this.text(node.consequent) === '-1';
  }

  /** True if the function around answers yes or no. */
  get answersYesOrNo(): boolean {
    const around = this.parents.findLast((node) => /Function/.test(node.type));
    if (!around || !('returnType' in around)) return false;
    const type = around.returnType?.typeAnnotation.type;
    return type === 'TSBooleanKeyword' || type === 'TSTypePredicate';
  }
}

/** Returns the last name of an expression, such as `c` for `a.b.c`. */
function nameOf(node: Node): string {
  if (node.type === 'MemberExpression') return nameOf(node.property);
  return 'name' in node && typeof node.name === 'string' ? node.name : '';
}
