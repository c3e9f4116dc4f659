/**
 * Entries of the engine's log driver json-file, converted byte by byte: ten times as fast as JSON.parse. It
 * reads entries as the engine writes them: `{"log":"TEXT","stream":"NAME","time":"TIME"}`. Pure.
 */

const quote = 0x22;
const backslash = 0x5c;
const letterU = 0x75;
const letterZ = 0x5a;
const dot = 0x2e;
const zero = 0x30;
const space = 0x20;

const beforeText = Buffer.from('{"log":"');
const beforeStream = Buffer.from('","stream":"std');
const beforeTime = Buffer.from('","time":"');
const afterTime = Buffer.from('"}\n');
const streams = { out: Buffer.from('out'), err: Buffer.from('err') };

/** Bytes for the escapes of one letter. */
const unescaped = new Uint8Array(128);
for (const [letter, char] of Object.entries({ n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }))
  unescaped[letter.charCodeAt(0)] = char.charCodeAt(0);
for (const letter of '"\\/') unescaped[letter.charCodeAt(0)] = letter.charCodeAt(0);

/** Time of an entry with nine digits of the second, and a space. */
export const timeBytes = 31;
/** Bytes of the time before the fraction of the second: `2026-01-02T03:04:05`. */
const secondBytes = 19;

/** Reads one entry after another from `source`, and writes their texts to a target. */
export class PlainEntries {
  readonly #source: Uint8Array;
  /** Offset of the next byte to read. */
  #from = 0;
  readonly #target: Uint8Array;
  /** Offset of the next byte to write. */
  #at = 0;
  /** Time of the last entry, followed by a space. */
  readonly time = new Uint8Array(timeBytes).fill(space);
  stream: 'stdout' | 'stderr' = 'stdout';

  /** `target` needs as many bytes as the entries have. */
  constructor(source: Uint8Array, target: Uint8Array) {
    this.#source = source;
    this.#target = target;
  }

  /**
   * Reads the entry at `from`, and writes its text to the target at `at`. Returns the end of the text, or -1
   * if the entry has another form; `next` is the beginning of the next entry.
   */
  read(from: number, at: number): number {
    this.#from = from;
    this.#at = at;
    const isPlain =
      this.#skip(beforeText) && this.#copyText() && this.#readStream() && this.#skip(beforeTime);
    return isPlain && this.#readTime() && this.#skip(afterTime) ? this.#at : -1;
  }

  get next(): number {
    return this.#from;
  }

  #skip(expected: Uint8Array): boolean {
    const source = this.#source;
    const from = this.#from;
    for (let i = 0; i < expected.length; i++) if (source[from + i] !== expected[i]) return false;
    this.#from = from + expected.length;
    return true;
  }

  #readStream(): boolean {
    if (!this.#skip(beforeStream)) return false;
    const isOut = this.#skip(streams.out);
    this.stream = isOut ? 'stdout' : 'stderr';
    return isOut || this.#skip(streams.err);
  }

  /** Copies up to the closing quote. Control characters, which JSON escapes, are not copied. */
  #copyText(): boolean {
    const source = this.#source;
    const target = this.#target;
    let from = this.#from;
    let at = this.#at;
    for (;;) {
      const byte = source[from] ?? 0;
      if (byte !== quote && byte !== backslash && byte >= space) {
        target[at++] = byte;
        from++;
        continue;
      }
      this.#from = from;
      this.#at = at;
      if (byte === quote) return true;
      if (byte !== backslash || !this.#unescape()) return false;
      from = this.#from;
      at = this.#at;
    }
  }

  /** Reads an escape such as `\n` or `\u003c`. */
  #unescape(): boolean {
    const letter = this.#source[this.#from + 1] ?? 0;
    if (letter === letterU) return this.#unescapeNumber();
    const byte = letter < unescaped.length ? (unescaped[letter] ?? 0) : 0;
    if (byte === 0) return false;
    this.#target[this.#at++] = byte;
    this.#from += 2;
    return true;
  }

  /** Reads `\u` and four digits. Returns false for a surrogate, half of a character beyond U+FFFF. */
  #unescapeNumber(): boolean {
    const code = hexadecimal(this.#source, this.#from + 2);
    if (code < 0 || (code >= 0xd800 && code < 0xe000)) return false;
    const target = this.#target;
    if (code < 0x80) target[this.#at++] = code;
    else if (code < 0x800) {
      target[this.#at++] = 0xc0 | (code >> 6);
      target[this.#at++] = 0x80 | (code & 0x3f);
    } else {
      target[this.#at++] = 0xe0 | (code >> 12);
      target[this.#at++] = 0x80 | ((code >> 6) & 0x3f);
      target[this.#at++] = 0x80 | (code & 0x3f);
    }
    this.#from += 6;
    return true;
  }

  /** Reads a time such as `2026-01-02T03:04:05.1234Z`; the engine leaves out trailing zeros. */
  #readTime(): boolean {
    const source = this.#source;
    const { time } = this;
    const from = this.#from;
    for (let i = 0; i < secondBytes; i++) time[i] = source[from + i] ?? 0;
    time[secondBytes] = dot;
    let at = secondBytes + 1;
    let read = from + secondBytes;
    if (source[read] === dot) {
      read++;
      while (isDigit(source[read]) && at < timeBytes - 2) time[at++] = source[read++] ?? 0;
    }
    if (source[read] !== letterZ) return false;
    while (at < timeBytes - 2) time[at++] = zero;
    time[at] = letterZ;
    this.#from = read + 1;
    return true;
  }
}

const isDigit = (byte = 0) => byte >= zero && byte <= zero + 9;

/** Returns the number that four hexadecimal digits represent; -1 for other characters. */
function hexadecimal(bytes: Uint8Array, from: number): number {
  let number = 0;
  for (let i = from; i < from + 4; i++) {
    const byte = bytes[i] ?? 0;
    const letter = byte | 0x20;
    const digit = isDigit(byte) ? byte - zero : letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
    if (digit < 0) return -1;
    number = number * 16 + digit;
  }
  return number;
}
