/** Host ports that are forwarded into a pod. */

import { servingContainers } from '../../../api/core/v1/container/init-containers.ts';
import { isTerminalPhase } from '../../../api/core/v1/pod/conditions.ts';
import type { HostPort } from '../../../api/core/v1/pod/forwarded-port.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Container } from '../../../api/core/v1/types.gen.ts';
import { addressKind, canonicalAddress } from '../../../base/addresses.ts';

/**
 * Returns the pod's host ports; none for a pod that has no address yet, has ended, or is in the host's
 * network itself.
 */
export function hostPortsOf({ spec, status }: Pod): readonly HostPort[] {
  const podIP = status?.podIP;
  if (spec.hostNetwork || podIP === undefined || isTerminalPhase(status?.phase)) return [];
  return portsOf(spec).flatMap((port) =>
    portsAt(port).map((wanted) => ({ ...wanted, podIP, containerPort: port.containerPort })),
  );
}

export type WantedPort = Pick<HostPort, 'protocol' | 'hostIP' | 'hostPort'>;

/** The host ports for which rules will be made: no other process may listen on them. */
export const wantedPortsOf = ({ spec }: Pod): readonly WantedPort[] =>
  spec.hostNetwork ? [] : portsOf(spec).flatMap(portsAt);

type ContainerPort = NonNullable<Container['ports']>[number];

const portsOf = (spec: Pod['spec']): readonly ContainerPort[] =>
  servingContainers(spec).flatMap(({ ports = [] }) => ports);

/**
 * Returns the port at its host address. An invalid address is not treated as all addresses.
 */
function portsAt({ protocol, hostIP, hostPort }: ContainerPort): readonly WantedPort[] {
  if (!hostPort) return [];
  const everywhere = { protocol, hostIP: '', hostPort };
  if (!hostIP || addressKind(hostIP) === 'unspecified') return [everywhere];
  const address = canonicalAddress(hostIP);
  return address === undefined ? [] : [{ ...everywhere, hostIP: address }];
}
