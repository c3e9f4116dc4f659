/** Decides what passes between clients and extension servers. Pure. */
import type { DelegatedRequest } from '../../apiserver/delegation.ts';
import { endToEnd, requestHeaders } from '../forwarding/headers.ts';
import { type ExtensionServer, serverName } from './extension-server.ts';
import { identityHeaders } from './identity-headers.ts';

/**
 * Returns the headers for the extension server. The credentials of the client, and its own headers
 * with the name of a user, are left out.
 */
export function headersFor(
  server: ExtensionServer,
  { request, user, env }: Pick<DelegatedRequest, 'request' | 'user' | 'env'>,
): Record<string, string | string[]> {
  const { pathname, host } = new URL(request.url);
  const { remoteAddress, upgrade } = env;
  const given = {
    headers: request.headers,
    path: pathname,
    host,
    remoteAddress,
    upgrade: upgrade !== undefined,
  };
  const { 'x-forwarded-uri': _, ...kept } = requestHeaders(given);
  const identity = Object.entries(identityHeaders(user)).map(
    ([name, value]) => [name, typeof value === 'string' ? value : [...value]] as const,
  );
  return { ...kept, host: `${serverName(server)}:${server.port}`, ...Object.fromEntries(identity) };
}

/**
 * Returns whether the request has a body. The body of a GET or HEAD exists only if headers announce it (RFC
 * 9112 §6.3); its stream always exists.
 */
export function hasBody({ method, headers, body }: Pick<Request, 'method' | 'headers' | 'body'>): boolean {
  if (body === null) return false;
  if (method !== 'GET' && method !== 'HEAD') return headers.get('content-length') !== '0';
  return headers.has('transfer-encoding') || Number(headers.get('content-length')) > 0;
}

/** Returns the header fields for the client; `own` are added if the extension server does not set them. */
export function answeredFields(
  raw: readonly string[],
  own: Readonly<Record<string, string>>,
): readonly string[] {
  const kept = endToEnd(raw);
  const names = new Set(kept.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase()));
  const added = Object.entries(own).filter(([name]) => !names.has(name));
  return [...kept, ...added.flat()];
}

/** Returns whether the answer leads the client elsewhere, which an extension server may not do. */
export const isRedirect = (status: number, location: string | undefined): boolean =>
  status >= 300 && status <= 399 && location !== undefined;
