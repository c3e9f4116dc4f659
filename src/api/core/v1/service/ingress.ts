/** Rules of the load balancer's status of a Service (upstream: ValidateLoadBalancerStatus). */

import { forbiddenCause, invalidCause } from '../../../../apimachinery/field-error.ts';
import { checkDns1123Subdomain, nameCauses } from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { isAddress } from '../../../../base/addresses.ts';
import { checkIPAddress } from '../../../ip.ts';
import type { Service } from '../types.gen.ts';

export function validateServiceIngress({ spec, status }: Service): StatusCause[] {
  const ingress = status?.loadBalancer.ingress ?? [];
  const path = 'status.loadBalancer.ingress';
  if (spec.type !== 'LoadBalancer' && ingress.length > 0)
    return [forbiddenCause(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  return ingress.flatMap(({ ip, hostname, ipMode }, index) => {
    const at = `${path}[${index}]`;
    return [
      ...(ip ? nameCauses(`${at}.ip`, ip, checkIPAddress) : []),
      ...(ipMode && !ip ? [forbiddenCause(`${at}.ipMode`, 'may not be specified when `ip` is not set')] : []),
      ...(hostname ? nameCauses(`${at}.hostname`, hostname, checkDns1123Subdomain) : []),
      ...(hostname && isAddress(hostname)
        ? [invalidCause(`${at}.hostname`, hostname, 'must be a DNS name, not an IP address')]
        : []),
    ];
  });
}
