/** Answers of HTTP/1.1 that break off. */
import type { ServerResponse } from 'node:http';

/**
 * Closes the connection without the end that HTTP has for a whole body (RFC 9112 §8), so that the client sees
 * that the answer is not whole. What was written leaves first: the end of a TLS connection would overtake it,
 * so its last write is waited for.
 */
export function cutAnswer({ socket }: ServerResponse): void {
  socket?.write('', () => socket.destroySoon());
}
