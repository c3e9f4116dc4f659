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

  /** Whether a number is what puts things in order: `a < b ? -1 : 1`, or `: a > b ? 1 : 0`. Only its sign counts. */
  get isOrder(): boolean {
    const { parent } = this;
    const arm = parent?.type === 'UnaryExpression' ? this.parents.at(-2) : parent;
    return (
      arm?.type === 'ConditionalExpression' &&
      this.parents.some((one) => one.type === 'ConditionalExpression' && order.test(this.text(one)))
    );
  }

  /** Whether a condition says which comes first, and nothing of those that are the same. */
  isOrderOfDifferent(node: Node): boolean {
    const { parent } = this;
    return (
      parent?.type === 'ConditionalExpression' &&
      parent.test === node &&
      / \? -1 : 1$/.test(this.text(parent))
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

  /** Whether the function around is one that says yes or no. */
  get answersYesOrNo(): boolean {
    const around = this.parents.findLast((node) => /Function/.test(node.type));
    if (!around || !('returnType' in around)) return false;
    const type = around.returnType?.typeAnnotation.type;
    return type === 'TSBooleanKeyword' || type === 'TSTypePredicate';
  }
}

const order = / \? -1 : (?:1|[^?:]+ \? 1 : 0)$/;

/** The name by which something is called: of `a.b.c` that is `c`. */
function nameOf(node: Node): string {
  if (node.type === 'MemberExpression') return nameOf(node.property);
  return 'name' in node && typeof node.name === 'string' ? node.name : '';
}
