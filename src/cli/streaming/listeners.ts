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
      const opened = await openGroup(group, { ...port, local }, on);
      open.push(...opened.servers);
      local = opened.local;
      if (opened.errors.length === group.length || opened.isTaken)
        failures.push(`Unable to listen on port ${local}: ${opened.errors.join(', ')}`);
    }
  }
  return { open, failures };
}

interface OpenedGroup {
  readonly servers: readonly Server[];
  /** One text for each address that could not be opened. */
  readonly errors: readonly string[];
  /**
   * True if another process has the port at one of the addresses: a client that connects to `localhost` could
   * reach that process.
   */
  readonly isTaken: boolean;
  /** Local port; for port 0 the chosen port, which is used for every later address. */
  readonly local: number;
}

/** Listens on each address of a group. */
async function openGroup(
  group: readonly string[],
  port: ForwardedPort,
  on: Pick<ListenOptions, 'onOpen' | 'onConnection'>,
): Promise<OpenedGroup> {
  const servers: Server[] = [];
  const errors: string[] = [];
  let { local } = port;
  let isTaken = false;
  for (const address of group) {
    const server = createServer({ allowHalfOpen: true });
    try {
      server.listen({ host: address, port: local });
      await once(server, 'listening');
    } catch (error) {
      errors.push(`${hostPort(address, local)}: ${reasonOf(error)}`);
      isTaken ||= codeOf(error) === 'EADDRINUSE';
      continue;
    }
    local = (server.address() as AddressInfo).port;
    const opened = { ...port, local };
    server.on('connection', (socket) => on.onConnection(socket, opened));
    servers.push(server);
    on.onOpen(address, opened);
  }
  return { servers, errors, isTaken, local };
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'address already in use',
  EADDRNOTAVAIL: 'cannot assign requested address',
  EACCES: 'permission denied',
};

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : '';

const reasonOf = (error: unknown): string => reasons[codeOf(error)] ?? errorMessage(error);
