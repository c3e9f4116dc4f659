/** The loopback proxy of `ctl dashboard`: the API server at a port of this machine, without credentials. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import type { Dialing } from '../../client/https-transport.ts';
import { OpenSockets } from '../../http/open-sockets.ts';
import { ApiForwarder, refuse, refuseUpgrade } from '../proxy/forward.ts';
import { type LoopbackPlace, refusalOf, toBrowser, toServer } from './loopback-plan.ts';

const address = '127.0.0.1';
const keepAliveMs = 15_000;

export interface LoopbackProxy {
  /** Host and port of the address that the browser opens. */
  readonly host: string;
  close(): void;
}

/** Starts the proxy at a port; 0 for any free one. */
export async function startLoopbackProxy(
  dialing: Dialing,
  port: number,
  clock: Clock,
): Promise<LoopbackProxy> {
  // An upload may take as long as it needs; the head of a request may not.
  const server = createServer({ requestTimeout: 0, headersTimeout: 60_000 });
  const sockets = new OpenSockets(server);
  const listening = once(server, 'listening');
  server.listen(port, address);
  try {
    await listening;
  } catch (error) {
    throw new Error(`cannot listen on ${address}:${port}: ${errorMessage(error)}; choose another --port`);
  }
  const host = `${address}:${(server.address() as AddressInfo).port}`;
  const place = { host, server: new URL(dialing.url).host };
  const forwarder = new ApiForwarder({
    dialing: withoutIdentity(dialing),
    appendsServerPath: true,
    keepAliveMs,
    clock,
    toServer: (raw) => toServer(raw, place),
    toClient: (raw) => toBrowser(raw, place),
  });
  serve(server, forwarder, place);
  return {
    host,
    close() {
      server.close();
      sockets.destroyAll();
      forwarder.close();
    },
  };
}

function serve(server: Server, forwarder: ApiForwarder, place: LoopbackPlace): void {
  server.on('request', (request, answer) => {
    const refusal = refusalOf(request.rawHeaders, place);
    if (refusal === undefined) void forwarder.request(request, answer, request.url ?? '/');
    else refuse(answer, 403, refusal);
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    const refusal = refusalOf(request.rawHeaders, place);
    if (refusal === undefined) void forwarder.upgrade(request, socket, head, request.url ?? '/');
    else refuseUpgrade(socket, 403, refusal);
  });
}

/** Returns the parameters of connections without the user's certificate, token and impersonation. */
function withoutIdentity({ headers, tls, ...rest }: Dialing): Dialing {
  const {
    cert: _,
    key: __,
    secureContext: ___,
    ...anonymous
  } = tls as Dialing['tls'] & {
    secureContext?: unknown;
  };
  const agent = Object.entries(headers).filter(([name]) => name.toLowerCase() === 'user-agent');
  return { ...rest, headers: Object.fromEntries(agent), tls: anonymous };
}
