/**
 * Parses templates in the language of Go's package text/template: text with actions in double braces. Throws
 * UsageError that names the line.
 */
import { UsageError } from '../../base/usage-error.ts';
import { type Action, cutActions, type Token } from './tokens.ts';

export type Operand =
  | { readonly kind: 'value'; readonly value: string | number | bigint | boolean | null }
  | { readonly kind: 'dot' }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'function'; readonly name: string }
  | { readonly kind: 'pipeline'; readonly pipeline: Pipeline };

/** An operand and the names of fields behind it: `$x.a.b`. */
export interface Term {
  readonly operand: Operand;
  readonly fields: readonly string[];
}

/** A term with its arguments. */
export type Call = readonly Term[];

export interface Pipeline {
  readonly calls: readonly Call[];
  readonly declares?: { readonly names: readonly string[]; readonly isNew: boolean };
}

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly pipeline: Pipeline }
  | { readonly kind: Branching; readonly pipeline: Pipeline; readonly body: Nodes; readonly otherwise: Nodes }
  | { readonly kind: 'break' | 'continue' }
  | { readonly kind: 'call'; readonly name: string; readonly pipeline?: Pipeline };

export type Nodes = readonly Node[];
type Branching = 'if' | 'with' | 'range';

export interface Template {
  readonly nodes: Nodes;
  readonly defined: ReadonlyMap<string, Nodes>;
}

/** Maximum depth of nested actions and parentheses. */
const maxDepth = 200;

/** Maximum length of a template in characters. */
const maxLength = 1_000_000;

export function parseGoTemplate(text: string): Template {
  if (text.length > maxLength) throw new UsageError(`template: longer than ${maxLength} characters`);
  const parser = new Parser(cutActions(text));
  return { nodes: parser.template(), defined: parser.defined };
}

/** End of a list of nodes. */
type End = 'end' | 'else' | 'text';

class Parser {
  readonly defined = new Map<string, Nodes>();
  readonly #actions: readonly Action[];
  #next = 0;
  #depth = 0;
  #ranges = 0;

  constructor(actions: readonly Action[]) {
    this.#actions = actions;
  }

  template(): Nodes {
    const { nodes, end, cursor } = this.#list();
    if (end !== 'text') cursor?.fail(`unexpected {{${end}}}`);
    return nodes;
  }

  /** Parses up to the end of the text, or up to an `end` or `else` that belongs to no action of the list. */
  #list(): { readonly nodes: Nodes; readonly end: End; readonly cursor?: Cursor } {
    const nodes: Node[] = [];
    for (let action = this.#actions[this.#next++]; action; action = this.#actions[this.#next++]) {
      const cursor = new Cursor(action);
      const word = cursor.word();
      if (word === 'end' || word === 'else') return { nodes, end: word, cursor };
      const node = this.#node(action.text, cursor, word);
      cursor.done();
      if (node) nodes.push(node);
    }
    return { nodes, end: 'text' };
  }

  /** Returns undefined for a definition. */
  #node(text: string | undefined, cursor: Cursor, word: string | undefined): Node | undefined {
    if (text !== undefined) return { kind: 'text', text };
    switch (word) {
      case undefined:
        return { kind: 'print', pipeline: cursor.pipeline() };
      case 'if':
      case 'with':
      case 'range':
        return this.#branch(word, cursor);
      case 'break':
      case 'continue':
        if (this.#ranges === 0) cursor.fail(`{{${word}}} outside {{range}}`);
        return { kind: word };
      case 'define':
        this.defined.set(cursor.text(), this.#body(cursor));
        return undefined;
      case 'block': {
        const name = cursor.text();
        const pipeline = cursor.pipeline();
        this.defined.set(name, this.#body(cursor));
        return { kind: 'call', name, pipeline };
      }
      default: {
        const name = cursor.text();
        return { kind: 'call', name, ...(cursor.peek() && { pipeline: cursor.pipeline() }) };
      }
    }
  }

  /** Parses the nodes of a definition up to its `end`. */
  #body(cursor: Cursor): Nodes {
    cursor.done();
    const inner = this.#list();
    if (inner.end !== 'end') cursor.fail('{{define}} or {{block}} without {{end}}');
    inner.cursor?.done();
    return inner.nodes;
  }

  #branch(kind: Branching, cursor: Cursor): Node {
    if (++this.#depth > maxDepth) cursor.fail(`more than ${maxDepth} nested actions`);
    const pipeline = cursor.pipeline(kind === 'range' ? 2 : 1);
    cursor.done();
    if (kind === 'range') this.#ranges++;
    const { nodes: body, end, cursor: last } = this.#list();
    if (kind === 'range') this.#ranges--;
    if (!last || end === 'text') cursor.fail(`{{${kind}}} without {{end}}`);
    const otherwise = end === 'else' ? this.#otherwise(kind, last) : [];
    if (end === 'end') last.done();
    this.#depth--;
    return { kind, pipeline, body, otherwise };
  }

  /** Parses what is behind `else`: `else if` and `else with` share the `end`. */
  #otherwise(kind: Branching, cursor: Cursor): Nodes {
    const word = cursor.word();
    if (word !== undefined && word === kind && kind !== 'range') return [this.#branch(kind, cursor)];
    if (word !== undefined) cursor.fail(`unexpected ${word} after else`);
    cursor.done();
    const { nodes, end, cursor: last } = this.#list();
    if (!last || end !== 'end') cursor.fail('{{else}} without {{end}}');
    last.done();
    return nodes;
  }
}

