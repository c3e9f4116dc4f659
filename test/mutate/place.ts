/** Where a node stands in a source, as far as that decides what may be changed of it. */
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
  /** From the program down to the node's own. */
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

  /** Whether the node is a condition, or one of several, that is decided both ways anyhow. */
  isCondition(node: Node): boolean {
    const { parent } = this;
    if (parent?.type === 'LogicalExpression') return parent.operator !== '??';
    return parent !== undefined && 'test' in parent && parent.test === node && parent.type !== 'SwitchCase';
  }

  /** Whether it is in words for people: what is thrown, an error that is made, a line of a log. */
  get isMessage(): boolean {
    return this.parents.some((node) => {
      if (node.type === 'ThrowStatement') return true;
      if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return false;
      const { callee } = node;
      if (/Error$/.test(nameOf(callee))) return true;
      return callee.type === 'MemberExpression' && /^(log|logger)$/.test(nameOf(callee.object));
    });
  }

  /** Whether it makes a part of such words, like the numbers that are told. */
  get isInMessage(): boolean {
    return this.isMessage && this.parents.some(({ type }) => type === 'TemplateLiteral');
  }

  /** Whether it is what an error of a kind calls itself: code asks for the class. */
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

  /** Whether it is a whole element of a list, which goes with the element. */
  isListed(node: Node): boolean {
    const { parent } = this;
    return (
      parent?.type === 'ArrayExpression' &&
      !this.isPair &&
      parent.elements.some((element) => element === node)
    );
  }

  /** Whether the list around is one in another: mostly a pair, which has no meaning with one half. */
  get isPair(): boolean {
    return this.parent?.type === 'ArrayExpression' && this.parents.at(-2)?.type === 'ArrayExpression';
  }

  /**
   * Whether the node is an answer of `a < b ? -1 : 1`, or of a longer one such as `a < b ? -1 : a > b ? 1 : 0`: only its
   * sign counts.
   */
  isOrder(node: Node): boolean {
    const { parent, parents } = this;
    const around = parents.at(-2);
    if (parent?.type === 'UnaryExpression') return this.#orders(around);
    if (parent?.type !== 'ConditionalExpression' || parent.test === node) return false;
    return this.#orders(parent) || this.#orders(around);
  }

  /** Whether the node is the comparison of `a < b ? -1 : 1`, which says that no two are equal. */
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

  /** Whether the function around is one that says yes or no. */
  get answersYesOrNo(): boolean {
    const around = this.parents.findLast((node) => /Function/.test(node.type));
    if (!around || !('returnType' in around)) return false;
    const type = around.returnType?.typeAnnotation.type;
    return type === 'TSBooleanKeyword' || type === 'TSTypePredicate';
  }
}

/** The name by which something is called: of `a.b.c` that is `c`. */
function nameOf(node: Node): string {
  if (node.type === 'MemberExpression') return nameOf(node.property);
  return 'name' in node && typeof node.name === 'string' ? node.name : '';
}
