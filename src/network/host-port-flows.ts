/**
 * UDP flows that outlive a rule for a port of this machine: the kernel keeps sending a client's datagrams
 * where its first one went, so those flows are deleted (as the portmap plugin of CNI does; TCP ends by
 * itself). Pure.
 */
import type { HostPort } from '../base/host-port.ts';

/**
 * Returns arguments of conntrack(8) for each set of flows to delete, once `after` is in force in place of
 * `before`. A client that sent while nothing had the port has a flow without a translation, so a port that
 * is new loses all its flows.
 */
export function staleHostPortFlows(
  before: readonly HostPort[],
  after: readonly HostPort[],
): readonly (readonly string[])[] {
  const kept = new Set(after.map(keyOf));
  const known = new Set(before.map(keyOf));
  return [
    ...before
      .filter((port) => !kept.has(keyOf(port)))
      .flatMap((port) => deletionOf(port, '--dst-nat', port.podIP)),
    ...after.filter((port) => !known.has(keyOf(port))).flatMap((port) => deletionOf(port)),
  ];
}

const keyOf = ({ protocol, hostIP, hostPort, podIP, containerPort }: HostPort) =>
  `${protocol} ${hostIP} ${hostPort} ${podIP} ${containerPort}`;

function deletionOf({ protocol, hostIP, hostPort }: HostPort, ...target: readonly string[]): string[][] {
  if (protocol !== 'UDP') return [];
  const called = hostIP === '' ? [] : ['--orig-dst', hostIP];
  return [['-D', '-p', 'udp', ...called, '--orig-port-dst', String(hostPort), ...target]];
}
