/** Which ports of the machine lead into a pod. */

import type { Pod } from '../../api/core/v1/pod.ts';
import { isTerminalPhase } from '../../api/core/v1/pod-conditions.ts';
import { addressKind, canonicalAddress, isIPv4 } from '../../base/addresses.ts';
import type { HostPort } from '../../base/host-port.ts';

/** None for a pod that has no address yet, has ended, or is in the host's network itself. */
export function hostPortsOf({ spec, status }: Pod): readonly HostPort[] {
  const podIP = status?.podIP;
  if (spec.hostNetwork || podIP === undefined || isTerminalPhase(status?.phase)) return [];
  return spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, containerPort, ...port }) =>
      portsAt({ ...port, hostPort }).map((wanted) => ({ ...wanted, podIP, containerPort })),
    ),
  );
}

export type WantedPort = Pick<HostPort, 'protocol' | 'hostIP' | 'hostPort'>;

/** The host ports for which rules will be made: no other process may listen on them. */
export function wantedPortsOf({ spec }: Pod): readonly WantedPort[] {
  if (spec.hostNetwork) return [];
  return spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort = 0, ...port }) => portsAt({ ...port, hostPort })),
  );
}

/** Pods have IPv4 addresses, so nothing leads into one from an address of IPv6. */
function portsAt({
  protocol,
  hostIP = '',
  hostPort,
}: Omit<WantedPort, 'hostIP'> & { readonly hostIP?: string | undefined }): readonly WantedPort[] {
  const address = canonicalAddress(hostIP) ?? '';
  if (!hostPort) return [];
  if (address === '' || addressKind(address) === 'unspecified') return [{ protocol, hostIP: '', hostPort }];
  return isIPv4(address) ? [{ protocol, hostIP: address, hostPort }] : [];
}
