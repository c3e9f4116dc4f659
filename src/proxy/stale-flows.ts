/**
 * UDP flows that outlive their endpoint: the kernel keeps sending a client's datagrams where its first one went,
 * so the flows to an endpoint that is gone are forgotten (as kube-proxy does; TCP ends by itself). Pure.
 */
import type { Difference } from './element-table.ts';

/** Arguments of conntrack(8) for each set of flows to forget. */
export function staleFlows({ removed, added }: Difference): readonly (readonly string[])[] {
  const gone = [...removed.endpoints, ...removed['node-port-endpoints']];
  // A client that sent while there was no endpoint has a flow that was never translated.
  const answered = (['services', 'node-ports'] as const).flatMap((name) =>
    [...added[name].keys()].filter((key) => !removed[name].has(key)),
  );
  return [
    ...gone.flatMap(([key, endpoint]) => deletionOf(key, '--dst-nat', endpoint.replace(/ .*/, ''))),
    ...answered.flatMap((key) => deletionOf(key)),
  ];
}

/** One set of flows, by the key of an element (elements.ts): `ADDRESS . udp . PORT …`, of node ports `udp . PORT …`. */
function deletionOf(key: string, ...endpoint: readonly string[]): readonly (readonly string[])[] {
  const [, address, port] = /^(?:(\S+) \. )?udp \. (\d+)/.exec(key) ?? [];
  if (port === undefined) return [];
  const called = address === undefined ? [] : ['--orig-dst', address];
  return [['-D', '-p', 'udp', ...called, '--orig-port-dst', port, ...endpoint]];
}
