/**
 * Allows a node's metrics through `nodes/NAME/proxy` to users who may `get` nodes/metrics, as the kubelet
 * itself does. The permission nodes/proxy includes them too, but also everything else that a kubelet serves.
 */
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';

/** Paths as they stand in the URL; another spelling does not match. */
const pages: readonly (string | undefined)[] = [
  '/metrics',
  '/metrics/cadvisor',
  '/metrics/dns',
  '/metrics/probes',
  '/metrics/proxy',
  '/metrics/resource',
];

/** `byRoles` authorizes by roles. */
export const nodeMetricsAuthorizer =
  (byRoles: Authorizer): Authorizer =>
  (request) => {
    if (request.type !== 'resource' || request.group !== '' || request.resource !== 'nodes/proxy')
      return false;
    // A name with a scheme or a port may address another program than the kubelet.
    if (request.verb !== 'get' || request.name.includes(':') || !pages.includes(request.rest)) return false;
    return byRoles({ ...request, resource: 'nodes/metrics' });
  };
