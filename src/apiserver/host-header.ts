/** The Host header, which a proxy on the way may have used: there must be exactly one (RFC 9112 §3.2). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const answer = 'the request has more than one Host header\n';

const hasSeveral = ({ rawHeaders }: IncomingMessage): boolean =>
  rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length > 1;

/** True when the request was refused, and answered. */
export function refusesHost(incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  if (!hasSeveral(incoming)) return false;
  outgoing.writeHead(400, { 'content-type': 'text/plain', connection: 'close' }).end(answer);
  return true;
}

/** The same for a request that wants to leave HTTP. */
export function refusesHostOfUpgrade(incoming: IncomingMessage, socket: Socket): boolean {
  if (!hasSeveral(incoming)) return false;
  socket.on('error', () => undefined);
  const head = `HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: ${answer.length}`;
  socket.end(`${head}\r\nconnection: close\r\n\r\n${answer}`);
  return true;
}
