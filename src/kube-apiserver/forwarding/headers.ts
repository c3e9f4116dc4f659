/** Which headers pass the proxy, and how they are changed. Pure. */
import { headersOf } from '../../apiserver/streamed-answer.ts';
import { type ProxiedPage, throughProxy } from './links.ts';

/** Of one connection, not of the request (RFC 9110 §7.6.1); this server has answered `Expect` by itself. */
const ofConnection = [
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/**
 * Headers about the client's identity: a backend must neither get nor set them. To one that gets headers as
 * variables (RFC 3875 §4.1.18) underscores are dashes.
 */
const credentials = /^(authorization|impersonate[-_].*|x[-_]remote[-_](user|uid|group|extra[-_].*))$/;

/** Sites of other origins may not read through the proxy what the backend shows them (upstream's corsRemovingTransport). */
const crossOrigin = /^access-control-allow-(credentials|headers|methods|origin)$/;

/** Names in lower case. Headers are some. */
export type RequestHeaders = Pick<Headers, 'get' | 'has'> & Iterable<readonly [string, string]>;

export interface ForwardedRequest {
  readonly headers: RequestHeaders;
  /** The path as the client wrote it. */
  readonly path: string;
  /** The host of its URL, for a request that names none. */
  readonly host: string;
  /** An IP address. */
  readonly remoteAddress: string | undefined;
  /** The connection is to leave HTTP if the backend agrees. */
  readonly upgrade: boolean;
}

export function requestHeaders(request: ForwardedRequest): Record<string, string> {
  const { headers, path, host, remoteAddress, upgrade } = request;
  const dropped = namedBy(headers.get('connection'));
  const kept = [...headers].filter(([name]) => !dropped.has(name) && !credentials.test(name));
  const before = headers.get('x-forwarded-for');
  const forwardedFor = [before, remoteAddress].filter(Boolean).join(', ');
  return {
    ...Object.fromEntries(kept),
    host: headers.get('host') ?? host,
    'x-forwarded-uri': path,
    ...(forwardedFor && { 'x-forwarded-for': forwardedFor }),
    ...(upgrade
      ? { connection: 'Upgrade', upgrade: headers.get('upgrade') ?? '' }
      : headers.has('transfer-encoding') && { 'transfer-encoding': 'chunked' }),
  };
}

/** What an answer says that is not of its connection; `raw` holds names and values in turn, as they came, and so does what is given back. */
export function endToEnd(raw: readonly string[]): readonly string[] {
  const connection = raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === 'connection');
  const dropped = namedBy(connection.join(','));
  const isKept = (i: number) => !dropped.has((raw[i] ?? '').toLowerCase());
  return raw.filter((_, i) => isKept(i - (i % 2)));
}

export interface AnsweredHeaders {
  readonly headers: Headers;
  /** How an HTML document is encoded whose links have to be changed, '' for not at all; undefined for any other body. */
  readonly html: string | undefined;
}

/** Encodings of documents that can be read. */
const readable: readonly string[] = ['', 'gzip', 'x-gzip', 'deflate', 'br'];

/** `raw` as of endToEnd; `own` is what this server adds where the backend says nothing. */
export function responseHeaders(
  raw: readonly string[],
  page: ProxiedPage,
  own: Readonly<Record<string, string>>,
): AnsweredHeaders {
  const all = headersOf(endToEnd(raw));
  for (const name of [...all.keys()]) if (crossOrigin.test(name)) all.delete(name);
  for (const [name, value] of Object.entries(own)) if (!all.has(name)) all.set(name, value);
  const location = all.get('location');
  if (location) {
    all.set('location', throughProxy(location, page));
    return { headers: all, html: undefined };
  }
  const type = all.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  const encoding = all.get('content-encoding')?.trim().toLowerCase() ?? '';
  // A part of a document is counted in the bytes of the backend.
  const isWhole = !all.has('content-range');
  if (type !== 'text/html' || !isWhole || !readable.includes(encoding))
    return { headers: all, html: undefined };
  // Its links become longer, and it is sent as it is read.
  all.delete('content-length');
  all.delete('content-encoding');
  return { headers: all, html: encoding };
}

const always: ReadonlySet<string> = new Set(ofConnection);

function namedBy(connection: string | null): ReadonlySet<string> {
  // The usual ones name nothing.
  if (!connection || connection === 'keep-alive' || connection === 'close') return always;
  const named = connection.split(',').map((name) => name.trim().toLowerCase());
  return new Set([...ofConnection, ...named.filter(Boolean)]);
}
