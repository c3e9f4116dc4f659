/** Parses a JSONPath. Linear in its length; nesting is bounded. */
import { maxPathLength } from '../limits.ts';
import { Cursor, SyntaxProblem } from './cursor.ts';
import {
  type JsonPath,
  type Literal,
  type Operand,
  operators,
  type PathFunction,
  pathFunctions,
  type Root,
  type Selector,
  type Step,
  type Test,
} from './json-path.ts';

const maxNesting = 20;

/** Parses the path. Throws SyntaxProblem. */
export function parsePath(text: string): JsonPath {
  if (text.length > maxPathLength) throw new SyntaxProblem(`is longer than ${maxPathLength} characters`);
  const cursor = new Cursor(text);
  const path = readPath(cursor);
  if (!cursor.ended) cursor.fail(`unexpected '${cursor.next}'`);
  return path;
}

const variableName = /[\p{ID_Start}_][\p{ID_Continue}]*/uy;
/**
 * Characters of a name after a dot, which excludes those of paths, of filters, and of the surrounding text.
 */
const dottedName = /[^\s.[\]()'"*?@$,:;!=<>&|~^{}\\]+/y;

/** Reads the path that begins here and stops after it. */
export function readPath(cursor: Cursor): JsonPath {
  return readSteps(cursor, readRoot(cursor));
}

function readRoot(cursor: Cursor): Root {
  if (cursor.take('@')) return 'item';
  if (!cursor.take('$')) cursor.fail('a path begins with $');
  if (cursor.take('$')) return 'context';
  const variable = cursor.match(variableName);
  return variable === '' ? 'input' : { variable };
}

function readSteps(cursor: Cursor, root: Root): JsonPath {
  const steps: Step[] = [];
  for (;;) {
    const deep = cursor.take('..');
    if (deep || cursor.next === '[') steps.push({ selectors: readSelectors(cursor), deep });
    else if (cursor.take('.')) {
      const selector = readDotted(cursor);
      if (cursor.take('()')) return { root, steps, call: functionOf(cursor, selector) };
      steps.push({ selectors: [selector], deep: false });
    } else return { root, steps };
  }
}

const readSelectors = (cursor: Cursor): readonly Selector[] =>
  cursor.next === '[' ? readBrackets(cursor) : [readDotted(cursor)];

function readDotted(cursor: Cursor): Selector {
  if (cursor.take('*')) return { type: 'all' };
  const name = cursor.match(dottedName);
  if (name === '') cursor.fail('expected a name');
  return { type: 'name', name };
}

function functionOf(cursor: Cursor, selector: Selector): PathFunction {
  const found = pathFunctions.find((name) => selector.type === 'name' && name === selector.name);
  return found ?? cursor.fail(`expected one of the functions ${pathFunctions.join(', ')}`);
}

function readBrackets(cursor: Cursor): readonly Selector[] {
  cursor.expect('[');
  const selectors: Selector[] = [];
  do {
    cursor.blanks();
    selectors.push(readSelector(cursor));
    cursor.blanks();
  } while (cursor.take(','));
  cursor.expect(']');
  return selectors;
}

function readSelector(cursor: Cursor): Selector {
  if (cursor.take('*')) return { type: 'all' };
  if (cursor.take('?')) return { type: 'filter', test: readTest(cursor) };
  if (cursor.next === "'" || cursor.next === '"') return { type: 'name', name: readQuoted(cursor) };
  const from = readInteger(cursor);
  cursor.blanks();
  if (cursor.take(':')) return readSlice(cursor, from);
  if (from === undefined) cursor.fail("expected a name in '…', an index, a slice, * or ?");
  return { type: 'index', index: from };
}

/** Reads a slice behind its first colon. */
function readSlice(cursor: Cursor, from: number | undefined): Selector {
  cursor.blanks();
  const to = readInteger(cursor);
  cursor.blanks();
  const by = cursor.take(':') ? readStep(cursor) : 1;
  if (by === 0) cursor.fail('a slice cannot go by 0');
  return {
    type: 'slice',
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    by: by ?? 1,
  };
}

function readStep(cursor: Cursor): number | undefined {
  cursor.blanks();
  return readInteger(cursor);
}

function readInteger(cursor: Cursor): number | undefined {
  const digits = cursor.match(/-?\d{1,15}/y);
  return digits === '' ? undefined : Number(digits);
}

/**
 * Reads a text in either kind of quotes. A backslash keeps the next character, or forms \n, \t, \r, \b, \f,
 * \uXXXX.
 */
function readQuoted(cursor: Cursor): string {
  const quote = cursor.next;
  cursor.at++;
  let text = '';
  while (!cursor.take(quote)) {
    if (cursor.ended) cursor.fail(`expected ${quote}`);
    if (cursor.take('\\')) text += readEscape(cursor);
    else {
      text += cursor.next;
      cursor.at++;
    }
  }
  return text;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

function readEscape(cursor: Cursor): string {
  const code = cursor.match(/u[0-9a-fA-F]{4}/y);
  if (code !== '') return String.fromCharCode(Number.parseInt(code.slice(1), 16));
  const sign = cursor.next;
  cursor.at++;
  return escapes[sign] ?? sign;
}

const readTest = (cursor: Cursor): Test =>
  cursor.deeper(maxNesting, () =>
    readChain(cursor, 'or', '||', () => readChain(cursor, 'and', '&&', readUnary)),
  );

function readChain(cursor: Cursor, type: 'and' | 'or', sign: string, read: (cursor: Cursor) => Test): Test {
  const first = read(cursor);
  const tests = [first];
  while (cursor.take(sign)) tests.push(read(cursor));
  return tests.length === 1 ? first : { type, tests };
}

function readUnary(cursor: Cursor): Test {
  cursor.blanks();
  let test: Test;
  if (cursor.take('!')) test = { type: 'not', test: cursor.deeper(maxNesting, () => readUnary(cursor)) };
  else if (cursor.take('(')) {
    test = readTest(cursor);
    cursor.expect(')');
  } else test = readComparison(cursor);
  cursor.blanks();
  return test;
}

function readComparison(cursor: Cursor): Test {
  const left = readOperand(cursor);
  cursor.blanks();
  if (cursor.next === '=' && cursor.text[cursor.at + 1] === '~')
    cursor.fail('regular expressions are not supported');
  const operator = operators.find((sign) => cursor.take(sign));
  if (operator === undefined) {
    if ('literal' in left) cursor.fail(`expected one of ${operators.join(' ')}`);
    return { type: 'exists', path: left.path };
  }
  cursor.blanks();
  return { type: 'compare', operator, left, right: readOperand(cursor) };
}

function readOperand(cursor: Cursor): Operand {
  if (cursor.next === '@' || cursor.next === '$') return { path: readPath(cursor) };
  return { literal: readLiteral(cursor) };
}

function readLiteral(cursor: Cursor): Literal {
  if (cursor.next === "'" || cursor.next === '"') return readQuoted(cursor);
  if (cursor.take('true')) return true;
  if (cursor.take('false')) return false;
  if (cursor.take('null')) return null;
  if (cursor.take('[')) return cursor.deeper(maxNesting, () => readLiterals(cursor));
  const number = readNumber(cursor);
  return number ?? cursor.fail("expected a path, a number, a text in '…', true, false or null");
}

function readLiterals(cursor: Cursor): readonly Literal[] {
  const values: Literal[] = [];
  cursor.blanks();
  if (cursor.take(']')) return values;
  do {
    cursor.blanks();
    values.push(readLiteral(cursor));
    cursor.blanks();
  } while (cursor.take(','));
  cursor.expect(']');
  return values;
}

/** Reads a number as JSON writes it; undefined if none begins here. */
export function readNumber(cursor: Cursor): number | undefined {
  const text = cursor.match(/-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y);
  return text === '' ? undefined : Number(text);
}
