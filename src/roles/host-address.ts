/** Which address of this machine others use to reach it. */
import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { addressKind } from '../base/addresses.ts';

/**
 * The address that packets to the outside leave from; on a machine without a way out its first address that is
 * not loopback, or loopback. Nothing is sent: connecting a datagram socket only looks up the route.
 */
export async function hostAddress(): Promise<string> {
  return (await sourceAddress('192.0.2.1')) ?? firstAddress() ?? '127.0.0.1';
}

/** The address that packets to a host (a name or an address) leave from, unless that is this machine itself. */
export async function addressTowards(host: string): Promise<string> {
  const address = await sourceAddress(host);
  return address === undefined || addressKind(address) === 'loopback' ? hostAddress() : address;
}

function sourceAddress(destination: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket('udp4');
    const end = (address: string | undefined) => {
      socket.close();
      resolve(address);
    };
    socket.once('error', () => end(undefined));
    socket.connect(9, destination, () => end(socket.address().address));
  });
}

function firstAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
}
