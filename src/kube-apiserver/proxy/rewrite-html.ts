/**
 * Rewrites the links of an HTML document while it is streamed, in pieces of any size (upstream's
 * rewriteHTML). Characters are bytes here: all relevant syntax is ASCII, and everything else is passed
 * unchanged. htmlparser2 locates tags and attributes; only values of links are held back. Pure.
 */
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** Attributes of each element that contain a link. */
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

/** Maximum length of a link; a longer one is passed unchanged. */
const maxLinkLength = 64 * 1024;

/** Number of characters kept for names that began in an earlier piece; no name in `links` is as long. */
const maxNameLength = 32;

export class HtmlRewriter {
  readonly #change: (link: string) => string;
  readonly #tokenizer: Tokenizer;
  /** The end of the document so far, from the position `#from`. */
  #text = '';
  #from = 0;
  #out = '';
  /** Position in the document up to which everything was written to `#out`. */
  #written = 0;
  #element = '';
  /** True if the current attribute contains a link. */
  #isLink = false;
  /** The beginning of the attribute's value; undefined if it is no link, or its value has not begun. */
  #value: string | undefined;

  constructor(change: (link: string) => string) {
    this.#change = change;
    this.#tokenizer = new Tokenizer({ decodeEntities: false }, this.#callbacks());
  }

  /** Returns the finished part of the document that has not been returned yet. */
  push(piece: string): string {
    const past = this.#from + this.#text.length;
    this.#text = this.#text.slice(-maxNameLength) + piece;
    this.#from = past + piece.length - this.#text.length;
    this.#tokenizer.write(piece);
    if (this.#value === undefined) this.#passUntil(past + piece.length);
    return this.#take();
  }

  /** Returns the rest at the end of the document. */
  end(): string {
    // A value without a closing quote does not belong to a tag.
    this.#out += this.#value ?? '';
    this.#value = undefined;
    return this.#take();
  }

  #callbacks(): TokenizerCallbacks {
    const nothing = () => undefined;
    return {
      onopentagname: (start, end) => {
        this.#element = this.#name(start, end);
      },
      onattribname: (start, end) => {
        const wanted = Object.hasOwn(links, this.#element) ? links[this.#element] : undefined;
        this.#isLink = wanted?.includes(this.#name(start, end)) ?? false;
      },
      onattribdata: (start, end) => {
        if (this.#isLink) this.#addToLink(start, end);
      },
      onattribend: () => {
        if (this.#value !== undefined) this.#out += this.#change(this.#value);
        this.#value = undefined;
      },
      ...{ onopentagend: nothing, onselfclosingtag: nothing, onclosetag: nothing, onend: nothing },
      ...{ ontext: nothing, ontextentity: nothing, onattribentity: nothing, oncdata: nothing },
      ...{ oncomment: nothing, ondeclaration: nothing, onprocessinginstruction: nothing },
    };
  }

  /** Called for each part of a value, which may span several pieces. */
  #addToLink(start: number, end: number): void {
    if (this.#value === undefined) this.#passUntil(start);
    this.#value = (this.#value ?? '') + this.#slice(start, end);
    this.#written = end;
    if (this.#value.length <= maxLinkLength) return;
    this.#out += this.#value;
    this.#value = undefined;
    this.#isLink = false;
  }

  #passUntil(end: number): void {
    this.#out += this.#slice(this.#written, end);
    this.#written = end;
  }

  #slice(start: number, end: number): string {
    return this.#text.slice(start - this.#from, end - this.#from);
  }

  #name(start: number, end: number): string {
    return start < this.#from ? '' : this.#slice(start, end).toLowerCase();
  }

  #take(): string {
    const out = this.#out;
    this.#out = '';
    return out;
  }
}
