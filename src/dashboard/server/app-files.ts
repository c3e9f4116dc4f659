/** Serves the files of the dashboard's app. Anyone may read them: they contain no data of a cluster. */
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { respond, respondText } from '../../apiserver/respond.ts';
import { type ReadFile, readPack } from './asset-pack.ts';
import { pageHeaders } from './headers.ts';

const decompress = promisify(brotliDecompress);

const types: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ico: 'image/vnd.microsoft.icon',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  webmanifest: 'application/manifest+json',
  woff2: 'font/woff2',
};

/** Names of files under this path contain a hash of their content. */
const hashed = 'assets/';
const year = 31_536_000;

export class AppFiles {
  readonly #load: () => Uint8Array;
  #files: ReadonlyMap<string, ReadFile> | undefined;

  /** `load` returns the pack; called with the first request. */
  constructor(load: () => Uint8Array) {
    this.#load = load;
  }

  /**
   * Answers a GET or HEAD. `path` is relative to the folder of the app; each page of the app has a path of
   * its own, so every path that is not a file is answered with index.html.
   */
  async answer(path: string, request: Request): Promise<Response> {
    this.#files ??= readPack(this.#load());
    const own = this.#files.get(path);
    if (!own && path.startsWith(hashed)) return respondText(404, '404 page not found\n', pageHeaders);
    const name = own ? path : 'index.html';
    const file = own ?? this.#files.get(name);
    if (!file) return respondText(404, 'this build contains no dashboard\n', pageHeaders);
    const etag = `"${file.digest}"`;
    const headers = {
      ...pageHeaders,
      'content-type': types[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
      'cache-control': name.startsWith(hashed) ? `public, max-age=${year}, immutable` : 'no-cache',
      vary: 'accept-encoding',
      etag,
    };
    if (request.headers.get('if-none-match') === etag) return respond(304, null, headers);
    return body(file, request, headers);
  }
}

async function body(
  { compressed }: ReadFile,
  { method, headers: sent }: Request,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const isAccepted = acceptsBrotli(sent.get('accept-encoding') ?? '');
  const encoded = isAccepted ? { ...headers, 'content-encoding': 'br' } : headers;
  if (method === 'HEAD') return respond(200, null, encoded);
  return respond(200, isAccepted ? compressed : await decompress(compressed), encoded);
}

/** Returns whether the header accepts brotli; `br;q=0` refuses it. */
export const acceptsBrotli = (header: string): boolean =>
  header.split(',').some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase());
    return name === 'br' && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
