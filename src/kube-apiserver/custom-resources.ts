/**
 * Serves an empty list of custom resources. kubectl and Helm ask for it whenever discovery lacks a kind, and
 * without an answer they do not report that the kind does not exist. Discovery does not list it, and nothing
 * can be stored in it.
 */
import { newNotFound, newStatusError } from '../apimachinery/status-error.ts';
import type { ResourceRequest } from '../apiserver/request/request-info.ts';
import { type Headers, respondJson } from '../apiserver/respond.ts';
import type { EngineContext } from '../apiserver/server-context.ts';

const group = 'apiextensions.k8s.io';
const plural = 'customresourcedefinitions';

/**
 * Answers reads of the list; returns undefined for every other kind. Throws a StatusError for any other
 * request.
 */
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
