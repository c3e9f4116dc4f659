/** Addresses of the names that Services of the type ExternalName have, without those of the node itself. */
import { Resolver } from 'node:dns/promises';
import { addressKind } from '../../../base/addresses.ts';

/** Resolves to the addresses of a name. Rejects if there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Returns a function that queries this DNS server. */
export function resolverOf(server: string): Resolve {
  const resolver = new Resolver({ timeout: 2000, tries: 1 });
  resolver.setServers([server]);
  return (name) => resolver.resolve4(name);
}

/**
 * Resolves to the addresses by name. A name that does not resolve keeps its last addresses. Addresses that
 * only this machine reaches are left out: the web server runs in the machine's own network.
 */
export async function addressesOf(
  names: Iterable<string>,
  before: ReadonlyMap<string, readonly string[]>,
  resolve: Resolve,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const entries = await Promise.all(
    Array.from(names, async (name): Promise<[string, readonly string[]]> => {
      const found = await resolve(name).catch(() => before.get(name) ?? []);
      return [name, found.filter(isReachable).toSorted()];
    }),
  );
  return new Map(entries);
}

const isReachable = (address: string) => addressKind(address) === 'unicast';
