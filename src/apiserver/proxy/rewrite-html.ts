/**
 * Changes the links of an HTML document while it passes, in pieces of any size (upstream's rewriteHTML). Characters are
 * bytes here: everything that matters is ASCII, and the rest stays as it is. Pure.
 */

/** The attributes of each element that hold a link. */
const links: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
};

/** Up to their end tag nothing is a tag. */
const textOnly = ['iframe', 'noembed', 'noframes', 'script', 'style', 'textarea', 'title', 'xmp'];

/** A tag that is longer passes as it is. */
const longestTag = 64 * 1024;

/** What is told of the document next, and where it goes on. */
interface Step {
  readonly out: string;
  readonly end: number;
}

interface Tag {
  readonly name: string;
  /** Behind its `>`. */
  readonly end: number;
  /** Where values begin and end, without quotes. */
  readonly attributes: readonly { readonly name: string; readonly start: number; readonly end: number }[];
}

export class HtmlRewriter {
  readonly #change: (link: string) => string;
  #rest = '';
  /** What ends the stretch in which there are no tags. */
  #until: RegExp | undefined;

  constructor(change: (link: string) => string) {
    this.#change = change;
  }

  /** What can be told of the document so far, without what has been told already. */
  push(piece: string): string {
    const text = this.#rest + piece;
    let at = 0;
    let out = '';
    while (at < text.length) {
      const step = this.#until ? this.#inText(text, at, this.#until) : this.#inMarkup(text, at);
      if (!step) break;
      out += step.out;
      at = step.end;
    }
    this.#rest = text.slice(at);
    return out;
  }

  /** The rest, once the document is over. */
  end(): string {
    const rest = this.#rest;
    this.#rest = '';
    return rest;
  }

  #inText(text: string, at: number, until: RegExp): Step | undefined {
    const found = text.slice(at).search(until);
    if (found >= 0) this.#until = undefined;
    // The beginning of what ends it may be the end of this piece.
    const end = found < 0 ? text.length - longestEnd : at + found + 1;
    return end > at ? { out: text.slice(at, end), end } : undefined;
  }

  #inMarkup(text: string, at: number): Step | undefined {
    const passed = (end: number) => ({ out: text.slice(at, end), end });
    if (text[at] !== '<') {
      const next = text.indexOf('<', at);
      return passed(next < 0 ? text.length : next);
    }
    if (text.length - at < '<!--'.length) return undefined;
    if (text.startsWith('<!--', at)) {
      this.#until = /-->/;
      return passed(at + 2);
    }
    if (!/[a-z]/i.test(text[at + 1] ?? '')) return passed(at + 1);
    const tag = readTag(text, at);
    if (!tag) return text.length - at > longestTag ? passed(at + 1) : undefined;
    if (textOnly.includes(tag.name)) this.#until = new RegExp(`</${tag.name}[\\s/>]`, 'i');
    return { out: this.#changed(text, at, tag), end: tag.end };
  }

  #changed(text: string, start: number, { name, end, attributes }: Tag): string {
    const wanted = Object.hasOwn(links, name) ? links[name] : undefined;
    let done = start;
    let out = '';
    for (const attribute of attributes) {
      if (!wanted?.includes(attribute.name)) continue;
      out += text.slice(done, attribute.start) + this.#change(text.slice(attribute.start, attribute.end));
      done = attribute.end;
    }
    return out + text.slice(done, end);
  }
}

/** `</textarea` and what follows. */
const longestEnd = Math.max(...textOnly.map((name) => name.length)) + 3;

/** The start tag at `start`; undefined when its end is not there yet. */
function readTag(text: string, start: number): Tag | undefined {
  let at = start + 1;
  const skip = (pattern: RegExp) => {
    const from = at;
    pattern.lastIndex = at;
    at += pattern.exec(text)?.[0].length ?? 0;
    return text.slice(from, at);
  };
  const name = skip(/[^\s/>]*/y).toLowerCase();
  const attributes: { name: string; start: number; end: number }[] = [];
  for (;;) {
    skip(/[\s/]*/y);
    if (at >= text.length) return undefined;
    if (text[at] === '>') return { name, end: at + 1, attributes };
    // A name may begin with what otherwise ends it.
    const attribute = skip(/[^>][^\s/>=]*/y).toLowerCase();
    const before = at;
    skip(/\s*/y);
    if (text[at] !== '=') {
      at = before;
      continue;
    }
    skip(/=\s*/y);
    const quote = text[at];
    if (quote === '"' || quote === "'") {
      const end = text.indexOf(quote, at + 1);
      if (end < 0) return undefined;
      attributes.push({ name: attribute, start: at + 1, end });
      at = end + 1;
    } else {
      const from = at;
      skip(/[^\s>]*/y);
      attributes.push({ name: attribute, start: from, end: at });
    }
  }
}
