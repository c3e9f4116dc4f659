/**
 * Rules of the addresses in a Pod's status (upstream: validatePodIPs), which the agent of its node writes.
 */
import { invalidCause } from '../../../../apimachinery/field-error.ts';
import { nameCauses } from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { canonicalAddress } from '../../../../base/addresses.ts';
import { checkIPAddress } from '../../../ip.ts';
import type { PodStatus } from '../types.gen.ts';

export function validatePodAddresses({ hostIP, podIP, podIPs = [] }: PodStatus): StatusCause[] {
  const single = Object.entries({ hostIP, podIP }).flatMap(([field, ip]) =>
    ip ? nameCauses(`status.${field}`, ip, checkIPAddress) : [],
  );
  const causes = podIPs.flatMap(({ ip }, index) => nameCauses(`status.podIPs[${index}]`, ip, checkIPAddress));
  const families = podIPs.map(({ ip }) => (canonicalAddress(ip)?.includes(':') ? 'IPv6' : 'IPv4'));
  if (causes.length === 0 && new Set(families).size < families.length)
    causes.push(invalidCause('status.podIPs', podIPs, 'may specify no more than one IP for each IP family'));
  return [...single, ...causes];
}
