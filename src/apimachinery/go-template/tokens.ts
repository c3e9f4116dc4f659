/** Cuts a Go template into its text and the tokens of its actions. */
import { UsageError } from '../../base/usage-error.ts';

export type Token =
  | {
      readonly kind: 'value';
      readonly text: string;
      readonly value: string | number | bigint | boolean | null;
    }
  /** `joined` is true without a blank in front: the field then belongs to the operand before it. */
  | { readonly kind: 'field'; readonly text: string; readonly joined: boolean }
  | { readonly kind: 'dot' | 'variable' | 'function' | 'keyword' | 'mark'; readonly text: string };

export interface Action {
  /** Text outside of actions; absent for an action. */
  readonly text?: string;
  readonly tokens: readonly Token[];
  fail(why: string): never;
}

const keywords: ReadonlySet<string> = new Set([
  'if',
  'else',
  'end',
  'range',
  'with',
  'break',
  'continue',
  'define',
  'block',
  'template',
]);

/** Throws UsageError for an action that is not closed or holds something that is no token. */
export function cutActions(text: string): readonly Action[] {
  const actions: Action[] = [];
  let cut: Cut = { at: 0, trims: false };
  while (cut.at < text.length) {
    const open = text.indexOf('{{', cut.at);
    const end = open < 0 ? text.length : open;
    const trimsBefore = open >= 0 && /^\{\{-\s/.test(text.slice(open, open + 4));
    const plain = trimmed(text.slice(cut.at, end), cut.trims, trimsBefore);
    const fail = failing(lineOf(text, end));
    if (plain) actions.push({ text: plain, tokens: [], fail });
    if (open < 0) break;
    cut = addAction(actions, new Scanner(text, open + (trimsBefore ? 3 : 2), fail), fail);
  }
  return actions;
}

/** Position behind an action, and whether the action trims the text there. */
type Cut = Pick<Scanner, 'at' | 'trims'>;

function addAction(actions: Action[], scanner: Scanner, fail: Action['fail']): Cut {
  const tokens = scanner.tokens();
  if (tokens) actions.push({ tokens, fail });
  return scanner;
}

function trimmed(text: string, start: boolean, end: boolean): string {
  const behind = start ? text.trimStart() : text;
  return end ? behind.trimEnd() : behind;
}

const lineOf = (text: string, at: number) => text.slice(0, at).split('\n').length;

const failing =
  (line: number) =>
  (why: string): never => {
    throw new UsageError(`template: line ${line}: ${why}`);
  };

const patterns = {
  blank: /\s+/y,
  close: /(\s+-)?\}\}/y,
  comment: /\s*\/\*[\s\S]*?\*\/(\s+-)?\}\}/y,
  text: /"(?:[^"\\\n]|\\.)*"/y,
  raw: /`[^`]*`/y,
  char: /'(?:[^'\\\n]|\\[^xuU]|\\[xuU][0-9a-fA-F]+)'/y,
  number:
    /[+-]?(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][+-]?\d+)?)(?![\w.])/y,
  field: /\.[\p{L}_][\p{L}\p{Nd}_]*/uy,
  variable: /\$[\p{L}\p{Nd}_]*/uy,
  word: /[\p{L}_][\p{L}\p{Nd}_]*/uy,
  mark: /:=|[=|(),]/y,
  dot: /\./y,
};

/** Reads the tokens of one action. */
class Scanner {
  at: number;
  /** True if the action ends with a mark that trims the text behind it. */
  trims = false;
  readonly #text: string;
  readonly #fail: (why: string) => never;

  constructor(text: string, at: number, fail: (why: string) => never) {
    this.#text = text;
    this.at = at;
    this.#fail = fail;
  }

  /** Returns undefined for a comment. */
  tokens(): readonly Token[] | undefined {
    if (this.#match('comment') !== undefined) return undefined;
    const tokens: Token[] = [];
    while (this.#match('close') === undefined) {
      const joined = this.#match('blank') === undefined;
      // The end of an action may begin with a blank, which belongs to the mark that trims.
      if (!joined && this.#match('close') !== undefined) break;
      if (this.at >= this.#text.length) this.#fail('unclosed action');
      const before = tokens.at(-1);
      tokens.push(this.#literal() ?? this.#name(joined && before !== undefined && isOperand(before)));
    }
    return tokens;
  }

  #literal(): Token | undefined {
    const quoted = this.#match('text');
    if (quoted !== undefined) return this.#value(quoted, this.#unquoted(quoted.slice(1, -1)));
    const raw = this.#match('raw');
    if (raw !== undefined) return this.#value(raw, raw.slice(1, -1));
    const char = this.#match('char');
    if (char !== undefined)
      return this.#value(char, BigInt(this.#unquoted(char.slice(1, -1)).codePointAt(0) ?? 0));
    const number = this.#match('number');
    return number === undefined ? undefined : this.#value(number, numberOf(number));
  }

  #name(joined: boolean): Token {
    const field = this.#match('field');
    if (field !== undefined) return { kind: 'field', text: field.slice(1), joined };
    const variable = this.#match('variable');
    if (variable !== undefined) return { kind: 'variable', text: variable };
    const word = this.#match('word');
    if (word !== undefined) return wordToken(word);
    const mark = this.#match('mark');
    if (mark !== undefined) return { kind: 'mark', text: mark };
    if (this.#match('dot') !== undefined) return { kind: 'dot', text: '.' };
    return this.#fail(`unexpected ${JSON.stringify(this.#text.slice(this.at, this.at + 10))} in action`);
  }

  #match(name: keyof typeof patterns): string | undefined {
    const pattern = patterns[name];
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text);
    if (!found) return undefined;
    this.at += found[0].length;
    if (name === 'close' || name === 'comment') this.trims = found[1] !== undefined;
    return found[0];
  }

  #value(text: string, value: string | number | bigint): Token {
    return { kind: 'value', text, value };
  }

  #unquoted(text: string): string {
    return text.replaceAll(
      /\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)/g,
      (_, code: string) => {
        const plain = escapes[code];
        if (plain !== undefined) return plain;
        const point = /^[0-7]{3}$/.test(code) ? Number.parseInt(code, 8) : Number.parseInt(code.slice(1), 16);
        if (!(point <= 0x10ffff) || code.length === 1) return this.#fail(`bad escape \\${code}`);
        return String.fromCodePoint(point);
      },
    );
  }
}

const escapes: Readonly<Record<string, string>> = {
  ...{ n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' },
  ...{ '\\': '\\', '"': '"', "'": "'" },
};

const isOperand = ({ kind, text }: Token) => (kind === 'mark' ? text === ')' : kind !== 'keyword');

function wordToken(word: string): Token {
  if (keywords.has(word)) return { kind: 'keyword', text: word };
  if (word === 'true' || word === 'false') return { kind: 'value', text: word, value: word === 'true' };
  if (word === 'nil') return { kind: 'value', text: word, value: null };
  return { kind: 'function', text: word };
}

/** Returns a whole number as bigint, and any other as number, as Go has two types for them. */
function numberOf(text: string): number | bigint {
  const plain = text.replaceAll('_', '');
  if (!/^[+-]?(\d+|0[xXoObB][0-9a-fA-F]+)$/.test(plain)) return Number(plain);
  const sign = plain.startsWith('-') ? -1n : 1n;
  const digits = plain.replace(/^[+-]/, '');
  return sign * BigInt(/^0\d/.test(digits) ? `0o${digits.slice(1)}` : digits);
}
