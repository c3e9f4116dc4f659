/** Rejects heads that another program on the way might interpret differently, before they are parsed. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';

/** A proxy on the way may have used another Host header: there must be exactly one (RFC 9112 §3.2). */
const severalHosts = 'the request has more than one Host header\n';
/**
 * A program that does not support the coding cannot find the end of the request; Node only detects it after
 * it has passed on the head.
 */
const otherCoding = 'the only Transfer-Encoding is chunked\n';
const indirectPath = 'the path of the request has a segment . or .. or a #: name what is meant\n';
const namedUser = 'the URL of the request has a user in it: send credentials in a header\n';

/** A URL with a host, and a user name or password before it. */
const hasUser = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*@/i;

const hasSeveralHosts = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length > 1;

const hasOtherCoding = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.some(
    (text, index) =>
      index % 2 === 1 &&
      rawHeaders[index - 1]?.toLowerCase() === 'transfer-encoding' &&
      text.toLowerCase() !== 'chunked',
  );

const indirect = /[/\\](?:\.|%2e){1,2}(?:[/\\]|$)/i;

/**
 * Returns whether a URL would address another path than it spells once it is parsed: `configmaps/..`
 * addresses a ConfigMap with an invalid name, not the namespace; anything after a `#` would be ignored.
 */
export const isIndirect = (url: string): boolean =>
  url.includes('#') || indirect.test(url.split('?', 1)[0] ?? '');

function faultOf(incoming: IncomingMessage): string | undefined {
  if (hasSeveralHosts(incoming)) return severalHosts;
  if (hasOtherCoding(incoming)) return otherCoding;
  if (hasUser.test(incoming.url ?? '')) return namedUser;
  return isIndirect(incoming.url ?? '') ? indirectPath : undefined;
}

const otherHost = 'the Host header of the request names another host than :authority\n';
const noPath = 'the path of the request does not begin with /\n';

/**
 * Returns the fault of a request over HTTP/2; undefined if there is none. `raw` has the names and values of
 * all fields alternately. nghttp2 itself rejects a user in :authority, and fields of HTTP/1.1.
 */
export function faultOfHttp2Head(headers: IncomingHttpHeaders, raw: readonly string[]): string | undefined {
  const { ':path': path = '/', ':authority': authority } = headers;
  const hosts = raw.filter((_, index) => index % 2 === 1 && raw[index - 1] === 'host');
  if (hosts.length > 1) return severalHosts;
  if (hosts.some((host) => host !== (authority ?? host))) return otherHost;
  if (!path.startsWith('/')) return noPath;
  return isIndirect(path) ? indirectPath : undefined;
}

/** Returns true if the request was rejected, and answered. */
export function refusesHead(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  const fault = faultOf(incoming);
  if (fault === undefined) return false;
  outgoing.writeHead(400, { 'content-type': 'text/plain', connection: 'close' }).end(fault);
  return true;
}

/** Returns true if an upgrade request was rejected, and answered. */
export function refusesHeadOfUpgrade(incoming: IncomingMessage, socket: Socket): boolean {
  const fault = faultOf(incoming);
  if (fault === undefined) return false;
  socket.on('error', () => undefined);
  const head = `HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: ${fault.length}`;
  socket.end(`${head}\r\nconnection: close\r\n\r\n${fault}`);
  return true;
}
