/**
 * SPDY/3 header blocks: compressed by zlib with a dictionary, with one compressor per direction (draft 3.1,
 * 2.6.10).
 */
import { once } from 'node:events';
import { createInflate, type Inflate } from 'node:zlib';
import { FrameError } from './spdy-frames.ts';

export type Headers = Readonly<Record<string, string>>;

/** The dictionary's first part: each word is preceded by its length as 32 bits. */
const words = [
  'options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow',
  'authorization cache-control connection content-base content-encoding content-language content-length',
  'content-location content-md5 content-range content-type date etag expect expires from host if-match',
  'if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma',
  'proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade',
  'user-agent vary via warning www-authenticate method get status 200\u00a0OK version HTTP/1.1 url public',
  'set-cookie keep-alive origin',
].flatMap((line) => line.split(' ').map((word) => word.replace('\u00a0', ' ')));

/** The dictionary's second part is plain text. */
const text = [
  '100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505',
  '203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized',
  '403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented503 Service Unavailable',
  'Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMT',
  'chunked,text/html,image/png,image/jpg,image/gif,application/xml,application/xhtml+xml,text/plain,',
  'text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0.',
].join('');

/** 1423 bytes. */
export const dictionary: Buffer = Buffer.concat([...words.map(lengthAndText), Buffer.from(text)]);

/** Maximum decompressed size of a block in bytes; clients send a few hundred. */
const maxBlockLength = 256 * 1024;

function lengthAndText(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The zlib header that announces the dictionary. */
const zlibHeader = Buffer.concat([Buffer.from([0x78, 0xbb]), uint32(adler32(dictionary))]);
/** Go's reader only recognizes the end of a block by a sync flush. */
const syncFlush = Buffer.from([0, 0, 0, 0xff, 0xff]);

function adler32(bytes: Uint8Array): number {
  let [a, b] = [1, 0];
  for (const byte of bytes) {
    a = (a + byte) % 65521;
    b = (b + a) % 65521;
  }
  return b * 65536 + a;
}

/**
 * Encodes the blocks of one direction. They are stored, not compressed: a few bytes are not worth a
 * compressor.
 */
export class HeaderEncoder {
  #first = true;

  encode(headers: Headers): Uint8Array {
    const pairs = Object.entries(headers);
    const names = pairs.flatMap(([name, value]) => [lengthAndText(name), lengthAndText(value)]);
    const content = Buffer.concat([uint32(pairs.length), ...names]);
    if (content.length > 0xffff) throw new RangeError('headers of more than 65535 bytes');
    const stored = Buffer.alloc(5);
    stored.writeUInt16LE(content.length, 1);
    stored.writeUInt16LE(0xffff - content.length, 3);
    const start = this.#first ? [zlibHeader] : [];
    this.#first = false;
    return Buffer.concat([...start, stored, content, syncFlush]);
  }
}

/** Decodes the blocks of one direction, in their order. */
export class HeaderDecoder {
  readonly #inflate: Inflate = createInflate({ dictionary });
  #chunks: Buffer[] = [];
  #length = 0;

  constructor() {
    this.#inflate.on('data', (chunk: Buffer) => {
      this.#length += chunk.length;
      if (this.#length > maxBlockLength) this.#inflate.destroy(new FrameError('a header block is too long'));
      else this.#chunks.push(chunk);
    });
    this.#inflate.on('error', () => undefined);
  }

  /** Decodes a block. Rejects with FrameError for an invalid one. */
  async decode(block: Uint8Array): Promise<Headers> {
    this.#chunks = [];
    this.#length = 0;
    await new Promise<void>((resolve, reject) => {
      // A destroyed inflater calls no callbacks.
      const failed = (error: Error) =>
        reject(new FrameError('a header block cannot be read', { cause: error }));
      this.#inflate.once('error', failed);
      this.#inflate.write(block, (error) => {
        this.#inflate.off('error', failed);
        if (error) failed(error);
        else resolve();
      });
    });
    return parse(Buffer.concat(this.#chunks));
  }

  async close(): Promise<void> {
    if (this.#inflate.closed) return;
    this.#inflate.destroy();
    await once(this.#inflate, 'close');
  }
}

/** Parses the number of pairs, then each name and value with its length before it. */
function parse(block: Buffer): Headers {
  const headers: Record<string, string> = Object.create(null);
  let at = 0;
  const number = () => {
    if (at + 4 > block.length) throw new FrameError('a header block ends too early');
    at += 4;
    return block.readUInt32BE(at - 4);
  };
  const value = () => {
    const length = number();
    if (at + length > block.length) throw new FrameError('a header block ends too early');
    at += length;
    return block.toString('utf8', at - length, at);
  };
  for (let left = number(); left > 0; left--) headers[value().toLowerCase()] = value();
  return headers;
}
