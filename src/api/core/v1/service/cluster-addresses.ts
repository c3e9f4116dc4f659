/** The cluster IPs that a stored Service has. Pure. */
import { canonicalAddress } from '../../../../base/addresses.ts';
import type { Service } from './service.ts';

/** Returns the cluster IPs in canonical form; none for a headless or an external Service. */
export function clusterAddresses({ spec }: Service): readonly string[] {
  if (spec.type === 'ExternalName' || spec.clusterIP === 'None') return [];
  const written = spec.clusterIPs?.length ? spec.clusterIPs : [spec.clusterIP ?? ''];
  return written.flatMap((ip) => canonicalAddress(ip) ?? []);
}
