/** Functions of strings (cel-go ext/strings.go, Kubernetes' find and findAll). Indexes count code points. */
import { argument, deepTraversal, matching, perCharacter, sizeOf, traversal } from '../cost/costs.ts';
import { plus, scaled, times, unbounded } from '../cost/ranges.ts';
import type { Run } from '../evaluation/run.ts';
import type { Argument, CallEstimate, Cost, Declaration, Range } from '../functions/overload.ts';
import { compilePattern, countMatching } from '../functions/regex.ts';
import { ValueList } from '../values/collections.ts';
import { codePointLength, isPlain, unitOffset } from '../values/text.ts';
import { Fault, List, noSuchOverload, type Result, type Value } from '../values/value.ts';
import { formatted } from './string-format.ts';

type Apply = Declaration[1];

/** Functions whose first arguments are strings. */
function texts(
  count: number,
  work: (texts: readonly string[], rest: readonly Value[], run: Run) => Result,
): Apply {
  return (args, run) => {
    const own = args.slice(0, count);
    let length = 0;
    for (const each of own) {
      if (typeof each !== 'string') return noSuchOverload;
      length += isPlain(each) ? each.length : each.length * 8;
    }
    run.work(length / 32);
    return work(own as string[], args.slice(count), run);
  };
}

function outOfRange(index: bigint): Fault {
  return new Fault(`index out of range: ${index}`);
}

const charAt = texts(1, ([text = ''], [index]) => {
  if (typeof index !== 'bigint') return noSuchOverload;
  if (index < 0n || index > BigInt(codePointLength(text))) return outOfRange(index);
  const from = unitOffset(text, Number(index));
  return from >= text.length ? '' : String.fromCodePoint(text.codePointAt(from) ?? 0);
});

const substring = texts(1, ([text = ''], [start, end]) => {
  const length = codePointLength(text);
  const to = end ?? BigInt(length);
  if (typeof start !== 'bigint' || typeof to !== 'bigint') return noSuchOverload;
  if (end !== undefined && start > to)
    return new Fault(`invalid substring range. start: ${start}, end: ${to}`);
  if (start < 0n || start > BigInt(length)) return outOfRange(start);
  if (to > BigInt(length)) return outOfRange(to);
  return text.slice(unitOffset(text, Number(start)), unitOffset(text, Number(to)));
});

/** Returns the index in code points of an offset in units. */
function pointIndex(text: string, offset: number): bigint {
  return BigInt(offset <= 0 ? offset : codePointLength(text.slice(0, offset)));
}

const indexOf = texts(2, ([text = '', part = ''], [offset = 0n]) => {
  if (typeof offset !== 'bigint') return noSuchOverload;
  if (part === '') return offset;
  if (offset < 0n) return outOfRange(offset);
  const from = unitOffset(text, Number(offset));
  return from >= text.length ? -1n : pointIndex(text, text.indexOf(part, from));
});

const lastIndexOf = texts(2, ([text = '', part = ''], [offset]) => {
  const length = codePointLength(text);
  if (part === '') return offset ?? BigInt(length);
  const from = offset ?? BigInt(length - 1);
  if (typeof from !== 'bigint') return noSuchOverload;
  if (from < 0n) return offset === undefined ? -1n : outOfRange(from);
  if (from >= BigInt(length)) return -1n;
  return pointIndex(text, text.lastIndexOf(part, unitOffset(text, Number(from))));
});

/** Returns undefined for a negative count, which means all. */
function limitOf(count: Value | undefined): number | undefined {
  return typeof count === 'bigint' && count >= 0n ? Number(count) : undefined;
}

const replace = texts(3, ([text = '', old = '', by = ''], [count], run) => {
  const limit = limitOf(count) ?? Infinity;
  const pieces = old === '' ? Array.from(text) : text.split(old);
  run.work((text.length + pieces.length * by.length) / 32);
  if (old === '') return interleaved(pieces, by, limit);
  if (pieces.length - 1 <= limit) return pieces.join(by);
  return pieces.slice(0, limit + 1).join(by) + old + pieces.slice(limit + 1).join(old);
});

/** An empty text is found before each character, and at the end. */
function interleaved(characters: readonly string[], by: string, limit: number): string {
  const changed = characters.slice(0, limit).map((character) => by + character);
  const rest = characters.slice(limit).join('');
  return changed.join('') + rest + (limit > characters.length ? by : '');
}

const split = texts(2, ([text = '', separator = ''], [count], run) => {
  const limit = limitOf(count);
  if (limit === 0) return new ValueList([]);
  const pieces = separator === '' ? Array.from(text) : text.split(separator);
  run.work(pieces.length / 8);
  if (limit === undefined || pieces.length <= limit) return new ValueList(pieces);
  return new ValueList([...pieces.slice(0, limit - 1), pieces.slice(limit - 1).join(separator)]);
});

function join([list, separator = '']: readonly Value[], run: Run): Result {
  if (!(list instanceof List) || typeof separator !== 'string') return noSuchOverload;
  const pieces: string[] = [];
  for (let at = 0; at < list.length; at++) {
    const piece = list.at(at);
    if (typeof piece !== 'string') return new Fault('join: invalid input');
    run.work(1 / 8 + (piece.length + separator.length) / 32);
    pieces.push(piece);
  }
  return pieces.join(separator);
}

