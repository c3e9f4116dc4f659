/** Headers of forwarded requests and answers. Pure. */
import type { Headers } from '../../client/https-transport.ts';
import { auditIdHeader } from '../../http/audit-id.ts';

/** Headers that concern one connection only (RFC 9110, 7.6.1). */
const ofConnection: ReadonlySet<string> = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** Names and values alternately, as they were sent. */
type RawHeaders = readonly string[];

function pairsOf(raw: RawHeaders): (readonly [name: string, value: string])[] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ''] as const] : []));
}

/** Returns the headers without those of the connection, by their names in lower case. */
function passing(raw: RawHeaders): Record<string, string[]> {
  const pairs = pairsOf(raw).map(([name, value]) => [name.toLowerCase(), value] as const);
  const named = pairs.filter(([name]) => name === 'connection').flatMap(([, value]) => value.split(','));
  const dropped = new Set([...ofConnection, ...named.map((name) => name.trim().toLowerCase())]);
  const kept: Record<string, string[]> = Object.create(null);
  for (const [name, value] of pairs) if (!dropped.has(name)) kept[name] = [...(kept[name] ?? []), value];
  return kept;
}

/**
 * Returns the headers for the server: the headers of the client, and those of `own` (the user's identity)
 * that the client did not send. If the client impersonates a user, no impersonation header of `own` is added.
 * `upgrade` is the protocol that the client asks for.
 */
export function requestHeaders(raw: RawHeaders, own: Headers, upgrade?: string): Headers {
  const { host: _, ...sent } = passing(raw);
  const impersonates = sent['impersonate-user'] !== undefined;
  const lacking = Object.entries(own).filter(
    ([name]) => name !== auditIdHeader && !(impersonates && name.startsWith('impersonate-')),
  );
  return {
    ...Object.fromEntries(lacking),
    ...sent,
    // With this header, the API server leaves it to the proxy to reject requests of other sites' pages.
    'x-forwarded-for': [...(sent['x-forwarded-for'] ?? []), '127.0.0.1'].join(', '),
    ...(upgrade !== undefined && { connection: 'Upgrade', upgrade }),
  };
}

/** Returns the headers of an answer for the client, as names and values. */
export const answerHeaders = (raw: RawHeaders): string[] =>
  Object.entries(passing(raw)).flatMap(([name, values]) => values.flatMap((value) => [name, value]));
