/** Reads archives of tar programs in containers: POSIX ustar, pax and GNU's. */
import { blockSize } from './tar-archive.ts';

export interface ReadMember {
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink' | 'link' | 'other';
  readonly mode: number;
  readonly size: number;
  /** Position of the content in the archive, in bytes. */
  readonly offset: number;
  /** Target of a symbolic or hard link. */
  readonly target: string;
  /** Content that is not read is skipped. */
  readonly content: AsyncIterable<Uint8Array>;
}

const types: Readonly<Record<string, ReadMember['type']>> = {
  '0': 'file',
  '\0': 'file',
  '7': 'file',
  '5': 'directory',
  '2': 'symlink',
  '1': 'link',
};
/** Maximum length of a name; longer names are rejected. */
const maxTextLength = 1024 * 1024;

/**
 * Yields each member until the archive's end. Throws an Error if the data is not an archive, ends too early,
 * or has a file in one of GNU's sparse formats, which may be far larger than the archive.
 */
export async function* readTar(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ReadMember> {
  const source = new ByteSource(bytes);
  let more: Texts = {};
  for (;;) {
    const header = await source.take(blockSize);
    if (header === undefined || header.every((byte) => byte === 0)) break;
    checkSum(header);
    const type = String.fromCharCode(header[156] ?? 0);
    refuseSparse(type, header, more);
    const size = more.size === undefined ? numberAt(header, 124, 12) : wholeNumber(more.size);
    const padding = Math.ceil(size / blockSize) * blockSize - size;
    if ('LKxg'.includes(type)) {
      more = { ...more, ...textsOf(type, await source.text(size)) };
    } else {
      const content = source.content(size);
      yield memberOf(header, more, { size, offset: source.position, content });
      await readToEnd(content);
      more = {};
    }
    await readToEnd(source.content(padding));
  }
  // The program that writes the archive fails unless its output is read to the end.
  await readToEnd(source.rest());
}

function refuseSparse(type: string, header: Buffer, { sparse, path }: Texts): void {
  if (type === 'S' || sparse !== undefined)
    throw new Error(`the archive has a sparse file: ${path ?? nameOf(header)}`);
}

async function readToEnd(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of bytes);
}

/** Records before a member with its path, linkpath or size, or of a sparse file. */
type Texts = Readonly<Record<string, string>>;

function memberOf(
  header: Buffer,
  more: Texts,
  where: Pick<ReadMember, 'size' | 'offset' | 'content'>,
): ReadMember {
  return {
    name: more.path ?? nameOf(header),
    type: types[String.fromCharCode(header[156] ?? 0)] ?? 'other',
    mode: numberAt(header, 100, 8) & 0o7777,
    target: more.linkpath ?? textAt(header, 157, 100),
    ...where,
  };
}

/** Records of type g apply to all members and contain no names. */
function textsOf(type: string, text: Buffer): Texts {
  if (type === 'g') return {};
  if (type === 'x') return paxRecords(text);
  return { [type === 'L' ? 'path' : 'linkpath']: textAt(text, 0, text.length) };
}

const tooShort = () => new Error('the archive ends too early');

function checkSum(header: Buffer): void {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  if (sum !== numberAt(header, 148, 8)) throw new Error('the archive is damaged: a check sum is wrong');
}

function textAt(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? length : end);
}

function nameOf(header: Buffer): string {
  const name = textAt(header, 0, 100);
  // GNU's own format has other fields at the place of POSIX' prefix.
  const prefix = header.toString('latin1', 257, 263) === 'ustar\0' ? textAt(header, 345, 155) : '';
  return prefix ? `${prefix}/${name}` : name;
}

/** Reads octal digits, or GNU's form: the first bit set, then a big-endian number. */
function numberAt(header: Buffer, at: number, length: number): number {
  const field = header.subarray(at, at + length);
  if (((field[0] ?? 0) & 0x80) !== 0) return Number(field.readBigUInt64BE(length - 8));
  const digits = textAt(header, at, length).trim();
  if (!/^[0-7]*$/.test(digits)) throw new Error('the archive is damaged: a number is not octal');
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}

/** Reads decimal digits alone. */
function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Error('the archive is damaged: a number is not decimal');
}

/** Reads lines such as `27 path=some/long/name\n`, each of which begins with its own length. */
function paxRecords(text: Buffer): Texts {
  const records: Record<string, string> = {};
  for (let at = 0; at < text.length; ) {
    const space = text.indexOf(' ', at);
    const length = wholeNumber(text.toString('latin1', at, Math.max(at, space)));
    // A record with a length of 0, or of a fraction, would never end.
    if (length === 0) throw new Error('the archive is damaged: a pax record has no length');
    const record = text.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    const key = record.slice(0, equals);
    if (key.startsWith('GNU.sparse.')) records.sparse = key;
    if (['path', 'linkpath', 'size'].includes(key)) records[key] = record.slice(equals + 1);
    at += length;
  }
  return records;
}

/** Reads bytes in pieces of any requested size. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Buffer = Buffer.alloc(0);
  /** Number of bytes that were read. */
  position = 0;

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#chunks = bytes[Symbol.asyncIterator]();
  }

  /** Returns undefined at the end. Throws if fewer bytes are left than requested. */
  async take(length: number): Promise<Buffer | undefined> {
    const pieces: Buffer[] = [];
    for (let missing = length; missing > 0; ) {
      const piece = await this.#next(missing);
      if (piece === undefined && pieces.length === 0) return undefined;
      if (piece === undefined) throw tooShort();
      pieces.push(piece);
      missing -= piece.length;
    }
    return Buffer.concat(pieces);
  }

  async text(length: number): Promise<Buffer> {
    if (length > maxTextLength) throw new Error('the archive is damaged: a name is too long');
    const text = await this.take(length);
    if (text === undefined) throw tooShort();
    return text;
  }

  async *content(length: number): AsyncGenerator<Uint8Array> {
    for (let missing = length; missing > 0; ) {
      const piece = await this.#next(missing);
      if (piece === undefined) throw tooShort();
      missing -= piece.length;
      yield piece;
    }
  }

  rest(): AsyncIterable<Uint8Array> {
    return { [Symbol.asyncIterator]: () => this.#chunks };
  }

  async #next(most: number): Promise<Buffer | undefined> {
    while (this.#rest.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done) return undefined;
      this.#rest = Buffer.from(value.buffer, value.byteOffset, value.length);
    }
    const piece = this.#rest.subarray(0, most);
    this.position += piece.length;
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }
}
