/** Who may do what. Closed: what no rule allows is refused. */
import type { FieldSelector } from '../../apimachinery/field-selector.ts';
import { mastersGroup, type UserInfo } from '../user.ts';

/** Those of requests, and those that are asked for beside one: of signers, roles and users. */
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
  | 'sign'
  | 'escalate'
  | 'bind'
  | 'impersonate';

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
      /** What follows the subresource, as it stands in the URL: of `proxy`, what is asked for. */
      readonly rest?: string;
      /** Of a list or watch; absent means everything. */
      readonly fieldSelector?: FieldSelector;
      /** Of a list or watch, as it was asked for. */
      readonly labelSelector?: string;
    }
  | { readonly type: 'path'; readonly user: UserInfo; readonly verb: string; readonly path: string };

export interface Decision {
  readonly allowed: boolean;
  /** By what it is allowed, or what was wrong with a rule that might have allowed it; '' where there is nothing to say. */
  readonly reason: string;
}

/** Resolves to true, or to a decision that says so, when the request is allowed. */
export type Authorizer = (request: AccessRequest) => boolean | Decision | Promise<boolean | Decision>;

/** What all rules together say. */
export type Authorize = (request: AccessRequest) => Promise<Decision>;

export const mastersAuthorizer: Authorizer = ({ user }) => user.groups.includes(mastersGroup);

/** Of several reasons for a refusal each is told. */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorize {
  return async (request) => {
    const reasons: string[] = [];
    for (const decide of authorizers) {
      const answer = await decide(request);
      const decision = typeof answer === 'boolean' ? { allowed: answer, reason: '' } : answer;
      if (decision.allowed) return decision;
      if (decision.reason) reasons.push(decision.reason);
    }
    return { allowed: false, reason: reasons.join('\n') };
  };
}

/** The refusal in Kubernetes' words: `User "bob" cannot get resource "pods" in API group "" …`. */
export function refusal(request: AccessRequest, { reason }: Decision): string {
  return reason ? `${refusedRequest(request)}: ${reason}` : refusedRequest(request);
}

function refusedRequest(request: AccessRequest): string {
  const user = `User ${JSON.stringify(request.user.name)}`;
  if (request.type === 'path') return `${user} cannot ${request.verb} path ${JSON.stringify(request.path)}`;
  const where = request.namespace
    ? `in the namespace ${JSON.stringify(request.namespace)}`
    : 'at the cluster scope';
  const { verb, resource, group } = request;
  return `${user} cannot ${verb} resource ${JSON.stringify(resource)} in API group ${JSON.stringify(group)} ${where}`;
}
