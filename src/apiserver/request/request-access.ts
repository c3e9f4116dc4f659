/** The access that a request for a resource requires, and the load that it counts as. */
import {
  type FieldSelector,
  parseFieldSelector,
  requiredFieldValue,
} from '../../apimachinery/field-selector.ts';
import { booleanParameter } from '../../apimachinery/list-options.ts';
import { newStatusError } from '../../apimachinery/status-error.ts';
import type { CountedRequest } from '../load/shed.ts';
import { sortOf } from '../load/sort-of.ts';
import type { RequestEnv } from '../options.ts';
import type { Subresource } from '../subresources/subresources.ts';
import { verbOf } from '../verbs/verbs.ts';
import type { RequestInfo, ResourceRequest } from './request-info.ts';
import type { UserInfo } from './user.ts';

/**
 * Returns the load that a request counts as, and its verb; undefined for a path that is no resource unless
 * `watchesDocument` is set, and for a method that the API does not support.
 */
export function loadOf(
  method: string,
  info: RequestInfo,
  subresource: Subresource | undefined,
  query: URLSearchParams,
  user: UserInfo,
  env: RequestEnv | undefined,
  watchesDocument = false,
): CountedRequest & { readonly verb: string | undefined } {
  const watch = booleanParameter(query, 'watch') ?? false;
  const follow = booleanParameter(query, 'follow') ?? false;
  const ofPath = watchesDocument ? 'watch' : undefined;
  const verb = info.type === 'resource' ? verbOf(method, info, watch, subresource) : ofPath;
  const sort = sortOf({ user, info, verb, follow, longRunning: subresource?.longRunning });
  return { user, verb, sort, onClosed: env?.onClosed };
}

/**
 * Returns the access that a request for a resource requires. Throws 405 for a method that the API does not
 * support.
 */
export function accessOf(
  method: string,
  info: ResourceRequest,
  subresource: Subresource | undefined,
  query: URLSearchParams,
  user: UserInfo,
) {
  const watch = booleanParameter(query, 'watch') ?? false;
  const verb = verbOf(method, info, watch, subresource);
  if (verb === undefined) {
    throw newStatusError(
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
    );
  }
  // A Namespace object also counts as being in its own namespace, so that a Role in that namespace can grant
  // access to it.
  const namespace = info.plural === 'namespaces' ? info.namespace || info.name : info.namespace;
  const resource = info.subresource ? `${info.plural}/${info.subresource}` : info.plural;
  const fieldSelector = verb === 'list' || verb === 'watch' ? selectorOf(query) : [];
  const labelSelector = query.get('labelSelector') ?? '';
  const name = info.name || (requiredFieldValue(fieldSelector, 'metadata.name') ?? '');
  const { group, rest } = info;
  return {
    type: 'resource',
    user,
    verb,
    group,
    resource,
    namespace,
    name,
    rest,
    fieldSelector,
    labelSelector,
  } as const;
}

/** Returns an empty selector for an invalid one, which is rejected later when the request is served. */
function selectorOf(query: URLSearchParams): FieldSelector {
  try {
    return parseFieldSelector(query.get('fieldSelector') ?? '');
  } catch {
    return [];
  }
}
