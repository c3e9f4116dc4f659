/** Explains why a server may have rejected the client's credentials, from data of the client alone. Pure. */
import { X509Certificate } from 'node:crypto';
import type { ResolvedContext } from '../../client/kubeconfig-connection.ts';

/**
 * Returns the certain or possible reason why a server answered 401 to the credentials; the server itself
 * gives no reason to unauthenticated clients. `now` is in milliseconds since 1970. Never contains the
 * credentials themselves.
 */
export function credentialsProblem(
  { token, cert, context }: Pick<ResolvedContext, 'token' | 'cert' | 'context'>,
  now: number,
): string {
  const of = context ? ` of context ${context}` : '';
  if (token !== undefined) {
    const expiry = expiryOf(token);
    if (expiry !== undefined && expiry <= now) return `the token${of} expired at ${timeText(expiry)}`;
    return `the server does not accept the token${of}: it is not this cluster's, or was revoked`;
  }
  if (cert === undefined) return `no credentials were sent: give a token or a client certificate`;
  const { validFrom, validTo } = new X509Certificate(cert);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  if (to <= now) return `the client certificate${of} expired at ${timeText(to)}`;
  if (from > now)
    return `the client certificate${of} is not valid before ${timeText(from)}; check the clocks`;
  return `the server does not accept the client certificate${of}: another authority signed it`;
}

/**
 * Returns the expiry of a JSON Web Token in milliseconds since 1970; undefined if the token is of another
 * kind or does not expire.
 */
function expiryOf(token: string): number | undefined {
  const [, claims = ''] = token.split('.');
  try {
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { readonly exp?: unknown };
    return typeof exp === 'number' && Number.isSafeInteger(exp * 1000) ? exp * 1000 : undefined;
  } catch {
    // The token is not a JSON Web Token, so nothing can be read from it.
    return undefined;
  }
}

function timeText(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? 'an unknown time' : date.toISOString().replace(/\.\d+Z$/, 'Z');
}
