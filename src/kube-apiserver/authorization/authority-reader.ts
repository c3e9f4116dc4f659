/**
 * Authorizes nodes, and machines that become nodes again, to read which authorities the cluster has. Nodes
 * may watch them, too.
 */
import { authorityPath } from '../../api/certificates/v1/conditions.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import {
  expiredNodeNameOf,
  isBootstrapper,
  nodeNameOf,
  type UserInfo,
} from '../../apiserver/request/user.ts';

export const authorityReader: Authorizer = (request) =>
  request.type === 'path' &&
  request.path === authorityPath &&
  (isNode(request.user)
    ? verbsOfNodes.has(request.verb)
    : request.verb === 'get' && maySoonBeNode(request.user));

const verbsOfNodes: ReadonlySet<string> = new Set(['get', 'watch']);
const isNode = (user: UserInfo) => nodeNameOf(user) !== undefined;
const maySoonBeNode = (user: UserInfo) => isBootstrapper(user) || expiredNodeNameOf(user) !== undefined;
