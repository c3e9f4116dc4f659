/**
 * Bearer tokens of WebSockets. A browser cannot set headers on a WebSocket, so the token is one of the
 * subprotocols that the browser offers (k8s.io/apiserver authentication/request/websocket). Pure.
 */
const prefix = 'base64url.bearer.authorization.k8s.io.';

export interface OfferedProtocols {
  /** An Authorization header with the token; undefined if there is no token, or none that can be parsed. */
  readonly authorization: string | undefined;
  /** The protocols without the token. */
  readonly protocols: readonly string[];
}

/**
 * Parses Sec-WebSocket-Protocol. A token only counts beside another protocol, which is then the one to use.
 */
export function bearerAmongProtocols(header: string): OfferedProtocols {
  const offered = header.split(',').flatMap((name) => name.trim() || []);
  const protocols = offered.filter((name) => !name.startsWith(prefix));
  const [encoded, ...more] = offered.flatMap((name) =>
    name.startsWith(prefix) ? name.slice(prefix.length) : [],
  );
  const readable = encoded !== undefined && more.length === 0 && /^[A-Za-z0-9_-]+$/.test(encoded);
  const token = readable ? Buffer.from(encoded, 'base64url').toString() : '';
  // A token with characters that a header cannot contain is invalid; an error from writing the header would
  // log the token.
  const isToken = /^[\x21-\x7e]+$/.test(token);
  return { authorization: isToken && protocols.length > 0 ? `Bearer ${token}` : undefined, protocols };
}
