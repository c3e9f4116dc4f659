/**
 * The variable `request` of expressions, as JSON (upstream: admission/plugin/cel, CreateAdmissionRequest). Empty
 * fields are absent. Pure.
 */
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { UserInfo } from '../../apiserver/request/user.ts';
import type { RequestTarget } from './request-target.ts';

export interface RequestDetails {
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Options of the operation, such as CreateOptions; absent if they are not known. */
  readonly options?: object | undefined;
}

/** `as` is the version of the kind in which the rule of a webhook or policy names it. */
export function requestVariable(
  target: RequestTarget,
  as: ResourceDefinition,
  details: RequestDetails,
): object {
  const { served, subresource, name, namespace, operation } = target;
  const { user, dryRun, options } = details;
  return {
    kind: kindOf(as),
    resource: resourceOf(as),
    ...(subresource && { subResource: subresource, requestSubResource: subresource }),
    requestKind: kindOf(served),
    requestResource: resourceOf(served),
    ...(name && { name }),
    ...(namespace && { namespace }),
    operation,
    userInfo: {
      username: user.name,
      ...(user.uid && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: user.groups }),
      ...(user.extra && Object.keys(user.extra).length > 0 && { extra: user.extra }),
    },
    dryRun,
    ...(options && { options }),
  };
}

const kindOf = ({ group, version, kind }: ResourceDefinition) => ({ group, version, kind });

const resourceOf = ({ group, version, plural }: ResourceDefinition) => ({ group, version, resource: plural });
