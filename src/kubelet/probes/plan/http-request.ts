/** The request of an httpGet handler (pkg/probe/http/request.go), and the targets of redirects. */
import type { Container, HTTPGetAction } from '../../../api/core/v1/types.gen.ts';
import { kubernetesLevel } from '../../../apimachinery/kubernetes-level.ts';
import { handlerPort, joinHostPort } from './handler-port.ts';

export interface HttpRequest {
  readonly scheme: 'http' | 'https';
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** Path with the query, encoded for sending. */
  readonly path: string;
  /** Headers, including `Host`; several values of a name are sent as several headers. */
  readonly headers: Readonly<Record<string, string | string[]>>;
}

type Headers = NonNullable<HTTPGetAction['httpHeaders']>;

/** Purpose of the request: part of its `User-Agent`. */
export type Purpose = 'probe' | 'lifecycle';

/** Headers that Go's client sets itself or never sends. */
const notSent = new Set(['connection', 'content-length', 'host', 'trailer', 'transfer-encoding']);

export const userAgent = (purpose: Purpose): string =>
  `kube-${purpose}/${kubernetesLevel.major}.${kubernetesLevel.minor}`;

/**
 * Returns the request. `podIP` is its host unless the action has one. Throws an Error with a message of one
 * line for an invalid port.
 */
export function httpRequest(
  action: HTTPGetAction,
  container: Pick<Container, 'ports'>,
  podIP: string,
  purpose: Purpose,
): HttpRequest {
  const port = handlerPort(action.port, container);
  const scheme = action.scheme === 'HTTPS' ? 'https' : 'http';
  const host = (action.host || podIP).replace(/^\[(.*)\]$/, '$1');
  const headers = requestHeaders(action.httpHeaders ?? [], joinHostPort(host, port), purpose);
  return { scheme, host, port, path: requestPath(action.path ?? ''), headers };
}

/** Returns the headers that Go's client would send for the action's headers. */
function requestHeaders(
  wanted: Headers,
  address: string,
  purpose: Purpose,
): Record<string, string | string[]> {
  const given = byLowerName(wanted);
  const headers: Record<string, string | string[]> = { Host: given.get('host')?.values[0] || address };
  if (!given.has('user-agent')) headers['User-Agent'] = userAgent(purpose);
  if (!given.has('accept')) headers.Accept = '*/*';
  for (const [key, { name, values }] of given) {
    if (!isSent(key, values)) continue;
    const [first = '', ...more] = values;
    headers[name] = more.length > 0 && key !== 'user-agent' ? values : first;
  }
  return headers;
}

/** Returns true if the header is sent: an empty Accept or User-Agent removes that header. */
function isSent(key: string, values: readonly string[]): boolean {
  const isRemoved = (key === 'accept' || key === 'user-agent') && values[0] === '';
  return !isRemoved && !notSent.has(key);
}

/** Collects the values of each header under its name in lower case, with the name as it stood first. */
function byLowerName(wanted: Headers) {
  const given = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const { name, value } of wanted)
    given.getOrInsertComputed(name.toLowerCase(), () => ({ name, values: [] })).values.push(value);
  return given;
}

export function urlOf({ scheme, host, port, path }: HttpRequest): string {
  return `${scheme}://${joinHostPort(host, port)}${path}`;
}

/**
 * Returns the path to send for a path in a pod's spec: without scheme, host and fragment, and with invalid
 * characters encoded.
 */
export function requestPath(text: string): string {
  const [whole = ''] = text.split('#', 1);
  const local = whole.replace(/^([A-Za-z][A-Za-z0-9+.-]*:)?\/\/[^/?]*/, '');
  const at = local.indexOf('?');
  const path = at < 0 ? local : local.slice(0, at);
  const query = at < 0 ? '' : local.slice(at);
  // A single % that begins no escape makes every % a plain character.
  const escaped = /%(?![0-9A-Fa-f]{2})/.test(path) ? path.replaceAll('%', '%25') : path;
  return `${escaped.startsWith('/') ? '' : '/'}${encoded(escaped)}${encoded(query)}`;
}

const encoded = (text: string) =>
  text.replaceAll(/[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+/g, (found) =>
    encodeURIComponent(found.toWellFormed()),
  );

/** Status codes from 300 to 399 that redirect when they have a Location. */
const leadsOn = new Set([301, 302, 303, 307, 308]);

/**
 * Returns the request that follows a redirect; `elsewhere` for another host; undefined for a response that
 * does not redirect. Throws an Error for an invalid Location.
 */
export function redirection(
  request: HttpRequest,
  status: number,
  location: string | undefined,
): HttpRequest | 'elsewhere' | undefined {
  if (!leadsOn.has(status) || !location) return undefined;
  const url = URL.parse(location, urlOf(request));
  if (!url) throw new Error(`failed to parse Location header ${JSON.stringify(location)}`);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (host.toLowerCase() !== request.host.toLowerCase()) return 'elsewhere';
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https') throw new Error(`unsupported protocol scheme "${scheme}"`);
  const port = url.port === '' ? (scheme === 'https' ? 443 : 80) : Number(url.port);
  // A custom Host header is kept only for a redirect without a host.
  const isRelative = !/^([A-Za-z][A-Za-z0-9+.-]*:)?\/\//.test(location);
  const headers = isRelative ? request.headers : { ...request.headers, Host: url.host };
  return { scheme, host, port, path: `${url.pathname}${url.search}`, headers };
}
