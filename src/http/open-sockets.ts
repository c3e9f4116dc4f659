/**
 * The open TCP connections that a server has accepted. Node's `closeAllConnections` closes only HTTP/1.1
 * connections: not those in a TLS handshake and not upgraded ones. A server waits for these, too.
 */
import type { Server, Socket } from 'node:net';

export class OpenSockets {
  readonly #open = new Set<Socket>();

  /** Tracks connections that are accepted from now on. */
  constructor(server: Server) {
    server.prependListener('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /** Closes every connection at once, with the requests on it. */
  destroyAll(): void {
    for (const socket of this.#open) socket.destroy();
  }
}