/** Position in the tokens of one action. */
class Cursor {
  readonly #action: Action;
  #at = 0;
  #depth = 0;

  constructor(action: Action) {
    this.#action = action;
  }

  peek(): Token | undefined {
    return this.#action.tokens[this.#at];
  }

  fail(why: string): never {
    return this.#action.fail(why);
  }

  /** Returns the keyword at the position and moves behind it. */
  word(): string | undefined {
    const token = this.peek();
    if (token?.kind !== 'keyword') return undefined;
    this.#at++;
    return token.text;
  }

  text(): string {
    const token = this.#take();
    if (token?.kind !== 'value' || typeof token.value !== 'string')
      return this.fail('expected a quoted name');
    return token.value;
  }

  done(): void {
    const token = this.peek();
    if (token) this.fail(`unexpected ${JSON.stringify(token.text)}`);
  }

  pipeline(maxNames = 1): Pipeline {
    if (++this.#depth > maxDepth) this.fail(`more than ${maxDepth} nested parentheses`);
    const declares = this.#declaration(maxNames);
    const calls = [this.#call()];
    while (this.#skip('|')) {
      const call = this.#call();
      const first = call[0]?.operand.kind;
      if (first === 'value' || first === 'dot') this.fail('non executable command in pipeline');
      calls.push(call);
    }
    this.#depth--;
    return { calls, ...(declares && { declares }) };
  }

  /** Parses `$x :=`, `$x =` and, for a range, `$i, $x :=`. */
  #declaration(maxNames: number): Pipeline['declares'] {
    const start = this.#at;
    const names: string[] = [];
    do {
      const token = this.#take();
      if (token?.kind !== 'variable') break;
      names.push(token.text);
    } while (names.length < maxNames && this.#skip(','));
    const isNew = this.#skip(':=');
    if (names.length > 0 && (isNew || this.#skip('='))) return { names, isNew };
    this.#at = start;
    return undefined;
  }

  #call(): Call {
    const terms: Term[] = [];
    for (let term = this.#term(); term; term = this.#term()) terms.push(term);
    if (terms.length === 0) this.fail('missing value for command');
    return terms;
  }

  #term(): Term | undefined {
    const first = this.peek();
    const operand: Operand | undefined = first?.kind === 'field' ? { kind: 'dot' } : this.#operand();
    if (!operand) return undefined;
    const fields: string[] = [];
    for (let token = this.peek(); token?.kind === 'field'; token = this.peek()) {
      if (token !== first && !token.joined) break;
      fields.push(token.text);
      this.#at++;
    }
    return { operand, fields };
  }

  #operand(): Operand | undefined {
    const token = this.peek();
    if (!token) return undefined;
    const operand = operandOf(token);
    if (operand) {
      this.#at++;
      return operand;
    }
    if (!this.#skip('(')) return undefined;
    const pipeline = this.pipeline();
    if (!this.#skip(')')) this.fail('unclosed left paren');
    return { kind: 'pipeline', pipeline };
  }

  #take(): Token | undefined {
    return this.#action.tokens[this.#at++];
  }

  #skip(mark: string): boolean {
    const token = this.peek();
    if (token?.kind !== 'mark' || token.text !== mark) return false;
    this.#at++;
    return true;
  }
}

/** Returns the operand of a token; undefined for a field, which begins at the dot, and for marks. */
function operandOf(token: Token): Operand | undefined {
  if (token.kind === 'value') return { kind: 'value', value: token.value };
  if (token.kind === 'dot') return { kind: 'dot' };
  if (token.kind === 'variable') return { kind: 'variable', name: token.text };
  if (token.kind === 'function') return { kind: 'function', name: token.text };
  return undefined;
}
