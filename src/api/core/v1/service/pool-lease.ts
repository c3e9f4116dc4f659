/**
 * The Leases of addresses of the pool. The controller creates one for each address that a Service has; the
 * node that holds it answers for the address in the local network. Pure.
 */

import type { ObjectKey } from '../../../../apimachinery/meta.ts';
import { canonicalAddress, dashedAddress } from '../../../../base/addresses.ts';
import type { Lease } from '../../../coordination/v1/lease.ts';

export const poolLeaseNamespace = 'kube-system';

/** Label of the Leases, with the end of their name as its value. */
export const poolAddressLabel = 'minik8s.io/load-balancer-address';

/** Annotation of the Leases: namespace and name of the Service that has the address. */
export const poolServiceAnnotation = 'minik8s.io/load-balancer-service';

/** Scope of a list or watch of these Leases. */
export const poolLeaseScope = { namespace: poolLeaseNamespace, labelSelector: poolAddressLabel } as const;

/** Seconds without a renewal after which another node takes the Lease over. */
export const poolLeaseSeconds = 2;

const prefix = 'load-balancer.';

export const poolLeaseName = (address: string): string => `${prefix}${dashedAddress(address)}`;

/** Returns true for the name of a Lease of an address. */
export function isPoolLeaseName(name: string): boolean {
  const address = canonicalAddress(addressIn(name));
  return address !== undefined && name === poolLeaseName(address);
}

/**
 * Returns the canonical address of a Lease; its name is the authority, since it cannot change. Returns the
 * end of a name that has no address.
 */
export function addressOfLease({ metadata: { name } }: Pick<Lease, 'metadata'>): string {
  const text = addressIn(name);
  return canonicalAddress(text) ?? text;
}

const addressIn = (name: string): string => name.slice(prefix.length).replaceAll('-', ':');

/** Returns the key of the Service that has the address. */
export const serviceOfLease = ({ metadata }: Pick<Lease, 'metadata'>): ObjectKey =>
  metadata.annotations?.[poolServiceAnnotation] ?? '';
