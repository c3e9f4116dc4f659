/**
 * The TCP connections that a server has accepted and that are open. Node's `closeAllConnections` ends only
 * those over which HTTP/1.1 is spoken: no connection whose TLS handshake is under way, and none that was
 * upgraded. A server waits for these too.
 */
import type { Server, Socket } from 'node:net';

export class OpenSockets {
  readonly #open = new Set<Socket>();

  /** Connections accepted from now on. */
  constructor(server: Server) {
    server.prependListener('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /** Closes every connection at once, whatever is under way on it. */
  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }
}
