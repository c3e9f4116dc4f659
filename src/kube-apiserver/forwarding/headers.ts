/** Decides which headers pass the proxy, and how they are changed. Pure. */
import { withoutSession } from '../../apiserver/authentication/browser-session.ts';
import { headersOf } from '../../apiserver/transport/streamed-answer.ts';
import { type ProxiedPage, throughProxy } from './links.ts';

/** Headers of one connection, not of the request (RFC 9110 §7.6.1); this server answers `Expect` itself. */
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
 * Headers with the client's identity: a backend must neither receive nor set them. Underscores match as well
 * as dashes, because programs that receive headers as variables (RFC 3875 §4.1.18) do not distinguish them.
 */
const credentials =
  /^(authorization|minik8s[-_]session|impersonate[-_].*|x[-_]remote[-_](user|uid|group|extra[-_].*))$/;

/**
 * Removed so that sites of other origins cannot read a backend through the proxy (upstream's
 * corsRemovingTransport).
 */
const crossOrigin = /^access-control-allow-(credentials|headers|methods|origin)$/;

/** Headers of a request, with names in lower case. The class Headers is an implementation. */
export type RequestHeaders = Pick<Headers, 'get' | 'has'> & Iterable<readonly [string, string]>;

export interface ForwardedRequest {
  readonly headers: RequestHeaders;
  /** Path as the client wrote it. */
  readonly path: string;
  /** Host of the URL, for a request without a Host header. */
  readonly host: string;
  /** IP address of the client. */
  readonly remoteAddress: string | undefined;
  /** True if the connection is upgraded when the backend accepts. */
  readonly upgrade: boolean;
}

export function requestHeaders(request: ForwardedRequest): Record<string, string> {
  const { headers, path, host, remoteAddress, upgrade } = request;
  const dropped = namedBy(headers.get('connection'));
  const kept = [...headers].flatMap(([name, value]) => {
    if (dropped.has(name) || credentials.test(name)) return [];
    const passing = name === 'cookie' ? withoutSession(value) : value;
    return name === 'cookie' && passing === '' ? [] : [[name, passing] as const];
  });
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

/**
 * Returns the headers of an answer that are not of its connection; `raw` and the result contain names and
 * values alternately, as received.
 */
export function endToEnd(raw: readonly string[]): readonly string[] {
  const connection = raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === 'connection');
  const dropped = namedBy(connection.join(','));
  const isKept = (i: number) => !dropped.has((raw[i] ?? '').toLowerCase());
  return raw.filter((_, i) => isKept(i - (i % 2)));
}

export interface AnsweredHeaders {
  readonly headers: Headers;
  /**
   * Content encoding of an HTML document whose links must be changed, '' for none; undefined for any other
   * body.
   */
  readonly html: string | undefined;
}

/** Encodings of documents that can be decoded. */
const readable: readonly string[] = ['', 'gzip', 'x-gzip', 'deflate', 'br'];

/**
 * Returns the headers for the client. `raw` is as for endToEnd; `own` are headers that this server adds if
 * the backend does not set them.
 */
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
  // A partial document is counted in bytes of the backend's version.
  const isWhole = !all.has('content-range');
  if (type !== 'text/html' || !isWhole || !readable.includes(encoding))
    return { headers: all, html: undefined };
  // The links become longer, and the document is sent as it is read.
  all.delete('content-length');
  all.delete('content-encoding');
  return { headers: all, html: encoding };
}

const always: ReadonlySet<string> = new Set(ofConnection);

function namedBy(connection: string | null): ReadonlySet<string> {
  // The usual values name no headers.
  if (!connection || connection === 'keep-alive' || connection === 'close') return always;
  const named = connection.split(',').map((name) => name.trim().toLowerCase());
  return new Set([...ofConnection, ...named.filter(Boolean)]);
}
