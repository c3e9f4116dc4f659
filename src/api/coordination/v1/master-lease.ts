/** Data about masters' machines in their Leases. Pure. */

import { isIPv4 } from '../../../base/addresses.ts';
import type { Lease } from './types.gen.ts';

/** Label with which upstream marks the Leases of API servers (kube-apiserver's identity leases). */
export const masterLabel = 'apiserver.kubernetes.io/identity';
/** Annotation of the Lease: the host name in the master's certificate. */
export const hostnameAnnotation = 'minik8s.io/hostname';
/** Annotation of the Lease: the version of minik8s that the master runs. */
export const versionAnnotation = 'minik8s.io/version';

/** Address at which a master is reachable. */
export interface MasterAddress {
  readonly address: string;
  readonly port: number;
}

/** Name and address of a master, which no other machine may claim. */
export interface MasterPlace {
  readonly address: string;
  /** Undefined when the Lease has no host name. */
  readonly hostname: string | undefined;
}

/** Returns the addresses and host names of the masters that have a Lease. */
export const placesOf = (leases: readonly Lease[]): MasterPlace[] =>
  leases.flatMap(({ metadata, spec }) => {
    const address = addressIn(spec.holderIdentity)?.address;
    if (address === undefined || metadata.labels?.[masterLabel] === undefined) return [];
    return [{ address, hostname: metadata.annotations?.[hostnameAnnotation] }];
  });

/** Returns the address and port in a master's identity; undefined for another text. */
export function addressIn(identity: string | undefined): MasterAddress | undefined {
  const [, address, port] = identity?.match(/^([\d.]+):(\d+)$/) ?? [];
  return address !== undefined && isIPv4(address) ? { address, port: Number(port) } : undefined;
}
