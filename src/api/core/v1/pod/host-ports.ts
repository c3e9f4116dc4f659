/** The host ports of pods: no two pods on a node can use the same port of the same address. */

import { addressKind, canonicalAddress } from '../../../../base/addresses.ts';
import { servingContainers } from '../container/init-containers.ts';
import type { Pod } from '../types.gen.ts';

export interface HostPort {
  /** Undefined for all addresses of the node. */
  readonly ip: string | undefined;
  readonly protocol: string;
  readonly port: number;
}

export function hostPorts({ spec }: Pod): HostPort[] {
  return servingContainers(spec).flatMap((container) =>
    (container.ports ?? []).flatMap(({ hostPort, containerPort, hostIP, protocol }) => {
      const port = hostPort || (spec.hostNetwork && containerPort);
      return port ? [{ ip: addressOf(hostIP), protocol, port }] : [];
    }),
  );
}

/** Returns a canonical address; undefined for all addresses, in any spelling. */
const addressOf = (hostIP: string | undefined) =>
  hostIP && addressKind(hostIP) !== 'unspecified' ? canonicalAddress(hostIP) : undefined;

export function portsConflict(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === undefined || b.ip === undefined;
}
