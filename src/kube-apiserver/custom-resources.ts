/**
 * There are no custom resources. kubectl and Helm ask which there are as soon as they meet a kind that discovery does not
 * have, and without an answer they never come to say that there is no such kind. So the list is served, and is empty;
 * discovery does not name it, and nothing can be put into it.
 */
import { newNotFound, newStatusError } from '../apimachinery/status-error.ts';
import type { ResourceRequest } from '../apiserver/request-info.ts';
import { type Headers, respondJson } from '../apiserver/respond.ts';
import type { EngineContext } from '../apiserver/server-context.ts';

const group = 'apiextensions.k8s.io';
const plural = 'customresourcedefinitions';

/** Undefined for every other kind. Throws a StatusError for what is more than a look. */
export function answerCustomResources(
  { cache }: EngineContext,
  method: string,
  watch: boolean,
  info: ResourceRequest,
  headers: Headers,
): Response | undefined {
  if (info.group !== group || info.version !== 'v1' || info.plural !== plural || info.namespace)
    return undefined;
  if (info.name && (method === 'GET' || method === 'HEAD')) throw newNotFound({ group, plural }, info.name);
  if (watch || (method !== 'GET' && method !== 'HEAD')) {
    throw newStatusError(
      'MethodNotAllowed',
      'minik8s does not support custom resources: discovery lists the kinds it serves',
    );
  }
  const metadata = { resourceVersion: String(cache.revision) };
  const list = { kind: 'CustomResourceDefinitionList', apiVersion: `${group}/v1`, metadata, items: [] };
  return respondJson(200, list, headers);
}
