/** What the Leases of masters say of their machines. Pure. */
import { isIPv4 } from '../../../base/addresses.ts';
import type { Lease } from './lease.ts';

/** Upstream labels its API servers' Leases so (kube-apiserver's identity leases). */
export const masterLabel = 'apiserver.kubernetes.io/identity';
/** On the Lease: the host name that is in the master's certificate. */
export const hostnameAnnotation = 'minik8s.io/hostname';

/** Where a master is reached. */
export interface MasterAddress {
  readonly address: string;
  readonly port: number;
}

/** Names and addresses that no other machine may claim. */
export interface MasterPlace {
  readonly address: string;
  /** Undefined when its Lease does not say. */
  readonly hostname: string | undefined;
}

/** The addresses and host names of the masters that have a Lease. */
export const placesOf = (leases: readonly Lease[]): MasterPlace[] =>
  leases.flatMap(({ metadata, spec }) => {
    const address = addressIn(spec.holderIdentity)?.address;
    if (address === undefined || metadata.labels?.[masterLabel] === undefined) return [];
    return [{ address, hostname: metadata.annotations?.[hostnameAnnotation] }];
  });

/** The address and port that a master calls itself by; undefined for another text. */
export function addressIn(identity: string | undefined): MasterAddress | undefined {
  const [, address, port] = identity?.match(/^([\d.]+):(\d+)$/) ?? [];
  return address !== undefined && isIPv4(address) ? { address, port: Number(port) } : undefined;
}
