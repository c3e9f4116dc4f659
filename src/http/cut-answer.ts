/** Truncated responses of HTTP/1.1. */
import type { ServerResponse } from 'node:http';

/**
 * Closes the connection without HTTP's end of a complete body (RFC 9112 §8), so that the client detects the
 * truncation. Data that was written is sent first: the end of a TLS connection would overtake it, so the
 * function waits for the last write.
 */
export function cutAnswer({ socket }: ServerResponse): void {
  socket?.write('', () => socket.destroySoon());
}
