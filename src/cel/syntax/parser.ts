/** Parser of CEL: recursive descent, with upstream's limits on size and recursion. */
import { compileError, type Issue } from '../error.ts';
import { call, constant, HeightError, ident, list, map, maxHeight, select, struct } from './build.ts';
import { bytesOf, EscapeError, intOf, stringOf, uintOf } from './literals.ts';
import { expandMacro, MacroError } from './macros.ts';
import { type Token, TokenError, tokenize } from './tokens.ts';
import type { Expression, FieldEntry, ListNode, MapEntry } from './tree.ts';

/** Maximum number of code points of an expression. */
const maxLength = 100_000;

/** Maximum depth of parentheses, arguments, lists and so on. */
const maxDepth = 250;

const reserved = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
);

const operand =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

const relations = new Map([
  ['==', '_==_'],
  ['!=', '_!=_'],
  ['<', '_<_'],
  ['<=', '_<=_'],
  ['>', '_>_'],
  ['>=', '_>=_'],
  ['in', '@in'],
]);
const sums = new Map([
  ['+', '_+_'],
  ['-', '_-_'],
]);
const products = new Map([
  ['*', '_*_'],
  ['/', '_/_'],
  ['%', '_%_'],
]);

class ParseError extends Error {
  readonly issue: Issue;
  constructor(offset: number | undefined, message: string) {
    super(message);
    this.issue = { offset, message };
  }
}

/** Returns the tree, or throws a CelError for the first fault. */
export function parse(expression: string): Expression {
  const length = codePoints(expression);
  if (length > maxLength) {
    const message = `expression code point size exceeds limit: size: ${length}, limit ${maxLength}`;
    throw compileError(expression, [{ offset: undefined, message }]);
  }
  try {
    return new Parser(tokenize(expression)).whole();
  } catch (error) {
    throw compileError(expression, [issueOf(error)]);
  }
}

function issueOf(error: unknown): Issue {
  if (error instanceof ParseError || error instanceof TokenError || error instanceof MacroError)
    return error.issue;
  if (error instanceof HeightError)
    return { offset: undefined, message: `expression recursion limit exceeded: ${maxHeight}` };
  throw error;
}

function codePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count--;
  return count;
}

class Parser {
  private readonly tokens: readonly Token[];
  private at = 0;
  private depth = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  whole(): Expression {
    const found = this.expression();
    if (this.peek().kind !== 'end') this.unexpected('<EOF>');
    return found;
  }

  private expression(): Expression {
    if (++this.depth > maxDepth)
      throw new ParseError(undefined, `expression recursion limit exceeded: ${maxDepth}`);
    const condition = this.logical('||', '_||_');
    let found = condition;
    if (this.isOperator('?')) {
      const { offset } = this.next();
      const then = this.logical('||', '_||_');
      this.expect(':');
      found = call(offset, '_?_:_', [condition, then, this.expression()]);
    }
    this.depth--;
    return found;
  }

  /** A chain of one logical operator. Its tree is balanced, so that a long chain is not a deep tree. */
  private logical(sign: '||' | '&&', name: string): Expression {
    const below = () => (sign === '||' ? this.logical('&&', '_&&_') : this.chain(relations));
    const terms = [below()];
    const offsets: number[] = [];
    while (this.isOperator(sign)) {
      offsets.push(this.next().offset);
      terms.push(below());
    }
    return balance(name, terms, offsets, 0, terms.length - 1);
  }

  private chain(operators: ReadonlyMap<string, string>): Expression {
    let left = this.below(operators);
    for (;;) {
      const { kind, text, offset } = this.peek();
      const name = kind === 'operator' || text === 'in' ? operators.get(text) : undefined;
      if (name === undefined || kind === 'string') return left;
      this.at++;
      left = call(offset, name, [left, this.below(operators)]);
    }
  }

  private below(operators: ReadonlyMap<string, string>): Expression {
    if (operators === relations) return this.chain(sums);
    return operators === sums ? this.chain(products) : this.unary();
  }

  private unary(): Expression {
    const sign = this.peek();
    if (sign.kind !== 'operator' || (sign.text !== '!' && sign.text !== '-')) return this.member();
    let count = 0;
    while (this.isOperator(sign.text)) {
      // The last minus before a number is a part of the literal.
      if (sign.text === '-' && this.isNumber(this.tokens[this.at + 1])) break;
      this.at++;
      count++;
    }
    const found = this.member();
    return count % 2 === 0 ? found : call(sign.offset, sign.text === '!' ? '!_' : '-_', [found]);
  }

  private isNumber(token: Token | undefined): boolean {
    return token?.kind === 'int' || token?.kind === 'double';
  }

  private member(): Expression {
    let found = this.primary();
    for (;;) {
      if (this.isOperator('.')) found = this.selection(found);
      else if (this.isOperator('[')) found = this.index(found);
      else return found;
    }
  }

  private selection(from: Expression): Expression {
    const { offset } = this.next();
    const optional = this.accept('?');
    const field = this.name();
    if (optional) return call(offset, '_?._', [from, constant(field.offset, field.text)]);
    if (!this.isOperator('(')) return select(offset, from, field.text);
    const open = this.next();
    const args = this.args();
    return expandMacro(open.offset, field.text, from, args) ?? call(open.offset, field.text, args, from);
  }

  private index(from: Expression): Expression {
    const { offset } = this.next();
    const name = this.accept('?') ? '_[?_]' : '_[_]';
    const key = this.expression();
    this.expect(']');
    return call(offset, name, [from, key]);
  }

  private args(): Expression[] {
    const found: Expression[] = [];
    if (this.accept(')')) return found;
    do found.push(this.expression());
    while (this.accept(','));
    this.expect(')');
    return found;
  }

