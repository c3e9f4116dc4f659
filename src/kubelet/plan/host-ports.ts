/** Which ports of the machine lead into a pod. */
import type { Pod } from '../../api/core/v1/pod.ts';
import type { HostPort } from '../pod-network.ts';

/** None for a pod that has no address yet, has ended, or is in the host's network itself. */
export function hostPortsOf({ spec, status }: Pod): readonly HostPort[] {
  const podIP = status?.podIP;
  const ended = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  if (spec.hostNetwork || podIP === undefined || ended) return [];
  return spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ protocol, hostIP = '', hostPort, containerPort }) =>
      hostPort ? [{ protocol, hostIP, hostPort, podIP, containerPort }] : [],
    ),
  );
}

export type WantedPort = Pick<HostPort, 'protocol' | 'hostIP' | 'hostPort'>;

/** The ports that rules would lead into a pod: none of them may be another's. */
export function wantedPortsOf({ spec }: Pod): readonly WantedPort[] {
  if (spec.hostNetwork) return [];
  return spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ protocol, hostIP = '', hostPort }) =>
      hostPort ? [{ protocol, hostIP, hostPort }] : [],
    ),
  );
}
