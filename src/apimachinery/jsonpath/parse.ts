/**
 * Parses Kubernetes' JSONPath templates (k8s.io/client-go util/jsonpath): text with paths in braces,
 * `{range}…{end}` and quoted text. Throws UsageError that names the position.
 */
import { UsageError } from '../../base/usage-error.ts';

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'path'; readonly steps: readonly Step[] }
  | {
      readonly kind: 'range';
      readonly steps: readonly Step[];
      readonly body: readonly Node[];
      /** The range has no `{end}`: the body follows once more, behind the range, as in kubectl. */
      readonly isOpen?: true;
    };

export type Step =
  | { readonly kind: 'root' }
  /** `path` has the names of a text in brackets that has dots, such as `['metadata.name']`. */
  | { readonly kind: 'field'; readonly name: string; readonly path?: readonly string[] }
  | { readonly kind: 'all' }
  /** The step `..`: the value and everything below it. */
  | { readonly kind: 'descend' }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly start?: number; readonly end?: number; readonly step: number }
  | { readonly kind: 'union'; readonly members: readonly Step[] }
  | { readonly kind: 'filter'; readonly left: Operand; readonly test?: Comparison };

export type Operator = '==' | '!=' | '<' | '<=' | '>' | '>=';

export interface Comparison {
  readonly operator: Operator;
  readonly right: Operand;
}

export type Operand =
  | { readonly kind: 'steps'; readonly steps: readonly Step[] }
  | { readonly kind: 'value'; readonly value: string | number | boolean | null };

export function parseTemplate(text: string): readonly Node[] {
  return new TemplateParser(text).template();
}

/** Parses a path, which kubectl also accepts without braces or dot: `{.a.b}`, `.a.b`, `a.b`. */
export function parsePath(text: string): readonly Node[] {
  const inner = (/^\{(.*)\}$/s.exec(text.trim())?.[1] ?? text).trim();
  return parseTemplate(`{${/^[.$@[{'"]/.test(inner) ? inner : `.${inner}`}}`);
}

const operators: readonly Operator[] = ['==', '!=', '<=', '>=', '<', '>'];

class TemplateParser {
  readonly #text: string;
  #at = 0;
  /** Number of ranges without an `{end}`. */
  #unclosed = 0;

  constructor(text: string) {
    this.#text = text;
  }

  template(): Node[] {
    return this.#nodes(false);
  }