  private primary(): Expression {
    const { kind, text } = this.peek();
    if (kind === 'end') return this.unexpected(operand);
    if (kind === 'name') return this.named();
    return kind === 'operator' ? this.opened(text) : this.literal();
  }

  private opened(sign: string): Expression {
    switch (sign) {
      case '.':
        return this.named();
      case '[':
        return this.list();
      case '{':
        return this.map();
      case '(': {
        this.at++;
        const inside = this.expression();
        this.expect(')');
        return inside;
      }
      default:
        return sign === '-' && this.isNumber(this.tokens[this.at + 1])
          ? this.literal()
          : this.unexpected(operand);
    }
  }

  private literal(): Expression {
    const sign = this.isOperator('-') ? this.next() : undefined;
    const { kind, text, offset: start } = this.next();
    const offset = sign?.offset ?? start;
    try {
      if (kind === 'string') return constant(offset, stringOf(text));
      if (kind === 'bytes') return constant(offset, bytesOf(text));
    } catch (error) {
      if (!(error instanceof EscapeError)) throw error;
      throw new ParseError(offset, `Syntax error: token recognition error at: '${text}'`);
    }
    const value = numberOf(kind, text, sign !== undefined);
    if (value === undefined) throw new ParseError(offset, `invalid ${kind} literal`);
    return constant(offset, value);
  }

  private named(): Expression {
    const start = this.peek();
    const dot = this.accept('.') ? '.' : '';
    if (dot === '' && constants.has(start.text)) {
      this.at++;
      return constant(start.offset, constants.get(start.text) ?? null);
    }
    if (start.text === 'in') this.unexpected(operand);
    const { text, offset } = this.name();
    const name = dot + text;
    const message = this.messageName(name);
    if (message !== undefined) return struct(this.next().offset, message, this.fields());
    if (reserved.has(text)) throw new ParseError(start.offset, `reserved identifier: ${text}`);
    return this.isOperator('(') ? this.globalCall(name) : ident(offset, name);
  }

  private globalCall(name: string): Expression {
    const { offset } = this.next();
    const args = this.args();
    return expandMacro(offset, name, undefined, args) ?? call(offset, name, args);
  }

  /** Reads `a.b.C` if a brace follows; else leaves the position where it was. */
  private messageName(first: string): string | undefined {
    const begin = this.at;
    let name = first;
    while (this.isOperator('.') && this.tokens[this.at + 1]?.kind === 'name') {
      name += `.${this.tokens[this.at + 1]?.text}`;
      this.at += 2;
    }
    if (this.isOperator('{')) return name;
    this.at = begin;
    return undefined;
  }

  private list(): Expression {
    const { offset } = this.next();
    const elements: { value: Expression; optional: boolean }[] = [];
    this.items(']', () => {
      const optional = this.accept('?');
      elements.push({ optional, value: this.expression() });
    });
    return list(offset, elements satisfies ListNode['elements']);
  }

  private map(): Expression {
    const { offset } = this.next();
    const entries: MapEntry[] = [];
    this.items('}', () => {
      const optional = this.accept('?');
      const key = this.expression();
      const colon = this.expect(':');
      entries.push({ offset: colon.offset, optional, key, value: this.expression() });
    });
    return map(offset, entries);
  }

  private fields(): FieldEntry[] {
    const fields: FieldEntry[] = [];
    this.items('}', () => {
      const optional = this.accept('?');
      const field = this.name().text;
      const colon = this.expect(':');
      fields.push({ offset: colon.offset, optional, field, value: this.expression() });
    });
    return fields;
  }

  /** Reads items with commas between them, and perhaps one after the last. */
  private items(end: string, read: () => void): void {
    while (!this.accept(end)) {
      read();
      if (this.accept(',')) continue;
      this.expect(end);
      return;
    }
  }

  private name(): Token {
    const { kind, text } = this.peek();
    if (kind !== 'name') this.unexpected('IDENTIFIER');
    if (text === 'in' || constants.has(text)) this.fail(`no viable alternative at input '.${text}'`, -1);
    return this.next();
  }

  private peek(): Token {
    const token = this.tokens[Math.min(this.at, this.tokens.length - 1)];
    if (token === undefined) throw new Error('a list of tokens has an end');
    return token;
  }

  private next(): Token {
    const token = this.peek();
    this.at++;
    return token;
  }

  private isOperator(text: string): boolean {
    const token = this.peek();
    return token.kind === 'operator' && token.text === text;
  }

  private accept(text: string): boolean {
    const found = this.isOperator(text);
    if (found) this.at++;
    return found;
  }

  private expect(text: string): Token {
    return this.isOperator(text) ? this.next() : this.unexpected(`'${text}'`);
  }

  private unexpected(wanted: string): never {
    return this.fail(`mismatched input '${this.peek().text}' expecting ${wanted}`);
  }

  private fail(message: string, shift = 0): never {
    throw new ParseError(this.peek().offset + shift, `Syntax error: ${message}`);
  }
}

const constants: ReadonlyMap<string, boolean | null> = new Map<string, boolean | null>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function numberOf(kind: Token['kind'], text: string, negative: boolean) {
  if (kind === 'int') return intOf(text, negative);
  if (kind === 'uint') return uintOf(text);
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  return negative ? -value : value;
}

function balance(
  name: string,
  terms: readonly Expression[],
  offsets: readonly number[],
  from: number,
  to: number,
): Expression {
  const only = terms[from];
  if (only !== undefined && from === to) return only;
  const middle = Math.floor((from + to - 1) / 2);
  const left = balance(name, terms, offsets, from, middle);
  const right = balance(name, terms, offsets, middle + 1, to);
  return call(offsets[middle] ?? 0, name, [left, right]);
}
