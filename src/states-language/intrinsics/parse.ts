/** Parses an intrinsic function such as `States.Format('{} of {}', $.at, $.total)`. */
import { maxPathLength } from '../limits.ts';
import { Cursor, SyntaxProblem } from '../paths/cursor.ts';
import type { JsonPath } from '../paths/json-path.ts';
import { readNumber, readPath } from '../paths/parse.ts';
import { arityOf, type FunctionName } from './functions.ts';

export interface Call {
  readonly name: FunctionName;
  readonly arguments: readonly Argument[];
}

/** `template` is the text as written, with escapes, since States.Format parses its braces. */
export type Argument =
  | { readonly call: Call }
  | { readonly path: JsonPath }
  | { readonly template: string }
  | { readonly literal: null | boolean | number };

/** Maximum nesting of calls. */
const maxNesting = 10;

/** Parses the function. Throws SyntaxProblem. */
export function parseIntrinsic(text: string): Call {
  if (text.length > maxPathLength) throw new SyntaxProblem(`is longer than ${maxPathLength} characters`);
  const cursor = new Cursor(text);
  const call = readCall(cursor);
  if (!cursor.ended) cursor.fail(`unexpected '${cursor.next}'`);
  return call;
}

function readCall(cursor: Cursor): Call {
  const found = cursor.match(/States\.\w+/y);
  const arity = arityOf(found);
  if (arity === undefined)
    cursor.fail(found === '' ? 'expected States. and a name' : `there is no function ${found}`);
  const { name, least, most } = arity;
  cursor.expect('(');
  const values = cursor.deeper(maxNesting, () => readArguments(cursor));
  if (values.length < least || values.length > most) cursor.fail(`${name} takes ${countOf(least, most)}`);
  return { name, arguments: values };
}

function countOf(least: number, most: number): string {
  const least1 = `${least} argument${least === 1 ? '' : 's'}`;
  if (least === most) return least1;
  return most === Number.POSITIVE_INFINITY ? `at least ${least1}` : `${least} to ${most} arguments`;
}

function readArguments(cursor: Cursor): readonly Argument[] {
  const values: Argument[] = [];
  cursor.blanks();
  if (cursor.take(')')) return values;
  do {
    cursor.blanks();
    values.push(readArgument(cursor));
    cursor.blanks();
  } while (cursor.take(','));
  cursor.expect(')');
  return values;
}

function readArgument(cursor: Cursor): Argument {
  if (cursor.next === '$') return { path: readPath(cursor) };
  if (cursor.next === 'S') return { call: readCall(cursor) };
  if (cursor.take("'")) return { template: readText(cursor) };
  if (cursor.take('true')) return { literal: true };
  if (cursor.take('false')) return { literal: false };
  if (cursor.take('null')) return { literal: null };
  const number = readNumber(cursor);
  return {
    literal:
      number ?? cursor.fail("expected a path, a function, a text in '…', a number, true, false or null"),
  };
}

/** Reads the text up to the closing quote, including escapes. */
function readText(cursor: Cursor): string {
  const start = cursor.at;
  for (;;) {
    if (cursor.ended) cursor.fail("expected '");
    if (cursor.take('\\')) {
      if (!"'{}\\".includes(cursor.next)) cursor.fail("a backslash may stand before ' { } and \\ only");
    } else if (cursor.take("'")) return cursor.text.slice(start, cursor.at - 1);
    cursor.at++;
  }
}
