/**
 * A browser cannot set headers on a WebSocket, so its bearer token comes among the subprotocols it offers
 * (k8s.io/apiserver authentication/request/websocket). Pure.
 */
const prefix = 'base64url.bearer.authorization.k8s.io.';

export interface OfferedProtocols {
  /** An Authorization header with the token; undefined when there is none, or none that can be read. */
  readonly authorization: string | undefined;
  /** The protocols without the token. */
  readonly protocols: readonly string[];
}

/** Reads Sec-WebSocket-Protocol. A token counts only beside another protocol, which is then the one to be spoken. */
export function bearerAmongProtocols(header: string): OfferedProtocols {
  const offered = header.split(',').flatMap((name) => name.trim() || []);
  const protocols = offered.filter((name) => !name.startsWith(prefix));
  const [encoded, ...more] = offered.flatMap((name) =>
    name.startsWith(prefix) ? name.slice(prefix.length) : [],
  );
  const readable = encoded !== undefined && more.length === 0 && /^[A-Za-z0-9_-]+$/.test(encoded);
  const token = readable ? Buffer.from(encoded, 'base64url').toString() : '';
  // What no header can hold is nobody's token; an error of whoever writes the header would repeat it in the log.
  const isToken = /^[\x21-\x7e]+$/.test(token);
  return { authorization: isToken && protocols.length > 0 ? `Bearer ${token}` : undefined, protocols };
}