  /** Parses up to the end, or up to the `{end}` of a range. */
  #nodes(inRange: boolean): Node[] {
    const nodes: Node[] = [];
    while (this.#at < this.#text.length) {
      const open = this.#text.indexOf('{', this.#at);
      const end = open < 0 ? this.#text.length : open;
      if (end > this.#at) nodes.push({ kind: 'text', text: this.#text.slice(this.#at, end) });
      this.#at = end;
      if (open < 0) break;
      this.#at++;
      if (this.#action(nodes, inRange)) return nodes;
    }
    if (inRange) this.#leaveOpen();
    return nodes;
  }

  /** Counts a range without `{end}`. Each of them would double the text, so only one may be open. */
  #leaveOpen(): void {
    this.#unclosed++;
    if (this.#unclosed > 1) this.#fail('several {range} without {end}');
  }

  /** Parses the contents of a pair of braces, after the opening one. Returns true at the end of a range. */
  #action(nodes: Node[], inRange: boolean): boolean {
    this.#blanks();
    // Empty braces stand for the whole value.
    if (this.#text[this.#at] === '}') nodes.push({ kind: 'path', steps: [] });
    for (;;) {
      this.#blanks();
      const char = this.#text[this.#at];
      if (char === undefined) this.#fail('unclosed action');
      if (char === '}') {
        this.#at++;
        return false;
      }
      if (this.#word('end')) {
        this.#end(inRange);
        return true;
      }
      if (this.#word('range')) {
        nodes.push(this.#range());
        return false;
      }
      nodes.push(this.#textOrPath(char));
    }
  }

  /** Parses a text in quotes, or a path that begins with the character. */
  #textOrPath(char: string): Node {
    if (char === '"' || char === "'") return { kind: 'text', text: this.#quoted() };
    return { kind: 'path', steps: this.#steps() };
  }

  #end(inRange: boolean): void {
    if (!inRange) this.#fail('{end} without {range}');
    this.#close();
  }

  /** Parses a range after its word, up to its `{end}`. */
  #range(): Node {
    this.#blanks();
    const steps = this.#steps();
    this.#close();
    const unclosed = this.#unclosed;
    const body = this.#nodes(true);
    return { kind: 'range', steps, body, ...(this.#unclosed > unclosed && { isOpen: true }) };
  }

  #steps(): Step[] {
    const steps: Step[] = [];
    const start = this.#at;
    while (this.#step(steps, this.#at === start));
    if (this.#at === start)
      this.#fail(`unrecognized character ${JSON.stringify(this.#text[this.#at] ?? '')}`);
    return steps;
  }

  /** Parses one step; returns false at the end of the path. Only the first step may be a bare word. */
  #step(steps: Step[], isFirst: boolean): boolean {
    const char = this.#text[this.#at];
    switch (char) {
      case '$':
        this.#at++;
        steps.push({ kind: 'root' });
        return true;
      case '@':
        this.#at++;
        return true;
      case '.':
        this.#dot(steps);
        return true;
      case '[':
        steps.push(this.#bracket());
        return true;
      case '*':
        this.#at++;
        steps.push({ kind: 'all' });
        return true;
      default:
        if (!isFirst || char === undefined || !/[\w-]/.test(char)) return false;
        steps.push(this.#field());
        return true;
    }
  }

  #dot(steps: Step[]): void {
    this.#at++;
    if (this.#text[this.#at] === '.') {
      this.#at++;
      steps.push({ kind: 'descend' });
    }
    const next = this.#text[this.#at];
    if (next === '*') {
      this.#at++;
      steps.push({ kind: 'all' });
    } else if (next !== undefined && !stops.includes(next)) steps.push(this.#field());
  }

  #field(): Step {
    let name = '';
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at] ?? '';
      if (char === '\\') {
        this.#at++;
        name += this.#text[this.#at] ?? '';
      } else if (stops.includes(char)) break;
      else name += char;
    }
    return { kind: 'field', name };
  }

  #bracket(): Step {
    this.#at++;
    this.#blanks();
    if (this.#text.startsWith('?(', this.#at)) return this.#filter();
    const members: Step[] = [];
    do {
      this.#blanks();
      members.push(this.#member());
      this.#blanks();
    } while (this.#take(','));
    if (!this.#take(']')) this.#fail("expected ']'");
    const [only] = members;
    return members.length === 1 && only ? only : { kind: 'union', members };
  }

  #member(): Step {
    const char = this.#text[this.#at];
    if (char === "'" || char === '"') return this.#quotedField();
    if (this.#take('*')) return { kind: 'all' };
    const found = this.#match(/(-?\d+)?(?:(:)(-?\d+)?(?::(-?\d+)?)?)?/y);
    const [whole, start, colon, end, step] = found ?? [];
    if (!whole)
      this.#fail(`invalid array index ${JSON.stringify(this.#text.slice(this.#at, this.#at + 10))}`);
    if (!colon) return { kind: 'index', index: Number(start) };
    return {
      kind: 'slice',
      ...(start !== undefined && { start: Number(start) }),
      ...(end !== undefined && { end: Number(end) }),
      step: step === undefined ? 1 : Number(step),
    };
  }

  #filter(): Step {
    this.#at += 2;
    this.#blanks();
    const left = this.#operand();
    this.#blanks();
    const operator = operators.find((candidate) => this.#text.startsWith(candidate, this.#at));
    let test: Comparison | undefined;
    if (operator) {
      this.#at += operator.length;
      this.#blanks();
      test = { operator, right: this.#operand() };
      this.#blanks();
    }
    if (!this.#take(')') || !this.#take(']')) this.#fail("expected ')]' at the end of a filter");
    return { kind: 'filter', left, ...(test && { test }) };
  }

  #operand(): Operand {
    const char = this.#text[this.#at];
    if (char === '"' || char === "'") return { kind: 'value', value: this.#quoted() };
    const literal = this.#match(/(?:true|false|null|-?\d+(?:\.\d+)?)(?![\w.])/y);
    if (literal) return { kind: 'value', value: JSON.parse(literal[0]) as string | number | boolean | null };
    return { kind: 'steps', steps: this.#steps() };
  }

  /** Parses a name in quotes; dots without a backslash before them separate the names of a path. */
  #quotedField(): Step {
    const start = this.#at + 1;
    const name = this.#quoted();
    const names = this.#text.slice(start, this.#at - 1).split(/(?<!\\)\./);
    if (names.length === 1 || names.includes('')) return { kind: 'field', name };
    return { kind: 'field', name, path: names.map((part) => part.replaceAll(/\\(.)/g, '$1')) };
  }

  /** Parses a text in either kind of quotes, with Go's escapes. */
  #quoted(): string {
    const quote = this.#text[this.#at] ?? '';
    let text = '';
    for (this.#at++; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at] ?? '';
      if (char === quote) {
        this.#at++;
        return text;
      }
      if (char === '\\') {
        this.#at++;
        const escaped = this.#text[this.#at] ?? '';
        text += escapes[escaped] ?? escaped;
      } else text += char;
    }
    return this.#fail('unterminated quoted string');
  }

  #word(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    if (/[\w.]/.test(this.#text[this.#at + word.length] ?? ' ') && word === 'end') return false;
    if (word === 'range' && !/\s/.test(this.#text[this.#at + word.length] ?? '')) return false;
    this.#at += word.length;
    return true;
  }

  #close(): void {
    this.#blanks();
    if (!this.#take('}')) this.#fail("expected '}'");
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found) this.#at += found[0].length;
    return found;
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #blanks(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  #fail(why: string): never {
    throw new UsageError(
      `error parsing jsonpath ${JSON.stringify(this.#text)}: ${why} at character ${this.#at + 1}`,
    );
  }
}

const stops = '.[]{}()@$ \t\r\n=!<>,"\'';
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };
