/** Determines the address of this machine that other machines use to reach it. */
import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import { addressKind } from '../base/addresses.ts';

/** Returns true for an address to listen at that stands for all addresses of the machine. */
export const isEveryAddress = (address: string): boolean => address === '0.0.0.0' || address === '::';

/**
 * Returns the source address of packets to the outside; on a machine without a default route, its first
 * address that is not loopback, or loopback. Nothing is sent: connecting a datagram socket only looks up the
 * route.
 */
export async function hostAddress(): Promise<string> {
  return (await sourceAddress('192.0.2.1')) ?? firstAddress() ?? '127.0.0.1';
}

/**
 * Returns the source address of packets to a host (a name or an address), or hostAddress() if that host is
 * this machine.
 */
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
    // Also called with the error of a name that cannot be resolved; the socket then has the address 0.0.0.0.
    const onConnect = (error?: Error | null) => end(error ? undefined : socket.address().address);
    socket.connect(9, destination, onConnect);
  });
}

function firstAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
}
