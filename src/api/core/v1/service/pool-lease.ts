/**
 * The Leases of addresses of the pool. The controller creates one for each address that a Service has; the
 * node that holds it answers for the address in the local network. Pure.
 */

import type { ObjectKey } from '../../../../apimachinery/meta.ts';
import { bytesOfAddress, canonicalAddress } from '../../../../base/addresses.ts';
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

/**
 * Returns the form of an address in the name of its Lease, such as `192.0.2.7`. A name has no colons, and no
 * dash at its end, so `2001:db8::7` becomes `2001-db8-0-0-0-0-0-7`.
 */
export function poolAddressText(address: string): string {
  const bytes = bytesOfAddress(address);
  if (bytes?.length !== 16) return address;
  const groups = Array.from({ length: 8 }, (_, index) => bytes.slice(2 * index, 2 * index + 2));
  return groups.map(([high = 0, low = 0]) => (256 * high + low).toString(16)).join('-');
}

export const poolLeaseName = (address: string): string => `${prefix}${poolAddressText(address)}`;

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
