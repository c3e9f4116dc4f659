/** How long the head of a request may be, its URL included: `kubectl exec` writes the whole command there. Bytes. */

/** Go's servers, and so Kubernetes', take as much (net/http DefaultMaxHeaderBytes). */
export const maxHeaderBytes = 1024 * 1024;

/**
 * Of a connection without a client certificate, of which anybody may have many: all of it is kept before anything is known of
 * the sender. Long enough for a token and a command of a page.
 */
export const maxUnknownHeaderBytes = 64 * 1024;

/** Between the API server and agents, where a URL has become longer by encoding what the client sent as it is. */
export const maxPassedOnHeaderBytes = 4 * maxHeaderBytes;

/** Parameters of a query: Node reads many without a value in quadratic time, and 10,000 in two milliseconds. */
export const maxQueryParameters = 10_000;

/** Of a header that is a list to be taken apart, such as Accept. kubectl's longest has about 200. */
export const maxListHeaderBytes = 4 * 1024;

/** Of Sec-WebSocket-Protocol, in which a browser sends its bearer token. */
export const maxProtocolsBytes = 16 * 1024;

/** Whether the query of the URL, read no further than needed, has more parameters than are taken. */
export function hasTooManyParameters(url: string): boolean {
  let at = url.indexOf('?');
  for (let count = 1; at >= 0; count++) {
    if (count > maxQueryParameters) return true;
    at = url.indexOf('&', at + 1);
  }
  return false;
}
