/** The client's side of port-forward: SPDY/3.1 inside a WebSocket, two streams for each connection. */
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { SpdyConnection } from '../../streams/spdy-connection.ts';
import type { ForwardedPort } from './port-forward-plan.ts';

export const portForwardProtocol = 'SPDY/3.1+portforward.k8s.io';

export class Forwarder {
  readonly #spdy: SpdyConnection;
  readonly #transport: Duplex;
  /** Resolves when the connection to the pod is over. */
  readonly lost: Promise<void>;
  #requests = 0;

  constructor(transport: Duplex) {
    this.#transport = transport;
    this.#spdy = new SpdyConnection(transport);
    // Data that is not SPDY ends forwarding like a lost connection.
    this.lost = this.#spdy.run().catch(() => this.close());
  }

  /**
   * Connects the socket to a port of the pod; resolves when both sides have ended. Rejects with the reason if
   * the pod cannot be reached.
   */
  async forward(socket: Socket, { local, remote }: ForwardedPort): Promise<void> {
    let brokeOff = false;
    socket.on('error', (cause) => {
      // Errors of the operating system count; other errors come from the pod's side.
      brokeOff ||= 'syscall' in cause;
    });
    const headers = { port: String(remote), requestid: String(this.#requests++) };
    const error = this.#spdy.open({ ...headers, streamtype: 'error' });
    const data = this.#spdy.open({ ...headers, streamtype: 'data' });
    error.end();
    // Each direction ends separately; if one breaks, the other is closed too.
    const joined = Promise.all([pipeline(socket, data), pipeline(data, socket)]).catch(() => undefined);
    try {
      const failure = await text(error).catch(() => '');
      // If the client breaks the connection, the failed stream is not an error of forwarding.
      if (failure !== '' && !brokeOff)
        throw new Error(`an error occurred forwarding ${local} -> ${remote}: ${failure}`);
      await joined;
    } finally {
      socket.destroy();
      data.destroy();
    }
  }

  close(): void {
    this.#transport.destroy();
  }
}
