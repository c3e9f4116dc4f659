/**
 * Handles connections on which no complete request arrived: they are answered once and closed, as Node does
 * by default.
 */
import type { ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { holdUnparsed, type ParseError } from './held-data.ts';

type ClientSocket = TLSSocket & { readonly _httpMessage?: ServerResponse | null };

const statusOf: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Handles a server's `clientError`. A connection on which no byte has arrived stays open if `mayWait` is set:
 * Go's transport keeps a connection that it dialled and did not need, and does not retry a POST on a
 * connection that was closed. Otherwise it is closed once the event loop has read what has arrived: after
 * a blocked turn the event loop runs its timers first. The same holds for the timer of a TLS handshake.
 */
export function answerClientError(
  error: ParseError,
  socket: ClientSocket,
  mayWait: boolean,
  clock: Pick<Clock, 'soon'>,
): void {
  if (holdUnparsed(error, socket)) return;
  const { code = '' } = error;
  if (code === 'ERR_TLS_HANDSHAKE_TIMEOUT') clock.soon(() => closeUnsecured(socket));
  else if (code !== 'ERR_HTTP_REQUEST_TIMEOUT' || socket.bytesRead > 0) close(socket, code);
  else if (!mayWait)
    clock.soon(() => {
      if (socket.bytesRead === 0) close(socket, code);
    });
}

/** Closes the connection unless its handshake is complete. No answer can be sent before that. */
function closeUnsecured(socket: ClientSocket): void {
  if (socket.getPeerFinished() === undefined) socket.destroy();
}

function close(socket: ClientSocket, code: string): void {
  if (socket.writable && !socket._httpMessage?.headersSent)
    socket.write(`HTTP/1.1 ${statusOf[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
  socket.destroySoon();
}
