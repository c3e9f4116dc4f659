/**
 * Roles for the Gateway API: editors of a namespace may write routes, policies and grants there. Gateways
 * open ports of all nodes, so editors may only read them.
 */
import { read, write } from '../../api/rbac/v1/rule-rows.ts';
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';

const group = 'gateway.networking.k8s.io';

export const gatewayRoles: FeatureRoles = {
  view: [
    [
      read,
      group,
      'gateways gateways/status httproutes httproutes/status grpcroutes grpcroutes/status backendtlspolicies backendtlspolicies/status referencegrants',
    ],
  ],
  edit: [[write, group, 'httproutes grpcroutes backendtlspolicies referencegrants']],
};
