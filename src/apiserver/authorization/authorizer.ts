/** Authorization. Access is denied unless an authorizer allows it. */
import type { FieldSelector } from '../../apimachinery/field-selector.ts';
import { mastersGroup, type UserInfo } from '../request/user.ts';

/** Verbs of requests, and further verbs that are authorized in a request: on signers, roles and users. */
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
  /** OPTIONS of a proxy has no verb: only users who may do everything are allowed to use it. */
  | ''
  | 'sign'
  | 'escalate'
  | 'bind'
  | 'impersonate';

export type AccessRequest =
  | {
      readonly type: 'resource';
      readonly user: UserInfo;
      /** A Verb, or any other word that an access review contains. */
      readonly verb: string;
      readonly group: string;
      /** Plural name, with the subresource if there is one, such as `pods/log`. */
      readonly resource: string;
      readonly namespace: string;
      /** Name of the object. A list or watch has one if its field selector requires one `metadata.name`. */
      readonly name: string;
      /**
       * Rest of the path after the subresource, as it stands in the URL: for `proxy`, the path at the target.
       */
      readonly rest?: string;
      /** Field selector of a list or watch; absent means everything. */
      readonly fieldSelector?: FieldSelector;
      /** Label selector of a list or watch, as the client sent it. */
      readonly labelSelector?: string;
    }
  | { readonly type: 'path'; readonly user: UserInfo; readonly verb: string; readonly path: string };

export interface Decision {
  readonly allowed: boolean;
  /**
   * The rule that allows the request, or the error of a rule that might have allowed it; '' if there is
   * nothing to report.
   */
  readonly reason: string;
}

/** Resolves to true, or to a decision with `allowed`, if the request is allowed. */
export type Authorizer = (request: AccessRequest) => boolean | Decision | Promise<boolean | Decision>;

/** Returns the decision of all authorizers together. */
export type Authorize = (request: AccessRequest) => Promise<Decision>;

export const mastersAuthorizer: Authorizer = ({ user }) => user.groups.includes(mastersGroup);

/** Combines authorizers: the first that allows decides. A denial contains the reasons of all authorizers. */
export function unionAuthorizer(authorizers: readonly Authorizer[]): Authorize {
  return async (request) => {
    const reasons: string[] = [];
    for (const decide of authorizers) {
      const decision = decisionOf(await decide(request));
      if (decision.allowed) return decision;
      if (decision.reason) reasons.push(decision.reason);
    }
    return { allowed: false, reason: reasons.join('\n') };
  };
}

const decisionOf = (answer: boolean | Decision): Decision =>
  typeof answer === 'boolean' ? { allowed: answer, reason: '' } : answer;

/** Returns the denial in Kubernetes' words: `User "bob" cannot get resource "pods" in API group "" …`. */
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
