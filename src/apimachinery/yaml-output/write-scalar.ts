/** Writes a text or a number as a scalar of YAML; long lines are folded, as by kubectl. Pure. */
import { styleOf } from './scalar-style.ts';

/** The place at which a scalar is written. */
interface ScalarPlace {
  /** Column of its first character. */
  readonly column: number;
  /** Indentation of its further lines. */
  readonly indent: number;
  /** True if it must stay on one line, as a key of a map must. */
  readonly oneLine?: boolean;
}

/** Column from which on a line goes on in the next one at its next space. */
const maxColumn = 80;

export function writeText(text: string, place: ScalarPlace): string {
  switch (styleOf(text)) {
    case 'plain':
      return folded(text, place, place.column);
    case 'single':
      return `'${folded(text.replaceAll("'", "''"), place, place.column + 1)}'`;
    case 'double':
      return `"${doubleQuoted(text, place)}"`;
    case 'literal':
      return literal(text, place.indent);
  }
}

const escapes: Readonly<Record<string, string>> = {
  ...{ '\0': '0', '\x07': 'a', '\b': 'b', '\t': 't', '\n': 'n', '\v': 'v', '\f': 'f', '\r': 'r' },
  ...{ '\x1b': 'e', '"': '"', '\\': '\\', '\u0085': 'N', '\u00a0': '_', '\u2028': 'L', '\u2029': 'P' },
};

const escaped = /["\\\r\n\u0085\u2028\u2029]|[^\n -~\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/gu;

function escapedForm(character: string): string {
  const known = escapes[character];
  if (known !== undefined) return `\\${known}`;
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16).toUpperCase();
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`;
}

/** Returns the text between double quotes. */
function doubleQuoted(text: string, { column, indent, oneLine = false }: ScalarPlace): string {
  // kubectl escapes every character of a text that begins with a byte order mark.
  const written = text.replace(text.startsWith('\ufeff') ? /./gsu : escaped, escapedForm);
  const pad = ' '.repeat(indent);
  return oneLine ? written : foldedLine(written, { column: column + 1, pad, keepsSpaces: true });
}

const lineBreaks = /[\n\u2028\u2029]/;

/** Returns a plain text, or one between single quotes, with long lines folded. */
function folded(text: string, { indent, oneLine = false }: ScalarPlace, column: number): string {
  if (oneLine || (column + text.length <= maxColumn && !lineBreaks.test(text))) return text;
  const pad = ' '.repeat(indent);
  const pieces = text.split(/([\u2028\u2029])/).map((line, index) => {
    if (index % 2 === 1 || line === '') return line;
    if (index > 0) return pad + foldedLine(line, { column: indent, pad, keepsSpaces: false });
    return foldedLine(line, { column, pad, keepsSpaces: false });
  });
  return pieces.join('');
}

interface Folding {
  /** Column at which the line begins. */
  readonly column: number;
  /** Indentation of further lines. */
  readonly pad: string;
  /** True if a backslash can keep the spaces at the beginning of a further line. */
  readonly keepsSpaces: boolean;
}

/** Returns a line that is cut at each space that is too far to the right. */
function foldedLine(line: string, { column, pad, keepsSpaces }: Folding): string {
  let [out, start, at] = ['', 0, column];
  for (;;) {
    const space = nextFold(line, start, at, keepsSpaces);
    if (space < 0) return out + line.slice(start);
    const mark = line[space + 1] === ' ' ? '\\' : '';
    out += `${line.slice(start, space)}\n${pad}${mark}`;
    start = space + 1;
    at = pad.length + mark.length;
  }
}

/** Returns the index of the space at which the line is cut next; -1 for none. `start` has the column `at`. */
function nextFold(line: string, start: number, at: number, keepsSpaces: boolean): number {
  const first = start + Math.max(0, maxColumn + 1 - at);
  for (let index = line.indexOf(' ', first); index >= 0; index = line.indexOf(' ', index + 1)) {
    const isFirst = index > 0 && index < line.length - 1 && line[index - 1] !== ' ';
    const canCut = isFirst && (keepsSpaces || line[index + 1] !== ' ');
    if (canCut && isTooFar(line, start, index, at)) return index;
  }
  return -1;
}

/** Returns true if the column of an index is above the maximum; some characters are two units of a text. */
const isTooFar = (line: string, start: number, index: number, at: number): boolean =>
  index - start > 2 * maxColumn || at + [...line.slice(start, index)].length > maxColumn;

/** Returns a block of lines; its last line ends with a break only if the text does. */
function literal(text: string, indent: number): string {
  const hint = /^[ \n\u2028\u2029]/.test(text) ? '2' : '';
  const ends = /[\n\u2028\u2029]$/.test(text);
  const keepsBreaks = ends && (text.length === 1 || lineBreaks.test(text.at(-2) ?? ''));
  const chomp = ends ? (keepsBreaks ? '+' : '') : '-';
  const pad = ' '.repeat(indent);
  const lines = text.replaceAll(/(^|[\n\u2028\u2029])(?=[^\n\u2028\u2029])/g, `$1${pad}`);
  return `|${hint}${chomp}\n${lines}`;
}

/** Returns a number as Go writes it. */
export function writeNumber(value: number): string {
  if (Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 64) return String(value);
  const [digits = '', exponent = ''] = value.toExponential().split('e');
  const size = Number(exponent);
  if (size >= -4 && size < 6) return String(value);
  return `${digits}e${size < 0 ? '-' : '+'}${String(Math.abs(size)).padStart(2, '0')}`;
}
