/**
 * Data of a connection that arrives while Node's HTTP parser is paused. Node pauses it, and stops to read the
 * connection, when a request arrives before the previous answer has been passed to the kernel, which a
 * client that has already read this answer cannot detect. TLS still delivers what it has decrypted, up to one
 * read of the connection; Node reports that as a parse error, `HPE_PAUSED`, although the request is valid.
 * The data is parsed when the connection is read again.
 */
import type { Socket } from 'node:net';

/** A parse error; `rawPacket` is the data of which nothing has been parsed if the parser was paused. */
export type ParseError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

const held = new WeakMap<Socket, Buffer[]>();

/** Keeps the data of the error until the connection is read again. Returns false for every other error. */
export function holdUnparsed({ code, rawPacket }: ParseError, socket: Socket): boolean {
  if (code !== 'HPE_PAUSED' || rawPacket === undefined || !socket.isPaused()) return false;
  const known = held.get(socket);
  if (known) known.push(rawPacket);
  else {
    const chunks = [rawPacket];
    held.set(socket, chunks);
    // Node's own listener, which is called first, pauses the connection again if its parser stays paused.
    socket.on('resume', () => parseHeld(socket, chunks));
  }
  return true;
}

/** Passes the data to the server's listener. One of its requests may pause the connection again. */
function parseHeld(socket: Socket, chunks: Buffer[]): void {
  while (chunks.length > 0 && !socket.isPaused() && !socket.destroyed) socket.emit('data', chunks.shift());
}
