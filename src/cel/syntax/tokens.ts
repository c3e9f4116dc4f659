/** Lexer of CEL. */
import type { Issue } from '../error.ts';

export interface Token {
  readonly kind: 'name' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'operator' | 'end';
  readonly text: string;
  readonly offset: number;
}

const space = /[\t\n\r\f ]+|\/\/[^\n]*/y;
const name = /[A-Za-z_][A-Za-z0-9_]*/y;
const double = /\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?/y;
const integer = /(?:0x[0-9a-fA-F]+|\d+)[uU]?/y;
const operator = /==|!=|<=|>=|&&|\|\||[<>[\]{}().,\-!?:+*/%]/y;
const opening = /([bB]?[rR]?)("""|'''|"|')/y;

export class TokenError extends Error {
  readonly issue: Issue;
  constructor(issue: Issue) {
    super(issue.message);
    this.issue = issue;
  }
}

/**
 * Returns all tokens, the last of kind `end`. Each pattern is tried at one position only and none nests
 * repetitions, so the time is linear.
 */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let offset = 0;
  while (offset < text.length) {
    const skipped = match(space, text, offset);
    if (skipped !== undefined) {
      offset += skipped.length;
      continue;
    }
    const token = readToken(text, offset);
    tokens.push(token);
    offset += token.text.length;
  }
  tokens.push({ kind: 'end', text: '<EOF>', offset });
  return tokens;
}

function readToken(text: string, offset: number): Token {
  const quoted = readQuoted(text, offset);
  if (quoted) return quoted;
  const word = match(name, text, offset);
  if (word !== undefined) return { kind: 'name', text: word, offset };
  const real = match(double, text, offset);
  if (real !== undefined) return { kind: 'double', text: real, offset };
  const whole = match(integer, text, offset);
  if (whole !== undefined) return { kind: /[uU]$/.test(whole) ? 'uint' : 'int', text: whole, offset };
  const sign = match(operator, text, offset);
  if (sign !== undefined) return { kind: 'operator', text: sign, offset };
  return unrecognized(text, offset, String.fromCodePoint(text.codePointAt(offset) ?? 0));
}

/** Reads a literal of a string or of bytes, with its prefix and its quotes. */
function readQuoted(text: string, offset: number): Token | undefined {
  opening.lastIndex = offset;
  const [start, prefix = '', quote = ''] = opening.exec(text) ?? [];
  if (start === undefined) return undefined;
  const end = endOfQuoted(text, offset + start.length, quote, /[rR]/.test(prefix));
  if (end === undefined) return unrecognized(text, offset, text.slice(offset));
  const kind = /[bB]/.test(prefix) ? 'bytes' : 'string';
  return { kind, text: text.slice(offset, end), offset };
}

function endOfQuoted(text: string, from: number, quote: string, raw: boolean): number | undefined {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '\\' && !raw) at++;
    else if (text.startsWith(quote, at)) return at + quote.length;
    else if (quote.length === 1 && (character === '\n' || character === '\r')) return undefined;
  }
  return undefined;
}

function unrecognized(_text: string, offset: number, found: string): never {
  throw new TokenError({ offset, message: `Syntax error: token recognition error at: '${found}'` });
}

function match(pattern: RegExp, text: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(text)?.[0];
}
