/** Labels of the namespace of a request, which selectors of webhooks and policies read. */
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import type { Labels } from '../../apimachinery/labels.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { newNotFound } from '../../apimachinery/status-error.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import type { KubeContext } from '../context.ts';
import { type HookedRequest, isNamespace } from './plan/request.ts';

/** Resolves to the labels of the namespace, or of the Namespace that is written. Rejects with 404. */
export async function namespaceLabels(
  server: Pick<KubeContext, 'cache' | 'store'>,
  { address, subresource, operation, namespace }: HookedRequest,
  object: KubeObject | undefined,
): Promise<Labels | undefined> {
  const writesIt = isNamespace(address) && subresource === '' && operation !== 'DELETE';
  if (writesIt && object) return object.metadata.labels;
  const found = await findObject(server, namespaceResource, '', namespace);
  if (!found) throw newNotFound(namespaceResource, namespace);
  return found.metadata.labels;
}
