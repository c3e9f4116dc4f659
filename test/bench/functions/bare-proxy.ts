/** The floor for a gateway: a minimal proxy with Node's own HTTP, over TLS, without any checks. */
import { Agent, request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

interface BareProxyTask {
  readonly key: string;
  readonly cert: string;
  readonly address: string;
  /** Address of the instance. */
  readonly host: string;
  readonly port: number;
}

function listen({ key, cert, address, host, port }: BareProxyTask): void {
  const agent = new Agent({ keepAlive: true });
  const server = createServer({ key, cert }, (incoming, outgoing) => {
    const { method, headers } = incoming;
    const sent = request({ agent, host, port, method, path: '/', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    incoming.pipe(sent);
  });
  server.listen(0, address, () => process.send?.({ port: (server.address() as AddressInfo).port }));
}

process.on('message', listen);
process.on('disconnect', () => process.exit(0));
