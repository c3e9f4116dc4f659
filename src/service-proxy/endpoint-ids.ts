/**
 * Identities of the endpoints of one Service port, by which the kernel remembers the endpoint of a client.
 * An identity is derived from the endpoint's address, so that it is the same while other endpoints come and
 * go, and after a restart of the node's agent. Pure.
 */
import { createHash } from 'node:crypto';

/** Identities are smaller than this; the number is a power of two. */
export const endpointIdLimit = 2 ** 23;

/** Endpoint addresses, in the same order for the same set. */
type Address = { readonly ip: string; readonly port: number };

/**
 * Returns the identity of each address. Two addresses with one hash get neighbouring identities, by their
 * order in the list.
 */
export function endpointIds(addresses: readonly Address[]): readonly number[] {
  const taken = new Set<number>();
  return addresses.map(({ ip, port }) => {
    let id = hashOf(`${ip}:${port}`) % endpointIdLimit;
    while (taken.has(id)) id = (id + 1) % endpointIdLimit;
    taken.add(id);
    return id;
  });
}

const hashOf = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE();
