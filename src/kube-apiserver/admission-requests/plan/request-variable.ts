/**
 * The variable `request` of the expressions of webhooks and policies, as JSON (upstream:
 * admission/plugin/cel, CreateAdmissionRequest). Empty fields are absent. Pure.
 */
import type { Address, HookedRequest } from './request.ts';

/** Returns the variable. `address` is the address of the kind in the matching rule. */
export function requestVariable(request: HookedRequest, address: Address): object {
  const { subresource, name, namespace, operation, user, dryRun, options } = request;
  return {
    kind: address.kind,
    resource: resourceOf(address),
    ...(subresource && { subResource: subresource, requestSubResource: subresource }),
    requestKind: request.address.kind,
    requestResource: resourceOf(request.address),
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

const resourceOf = ({ group, version, resource }: Address) => ({ group, version, resource });
