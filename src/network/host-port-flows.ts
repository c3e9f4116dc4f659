/**
 * UDP flows that outlive a rule for a host port: the kernel keeps sending a client's datagrams to the target
 * of the first one, so those flows are deleted (as the portmap plugin of CNI does; TCP connections end by
 * themselves). Pure.
 */
import type { HostPort } from '../api/core/v1/pod/forwarded-port.ts';

/**
 * Returns arguments of conntrack(8) for each set of flows to delete, once `after` has replaced `before`. A
 * client that sent datagrams to an unused port has a flow without a translation, so all flows of a new port
 * are deleted.
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

function deletionOf(
  { protocol, hostIP, hostPort, podIP }: HostPort,
  ...target: readonly string[]
): string[][] {
  if (protocol !== 'UDP') return [];
  const called = hostIP === '' ? [] : ['--orig-dst', hostIP];
  const family = podIP.includes(':') ? ['-f', 'ipv6'] : [];
  return [['-D', '-p', 'udp', ...called, '--orig-port-dst', String(hostPort), ...target, ...family]];
}
