/**
 * UDP flows that outlive their endpoint: the kernel keeps sending a client's datagrams to the target of the
 * first one, so the flows to a removed endpoint are deleted (as kube-proxy does; TCP connections end by
 * themselves). Pure.
 */
import type { AddressFamily } from '../base/address-families.ts';
import type { Difference } from './element-table.ts';

/** Returns arguments of conntrack(8) for each set of a family's flows to delete. */
export function staleFlows(
  { removed, added }: Difference,
  family: AddressFamily = 'IPv4',
): readonly (readonly string[])[] {
  const gone = [...removed.endpoints, ...removed['node-port-endpoints']];
  // A client that sent datagrams while there was no endpoint has a flow without a translation.
  const answered = (['services', 'node-ports', 'balancer-ports'] as const).flatMap((name) =>
    [...added[name].keys()].filter((key) => !removed[name].has(key)),
  );
  // Without the option, conntrack deletes flows of IPv4.
  const ofFamily = family === 'IPv4' ? [] : ['-f', 'ipv6'];
  return [
    ...gone.flatMap(([key, endpoint]) => deletionOf(key, '--dst-nat', endpoint.replace(/ .*/, ''))),
    ...answered.flatMap((key) => deletionOf(key)),
  ].map((args) => [...args, ...ofFamily]);
}

/**
 * Returns the deletion of one set of flows, by the key of an element (elements.ts): `ADDRESS . udp . PORT …`,
 * for node ports `udp . PORT …`.
 */
function deletionOf(key: string, ...endpoint: readonly string[]): readonly (readonly string[])[] {
  const [, address, port] = /^(?:(\S+) \. )?udp \. (\d+)/.exec(key) ?? [];
  if (port === undefined) return [];
  const called = address === undefined ? [] : ['--orig-dst', address];
  return [['-D', '-p', 'udp', ...called, '--orig-port-dst', port, ...endpoint]];
}
