/** The request that an httpGet handler stands for (pkg/probe/http/request.go), and where a redirection leads. */
import type { Container, HTTPGetAction } from '../../../api/core/v1/types.gen.ts';
import { kubernetesLevel } from '../../../base/kubernetes-level.ts';
import { handlerPort, joinHostPort } from './handler-port.ts';

export interface HttpRequest {
  readonly scheme: 'http' | 'https';
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** With the query; every character of it may be sent. */
  readonly path: string;
  /** `Host` included; several values of a name are several headers. */
  readonly headers: Readonly<Record<string, string | string[]>>;
}

/** Who asks: the name in `User-Agent`. */
export type Purpose = 'probe' | 'lifecycle';

/** What Go's client writes itself, or never. */
const notSent = new Set(['connection', 'content-length', 'host', 'trailer', 'transfer-encoding']);

export const userAgent = (purpose: Purpose): string =>
  `kube-${purpose}/${kubernetesLevel.major}.${kubernetesLevel.minor}`;

/** `podIP`: where to ask unless the action names a host. Throws Error, in one line, when the port is none. */
export function httpRequest(
  action: HTTPGetAction,
  container: Pick<Container, 'ports'>,
  podIP: string,
  purpose: Purpose,
): HttpRequest {
  const port = handlerPort(action.port, container);
  const scheme = action.scheme === 'HTTPS' ? 'https' : 'http';
  const host = (action.host || podIP).replace(/^\[(.*)\]$/, '$1');
  const given = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const { name, value } of action.httpHeaders ?? []) {
    const header = given.get(name.toLowerCase()) ?? { name, values: [] };
    header.values.push(value);
    given.set(name.toLowerCase(), header);
  }
  const wantedHost = given.get('host')?.values[0] || joinHostPort(host, port);
  const headers: Record<string, string | string[]> = { Host: wantedHost };
  if (!given.has('user-agent')) headers['User-Agent'] = userAgent(purpose);
  if (!given.has('accept')) headers.Accept = '*/*';
  for (const [key, { name, values }] of given) {
    // Empty ones of these two ask that there be none.
    const unwanted = (key === 'accept' || key === 'user-agent') && values[0] === '';
    const [first = '', ...more] = values;
    if (!unwanted && !notSent.has(key))
      headers[name] = more.length > 0 && key !== 'user-agent' ? values : first;
  }
  return { scheme, host, port, path: requestPath(action.path ?? ''), headers };
}

export function urlOf({ scheme, host, port, path }: HttpRequest): string {
  return `${scheme}://${joinHostPort(host, port)}${path}`;
}

/** What is sent of a path as somebody wrote it: no scheme, host or fragment; what may not stand there is encoded. */
export function requestPath(text: string): string {
  const [whole = ''] = text.split('#', 1);
  const local = whole.replace(/^([A-Za-z][A-Za-z0-9+.-]*:)?\/\/[^/?]*/, '');
  const at = local.indexOf('?');
  const path = at < 0 ? local : local.slice(0, at);
  const query = at < 0 ? '' : local.slice(at);
  // One % that starts nothing makes all of them plain characters.
  const escaped = /%(?![0-9A-Fa-f]{2})/.test(path) ? path.replaceAll('%', '%25') : path;
  return `${escaped.startsWith('/') ? '' : '/'}${encoded(escaped)}${encoded(query)}`;
}

const encoded = (text: string) =>
  text.replaceAll(/[^\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+/g, (found) =>
    encodeURIComponent(found.toWellFormed()),
  );

/** Of 300 to 399 those that lead somewhere else, when they say where. */
const leadsOn = new Set([301, 302, 303, 307, 308]);

/** Where an answer leads: the next request, `elsewhere` for another host, undefined when it does not. Throws Error. */
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
  // A name of its own is kept only where the redirection names none.
  const isRelative = !/^([A-Za-z][A-Za-z0-9+.-]*:)?\/\//.test(location);
  const headers = isRelative ? request.headers : { ...request.headers, Host: url.host };
  return { scheme, host, port, path: `${url.pathname}${url.search}`, headers };
}
