/**
 * UDP flows that outlive their endpoint: the kernel keeps sending a client's datagrams where its first one went,
 * so the flows to an endpoint that is gone are forgotten (as kube-proxy does; TCP ends by itself). Pure.
 */
import type { Difference } from './element-table.ts';

/** Arguments of conntrack(8) for each set of flows to forget. */
export function staleFlows({ removed, added }: Difference): readonly (readonly string[])[] {
  const commands: string[][] = [];
  for (const [key, endpoint] of removed.endpoints) {
    const [address, protocol, port] = key.split(' . ');
    const [ip] = endpoint.split(' . ');
    if (protocol !== 'udp' || !address || !port || !ip) continue;
    commands.push(['-D', '-p', 'udp', '--orig-dst', address, '--orig-port-dst', port, '--dst-nat', ip]);
  }
  for (const [key, endpoint] of removed['node-port-endpoints']) {
    const [protocol, port] = key.split(' . ');
    const [ip] = endpoint.split(' . ');
    if (protocol !== 'udp' || !port || !ip) continue;
    commands.push(['-D', '-p', 'udp', '--orig-port-dst', port, '--dst-nat', ip]);
  }
  // A client that called while nobody answered has a flow that was never translated.
  for (const key of added.services.keys()) {
    const [address, protocol, port] = key.split(' . ');
    if (protocol !== 'udp' || !address || !port || removed.services.has(key)) continue;
    commands.push(['-D', '-p', 'udp', '--orig-dst', address, '--orig-port-dst', port]);
  }
  return commands;
}