const escapes: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

export function quote(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that have escapes
  return `"${text.toWellFormed().replace(/[\x07\b\f\n\r\t\v\\"]/g, (found) => escapes[found] ?? found)}"`;
}

const find = texts(2, ([text = '', pattern = ''], _rest, run) => {
  const compiled = compilePattern(pattern);
  if (compiled instanceof Fault) return new Fault(`Illegal regex: ${compiled.message}`);
  countMatching(compiled, text, run);
  for (const first of compiled.partsOf(text)) return first;
  return '';
});

const findAll = texts(2, ([text = '', pattern = ''], [count], run) => {
  const compiled = compilePattern(pattern);
  if (compiled instanceof Fault) return new Fault(`Illegal regex: ${compiled.message}`);
  countMatching(compiled, text, run);
  const limit = limitOf(count) ?? Infinity;
  const found: string[] = [];
  if (limit > 0)
    for (const part of compiled.partsOf(text)) {
      run.work(8);
      found.push(part);
      if (found.length >= limit) break;
    }
  return new ValueList(found);
});

/** Returns the range of sizes: the maximum replaces the shortest texts, the minimum the longest ones. */
function replacedSize(args: readonly Argument[]): Range {
  const [text, old, by] = [argument(args, 0).size, argument(args, 1).size, argument(args, 2).size];
  const max = replacements(text.max, old.min, by.max <= old.min);
  const min = replacements(text.min, old.max, old.max <= by.min);
  return plus(times({ min: min.count, max: max.count }, by), { min: min.kept, max: max.kept });
}

function replacements(size: number, old: number, keeps: boolean): { count: number; kept: number } {
  if (old === 0) return { count: Math.min(size + 1, unbounded), kept: size };
  return keeps ? { count: 0, kept: size } : { count: Math.ceil(size / old), kept: 0 };
}

const replaceCost: Cost = {
  actual: (args) => Math.ceil(sizeOf(args[0]) * 2 * perCharacter),
  estimate: (args) => ({
    cost: scaled(argument(args, 0).size, 2 * perCharacter),
    size: replacedSize(args),
  }),
};

const splitCost: Cost = {
  actual: replaceCost.actual,
  estimate: (args) => {
    const { size } = argument(args, 0);
    const { literal } = argument(args, 2);
    const max = typeof literal === 'bigint' ? Number(literal) : size.max;
    return { cost: scaled(size, 2 * perCharacter), size: { min: 0, max } };
  },
};

const joinCost: Cost = {
  actual: (_args, result) => Math.ceil(sizeOf(result) * 2 * perCharacter),
  estimate: joinEstimate,
};

function joinEstimate(args: readonly Argument[]): CallEstimate {
  const { size: count, elementSize } = argument(args, 0);
  const pieces = times(count, elementSize);
  const between = { min: Math.max(count.min - 1, 0), max: Math.max(count.max - 1, 0) };
  const size = args.length > 1 ? plus(pieces, times(argument(args, 1).size, between)) : pieces;
  return { cost: scaled(size, perCharacter), size };
}

const sized = traversal(0, { sized: true });

export const strings: readonly Declaration[] = [
  ['string.charAt(int): string', charAt],
  ['string.indexOf(string): int', indexOf, deepTraversal],
  ['string.indexOf(string, int): int', indexOf, deepTraversal],
  ['string.lastIndexOf(string): int', lastIndexOf, deepTraversal],
  ['string.lastIndexOf(string, int): int', lastIndexOf, deepTraversal],
  [
    'string.lowerAscii(): string',
    texts(1, ([text = '']) => text.replace(/[A-Z]+/g, (found) => found.toLowerCase())),
    sized,
  ],
  [
    'string.upperAscii(): string',
    texts(1, ([text = '']) => text.replace(/[a-z]+/g, (found) => found.toUpperCase())),
    sized,
  ],
  ['string.replace(string, string): string', replace, replaceCost],
  ['string.replace(string, string, int): string', replace, replaceCost],
  ['string.split(string): list<string>', split, splitCost],
  ['string.split(string, int): list<string>', split, splitCost],
  ['string.substring(int): string', substring, sized],
  ['string.substring(int, int): string', substring, sized],
  ['string.trim(): string', texts(1, ([text = '']) => trimmed(text)), sized],
  ['string.reverse(): string', texts(1, ([text = '']) => Array.from(text).reverse().join('')), sized],
  ['list<string>.join(): string', join, joinCost],
  ['list<string>.join(string): string', join, joinCost],
  ['strings.quote(string): string', texts(1, ([text = '']) => quote(text)), traversal(0)],
  ['string.format(list<dyn>): string', formatted, traversal(0)],
  ['string.find(string): string', find, matching(true)],
  ['string.findAll(string): list<string>', findAll, matching(true)],
  ['string.findAll(string, int): list<string>', findAll, matching(true)],
];

/** Removes Unicode's white space, as Go has it: without the byte order mark, with the next line. */
function trimmed(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && isSpace(text.charAt(from))) from++;
  while (to > from && isSpace(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}

function isSpace(character: string): boolean {
  return character === '\u0085' || (character !== '\ufeff' && character.trim() === '');
}
