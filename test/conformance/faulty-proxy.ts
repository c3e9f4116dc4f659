/** A proxy between a client and etcd that can fail as networks fail. */
import { once } from 'node:events';
import net from 'node:net';

interface Pair {
  readonly client: net.Socket;
  readonly server: net.Socket;
  /** Data from the client that the server has not received. */
  readonly held: Buffer[];
  frozen: boolean;
}

/** A unix socket, or a port. */
type Place = { readonly path: string } | { readonly host: string; readonly port: number };

export class FaultyProxy {
  readonly #server: net.Server;
  readonly #pairs = new Set<Pair>();
  /** Number of bytes from the server after which each connection is cut. */
  cutAfterBytes = Number.POSITIVE_INFINITY;
  /** True while data from the server is dropped. */
  muteServer = false;
  /** True while data from the client is held back. */
  holdClient = false;
  cuts = 0;

  private constructor(server: net.Server) {
    this.#server = server;
  }

  /** Listens and resolves with the proxy. With port 0 the system chooses the port. */
  static async listen(place: Place, target: Place): Promise<FaultyProxy> {
    const server = net.createServer({ allowHalfOpen: false });
    const proxy = new FaultyProxy(server);
    server.on('connection', (client) => proxy.#connect(client, target));
    server.listen(place);
    await once(server, 'listening');
    return proxy;
  }

  get endpoint(): string {
    const place = this.#server.address();
    if (place === null || typeof place === 'string') return `unix:${place}`;
    return `http://${place.address}:${place.port}`;
  }

  /** Returns whether clients have sent this text and the server has not received it. */
  holds(text: string): boolean {
    return [...this.#pairs].some(({ held }) => Buffer.concat(held).includes(text));
  }

  #connect(client: net.Socket, target: Place): void {
    const server = net.connect(target);
    const pair: Pair = { client, server, held: [], frozen: false };
    this.#pairs.add(pair);
    let received = 0;
    client.on('data', (chunk: Buffer) => {
      if (pair.frozen || server.destroyed) return;
      if (this.holdClient || pair.held.length > 0) pair.held.push(chunk);
      else server.write(chunk);
    });
    server.on('data', (chunk: Buffer) => {
      if (pair.frozen || this.muteServer || client.destroyed) return;
      received += chunk.length;
      if (received > this.cutAfterBytes) {
        // Half a message is forwarded.
        client.write(chunk.subarray(0, chunk.length >> 1));
        this.#end(pair);
      } else {
        client.write(chunk);
      }
    });
    for (const socket of [client, server]) socket.on('error', () => undefined);
    server.on('close', () => {
      client.destroy();
      this.#pairs.delete(pair);
    });
    client.on('close', () => {
      if (pair.held.length === 0) server.destroy();
    });
  }

  #end(pair: Pair): void {
    this.cuts++;
    pair.client.destroy();
    if (pair.held.length === 0) pair.server.destroy();
  }

  /** Ends every connection; held data stays for `deliverHeld`. */
  cut(): void {
    for (const pair of this.#pairs) this.#end(pair);
  }

  /** Stops forwarding on the existing connections, without ending them. */
  freeze(): void {
    for (const pair of this.#pairs) pair.frozen = true;
  }

  /** Sends the held data to the server, although the client has disconnected. Returns its number of bytes. */
  deliverHeld(): number {
    let bytes = 0;
    for (const pair of this.#pairs) {
      for (const chunk of pair.held.splice(0)) {
        bytes += chunk.length;
        pair.server.write(chunk);
      }
    }
    return bytes;
  }

  async close(): Promise<void> {
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
    this.#server.close();
    await once(this.#server, 'close');
  }
}
