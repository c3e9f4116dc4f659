/**
 * The Leases of addresses of the pool. The controller creates one for each address that a Service has; the
 * node that holds it answers for the address in the local network. Pure.
 */

import type { ObjectKey } from '../../../../apimachinery/meta.ts';
import { isIPv4 } from '../../../../base/addresses.ts';
import type { Lease } from '../../../coordination/v1/lease.ts';

export const poolLeaseNamespace = 'kube-system';

/** Label of the Leases, with the address as its value. */
export const poolAddressLabel = 'minik8s.io/load-balancer-address';

/** Annotation of the Leases: namespace and name of the Service that has the address. */
export const poolServiceAnnotation = 'minik8s.io/load-balancer-service';

/** Scope of a list or watch of these Leases. */
export const poolLeaseScope = { namespace: poolLeaseNamespace, labelSelector: poolAddressLabel } as const;

/** Seconds without a renewal after which another node takes the Lease over. */
export const poolLeaseSeconds = 2;

const prefix = 'load-balancer.';

export const poolLeaseName = (address: string): string => `${prefix}${address}`;

/** Returns true for the name of a Lease of an address. */
export const isPoolLeaseName = (name: string): boolean =>
  name.startsWith(prefix) && isIPv4(name.slice(prefix.length));

/** Returns the address of a Lease; its name is the authority, since it cannot change. */
export const addressOfLease = ({ metadata: { name } }: Pick<Lease, 'metadata'>): string =>
  name.slice(prefix.length);

/** Returns the key of the Service that has the address. */
export const serviceOfLease = ({ metadata }: Pick<Lease, 'metadata'>): ObjectKey =>
  metadata.annotations?.[poolServiceAnnotation] ?? '';
