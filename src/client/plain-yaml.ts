/**
 * Reads the form of YAML that kubeconfigs usually have, in a tenth of the time of the YAML package: block
 * mappings and sequences of words, texts in simple quotes, booleans, `{}` and `[]`. Pure.
 */

interface Line {
  readonly indent: number;
  readonly text: string;
}

/** Thrown for every text outside of this form, valid or not. */
class OtherForm extends Error {}

const entryForm = /^([A-Za-z][A-Za-z\d_-]*):(?: (\S.*))?$/;
const wordForm = /^[A-Za-z/][A-Za-z\d+/=._:@%[\]-]*$/;
const quotedForm = /^(?:"[ !#-[\]-~]*"|'[ -&(-~]*')$/;
/** Words that YAML reads as something else than text, in any case of their letters. */
const otherWord = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

const maxDepth = 16;

/**
 * Returns the value of a text that has the usual form; undefined for any other text, valid or not, which the
 * YAML package must read.
 */
export function parsePlainYaml(text: string): unknown {
  try {
    return new PlainYaml(linesOf(text)).read();
  } catch (error) {
    if (error instanceof OtherForm) return undefined;
    throw error;
  }
}

function linesOf(text: string): Line[] {
  return text.split('\n').flatMap((line) => {
    const content = line.trimStart();
    const indent = line.length - content.length;
    if (content === '' ? indent > 0 : !/^ *$/.test(line.slice(0, indent))) throw new OtherForm();
    return content === '' || content.startsWith('#') ? [] : [{ indent, text: content }];
  });
}

class PlainYaml {
  readonly #lines: Line[];
  #at = 0;

  constructor(lines: Line[]) {
    this.#lines = lines;
  }

  read(): unknown {
    const value = this.#block(0, 0);
    if (this.#at < this.#lines.length) throw new OtherForm();
    return value;
  }

  #block(indent: number, depth: number): unknown {
    if (depth > maxDepth) throw new OtherForm();
    const line = this.#lineAt(indent);
    if (!line) throw new OtherForm();
    return isItem(line) ? this.#sequence(indent, depth) : this.#mapping(indent, depth);
  }

  /** Returns the next line if it has this indentation. */
  #lineAt(indent: number): Line | undefined {
    const line = this.#lines[this.#at];
    return line?.indent === indent ? line : undefined;
  }

  #sequence(indent: number, depth: number): unknown[] {
    const items: unknown[] = [];
    for (let line = this.#lineAt(indent); line && isItem(line); line = this.#lineAt(indent)) {
      const text = line.text.slice(2);
      if (entryForm.test(text)) {
        this.#lines[this.#at] = { indent: indent + 2, text };
        items.push(this.#mapping(indent + 2, depth + 1));
      } else {
        items.push(scalar(text));
        this.#at++;
      }
    }
    return items;
  }

  #mapping(indent: number, depth: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    for (let line = this.#lineAt(indent); line && !isItem(line); line = this.#lineAt(indent)) {
      const [, key, value] = entryForm.exec(line.text) ?? [];
      if (key === undefined || Object.hasOwn(map, key) || otherWord.test(key)) throw new OtherForm();
      this.#at++;
      map[key] = value === undefined ? this.#below(indent, depth) : scalar(value);
    }
    return map;
  }

  /** Reads the value of a key on the lines below it. The items of a sequence may be as far to the left. */
  #below(indent: number, depth: number): unknown {
    const next = this.#lines[this.#at];
    const isBelow = next && (next.indent > indent || (next.indent === indent && isItem(next)));
    if (!isBelow) throw new OtherForm();
    return this.#block(next.indent, depth + 1);
  }
}

const isItem = ({ text }: Line) => text.startsWith('- ');

function scalar(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (text === '{}') return {};
  if (text === '[]') return [];
  if (quotedForm.test(text)) return text.slice(1, -1);
  if (!wordForm.test(text) || text.endsWith(':') || otherWord.test(text)) throw new OtherForm();
  return text;
}
