/**
 * A node's metrics through `nodes/NAME/proxy` are for who may `get` nodes/metrics, as they are at the node's agent. nodes/proxy, which
 * allows it too, allows all else that an agent does.
 */
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';

/** As they stand in the URL: one that is written in another way is none of these. */
const pages: readonly (string | undefined)[] = [
  '/metrics',
  '/metrics/cadvisor',
  '/metrics/dns',
  '/metrics/probes',
  '/metrics/proxy',
  '/metrics/resource',
];

/** `byRoles` says what roles allow. */
export const nodeMetricsAuthorizer =
  (byRoles: Authorizer): Authorizer =>
  (request) => {
    if (request.type !== 'resource' || request.group !== '' || request.resource !== 'nodes/proxy')
      return false;
    // A name with a scheme or a port may be another program than the agent.
    if (request.verb !== 'get' || request.name.includes(':') || !pages.includes(request.rest)) return false;
    return byRoles({ ...request, resource: 'nodes/metrics' });
  };
