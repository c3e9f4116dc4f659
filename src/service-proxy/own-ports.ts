/** Ports of load balancers on which a process of this machine listens: the process keeps them. Pure. */
import { listenersIn } from '../os/listeners.ts';

/** Owner of the elements about own ports; no Service has an empty key. */
export const ownPortsOwner = '';

/** Milliseconds after which the proxy looks again, since the kernel does not report new listeners. */
export const lookAgainMs = 10_000;

/**
 * Returns the wanted ports, such as `tcp . 80`, that a socket in the output of `ss -Hlntu` has. A socket of a
 * loopback address has none: the port of a load balancer is one of the node's other addresses.
 */
export function heldPorts(output: string, wanted: ReadonlySet<string>): ReadonlySet<string> {
  const held = listenersIn(output, () => ({}))
    .filter(({ address }) => !isLoopback(address))
    .map(({ protocol, port }) => `${protocol} . ${port}`);
  return new Set(held.filter((port) => wanted.has(port)).sort());
}

const isLoopback = (address: string): boolean =>
  address.startsWith('127.') || address === '[::1]' || address.startsWith('[::ffff:127.');
