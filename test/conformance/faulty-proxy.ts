/** A proxy between a client and etcd that can fail in the ways networks do. */
import { once } from 'node:events';
import net from 'node:net';

interface Pair {
  readonly client: net.Socket;
  readonly server: net.Socket;
  /** What the client sent and the server has not been given. */
  readonly held: Buffer[];
  frozen: boolean;
}

/** A unix socket, or a port. */
type Place = { readonly path: string } | { readonly host: string; readonly port: number };

export class FaultyProxy {
  readonly #server: net.Server;
  readonly #pairs = new Set<Pair>();
  /** Cut each connection when so many bytes have come from the server. */
  cutAfterBytes = Number.POSITIVE_INFINITY;
  /** Swallow what the server says. */
  muteServer = false;
  /** Keep back what the client says. */
  holdClient = false;
  cuts = 0;

  private constructor(server: net.Server) {
    this.#server = server;
  }

  /** Port 0 lets the system choose. */
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

  /** Whether clients have said this, and the server has not been told. */
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
        // Half a message goes through.
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

  /** Ends every connection; what is held stays for `deliverHeld`. */
  cut(): void {
    for (const pair of this.#pairs) this.#end(pair);
  }

  /** Stops forwarding on the connections there are, without ending them. */
  freeze(): void {
    for (const pair of this.#pairs) pair.frozen = true;
  }

  /** Hands the server what was held back, though the client is gone. */
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
