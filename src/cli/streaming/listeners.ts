/** The ports of this machine that port-forward opens. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { errorMessage } from '../../base/log.ts';
import { type ForwardedPort, hostPort } from './port-forward-plan.ts';

export interface Listeners {
  readonly open: readonly Server[];
  /** One line for each port that could not be opened. */
  readonly failures: readonly string[];
}

export interface ListenOptions {
  readonly ports: readonly ForwardedPort[];
  /** Groups of addresses; one address of each group is enough. */
  readonly addresses: readonly (readonly string[])[];
  /** Called for each open address and port; for port 0 with the chosen port. */
  onOpen(address: string, port: ForwardedPort): void;
  onConnection(socket: Socket, port: ForwardedPort): void;
}

export async function listenAll({ ports, addresses, ...on }: ListenOptions): Promise<Listeners> {
  const open: Server[] = [];
  const failures: string[] = [];
  for (const port of ports) {
    let { local } = port;
    for (const group of addresses) {
      const errors: string[] = [];
      for (const address of group) {
        const server = createServer({ allowHalfOpen: true });
        try {
          server.listen({ host: address, port: local });
          await once(server, 'listening');
        } catch (error) {
          errors.push(`${hostPort(address, local)}: ${reasonOf(error)}`);
          continue;
        }
        // The chosen port is used for every address.
        local = (server.address() as AddressInfo).port;
        const opened = { ...port, local };
        server.on('connection', (socket) => on.onConnection(socket, opened));
        open.push(server);
        on.onOpen(address, opened);
      }
      if (errors.length === group.length) {
        failures.push(`Unable to listen on port ${local}: ${errors.join(', ')}`);
      }
    }
  }
  return { open, failures };
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EADDRNOTAVAIL: 'cannot assign requested address',
  EACCES: 'permission denied',
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return reasons[code] ?? errorMessage(error);
}
