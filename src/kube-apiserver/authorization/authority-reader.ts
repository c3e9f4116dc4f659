/** Authorizes nodes, and machines that become nodes again, to read which authorities the cluster has. */
import { authorityPath } from '../../api/certificates/v1/conditions.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import { expiredNodeNameOf, isBootstrapper, nodeNameOf } from '../../apiserver/request/user.ts';

export const authorityReader: Authorizer = (request) =>
  request.type === 'path' &&
  request.path === authorityPath &&
  request.verb === 'get' &&
  (isBootstrapper(request.user) ||
    (nodeNameOf(request.user) ?? expiredNodeNameOf(request.user)) !== undefined);
