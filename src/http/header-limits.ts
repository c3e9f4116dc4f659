/**
 * Maximum sizes of a request's head, including its URL: `kubectl exec` puts the whole command into the URL.
 * Bytes.
 */

/** Maximum of Go's servers, and so Kubernetes' (net/http DefaultMaxHeaderBytes). */
export const maxHeaderBytes = 1024 * 1024;

/**
 * Maximum for connections without a client certificate, of which anyone can open many: the head is buffered
 * before the sender is identified. It suffices for a token and a command of a page.
 */
export const maxUnknownHeaderBytes = 64 * 1024;

/**
 * Maximum between the API server and agents, where encoding lengthens a URL that the client sent unencoded.
 */
export const maxPassedOnHeaderBytes = 4 * maxHeaderBytes;

/**
 * Maximum of query parameters: Node parses many parameters without values in quadratic time, and 10,000 in
 * two milliseconds.
 */
export const maxQueryParameters = 10_000;

/**
 * Maximum of a header that is parsed as a list, such as Accept. kubectl's longest one has about 200 bytes.
 */
export const maxListHeaderBytes = 4 * 1024;

/** Maximum of Sec-WebSocket-Protocol, in which a browser sends its bearer token. */
export const maxProtocolsBytes = 16 * 1024;

/** Returns true if the URL's query has more parameters than the maximum; stops reading at the maximum. */
export function hasTooManyParameters(url: string): boolean {
  let at = url.indexOf('?');
  for (let count = 1; at >= 0; count++) {
    if (count > maxQueryParameters) return true;
    at = url.indexOf('&', at + 1);
  }
  return false;
}
