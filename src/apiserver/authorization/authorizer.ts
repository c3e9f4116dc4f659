/** Who may do what. Closed: what no rule allows is refused. */
import type { FieldSelector } from '../../apimachinery/field-selector.ts';
import { authenticatedGroup, mastersGroup, type UserInfo } from '../user.ts';

/** Those of requests, and the two that are asked for beside one (upstream: the resource `signers`). */
export type Verb =
  | 'get'
  | 'list'
  | 'watch'
  | 'create'
  | 'update'
  | 'patch'
  | 'delete'
  | 'deletecollection'
  | 'approve'
  /** OPTIONS of a proxy has no verb: it is for those who may do everything. */
  | ''
  | 'sign';

export type AccessRequest =
  | {
      readonly type: 'resource';
      readonly user: UserInfo;
      /** One of Verb, or whatever word an access review asks about. */
      readonly verb: string;
      readonly group: string;
      /** With its subresource, such as `pods/log`. */
      readonly resource: string;
      readonly namespace: string;
      /** Also of a list or watch whose field selector asks for one `metadata.name`. */
      readonly name: string;
      /** Of a list or watch; absent means everything. */
      readonly fieldSelector?: FieldSelector;
    }
  | { readonly type: 'path'; readonly user: UserInfo; readonly verb: string; readonly path: string };

/** Resolves to true when the request is allowed. */
export type Authorizer = (request: AccessRequest) => boolean | Promise<boolean>;

export const mastersAuthorizer: Authorizer = ({ user }) => user.groups.includes(mastersGroup);

/** Discovery, versions and the OpenAPI documents are for every authenticated user. */
export const openPaths = ['/api', '/apis', '/openapi', '/version', '/healthz', '/livez', '/readyz'];

export const discoveryAuthorizer: Authorizer = (request) =>
  request.type === 'path' &&
  isAuthenticated(request.user) &&
  request.verb === 'get' &&
  (request.path === '/' || openPaths.some((p) => request.path === p || request.path.startsWith(`${p}/`)));

/** Everybody who makes a request is; an access review may ask about somebody who is not. */
export const isAuthenticated = ({ groups }: UserInfo) => groups.includes(authenticatedGroup);

export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorizer {
  return async (request) => {
    for (const allows of authorizers) if (await allows(request)) return true;
    return false;
  };
}

/** The refusal in Kubernetes' words: `User "bob" cannot get resource "pods" in API group "" …`. */
export function refusal(request: AccessRequest): string {
  const user = `User ${JSON.stringify(request.user.name)}`;
  if (request.type === 'path') return `${user} cannot ${request.verb} path ${JSON.stringify(request.path)}`;
  const where = request.namespace
    ? `in the namespace ${JSON.stringify(request.namespace)}`
    : 'at the cluster scope';
  const { verb, resource, group } = request;
  return `${user} cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${where}`;
}
