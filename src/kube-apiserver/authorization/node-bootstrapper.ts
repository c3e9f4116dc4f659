/**
 * Authorizes the holder of a bootstrap token to request a certificate and to read that request, and nothing
 * else (upstream's role system:node-bootstrapper allows reading all requests).
 */
import { certificateSigningRequestResource as requests } from '../../api/certificates/v1/certificate-signing-request.ts';
import type { AccessRequest, Authorizer } from '../../apiserver/authorization/authorizer.ts';
import {
  expiredNodeNameOf,
  isBootstrapper,
  nodeNameOf,
  type UserInfo,
} from '../../apiserver/request/user.ts';

/** Returns the user who created a CertificateSigningRequest; undefined if it does not exist. */
export type RequesterLookup = (name: string) => Promise<string | undefined>;

/** Applies to bootstrap tokens, and to nodes that renew their certificates, even expired ones. */
export function bootstrapperAuthorizer(requesterOf: RequesterLookup): Authorizer {
  return async (request) =>
    request.type === 'resource' && asks(request.user) && mayRequest(request, requesterOf);
}

const asks = (user: UserInfo) =>
  isBootstrapper(user) || (nodeNameOf(user) ?? expiredNodeNameOf(user)) !== undefined;

async function mayRequest(
  { group, resource, verb, name, user }: Extract<AccessRequest, { type: 'resource' }>,
  requesterOf: RequesterLookup,
): Promise<boolean> {
  if (group !== requests.group || resource !== requests.plural) return false;
  if (verb === 'create') return true;
  if (name === '' || (verb !== 'get' && verb !== 'list' && verb !== 'watch')) return false;
  // A missing request is answered with 404, which is more informative than 403; watching it is denied.
  return ((await requesterOf(name)) ?? (verb === 'get' ? user.name : undefined)) === user.name;
}
