/** Allows nodes to download the executable that the master runs, with which they are upgraded. */
import { executableDocument } from '../../api/core/v1/node/upgrade.ts';
import type { Authorizer } from '../../apiserver/authorization/authorizer.ts';
import { nodeNameOf } from '../../apiserver/request/user.ts';

export const nodeExecutableAuthorizer: Authorizer = (request) =>
  request.type === 'path' &&
  request.verb === 'get' &&
  request.path === executableDocument &&
  nodeNameOf(request.user) !== undefined;
