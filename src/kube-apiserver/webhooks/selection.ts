/** Selection of the webhooks that a request calls: rules, selectors, and match conditions. */
import { namespaceResource } from '../../api/core/v1/namespace.ts';
import type { Labels } from '../../apimachinery/labels.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { newNotFound } from '../../apimachinery/status-error.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import type { KubeContext } from '../context.ts';
import { meetsConditions } from './conditions.ts';
import type { Hook } from './plan/hook.ts';
import { type HookedRequest, isNamespace } from './plan/request.ts';
import type { ReviewedObjects } from './plan/review.ts';
import { asksForNamespace, type Invocation, invocationOf, selectsNamespace } from './plan/rules.ts';

type Server = Pick<KubeContext, 'authorize' | 'cache' | 'store'>;

/**
 * Resolves to the calls that the request needs. Rejects with 404 if its namespace does not exist, and with
 * 403 if a condition fails.
 */
export async function invocationsOf(
  server: Server,
  hooks: readonly Hook[],
  request: HookedRequest,
  object: KubeObject | undefined,
  objectsOf: (invocation: Invocation) => Promise<ReviewedObjects>,
): Promise<Invocation[]> {
  const selected = await inNamespace(server, hooks, request, object);
  const called: Invocation[] = [];
  for (const invocation of selected)
    if (await meetsConditions(server, invocation, request, () => objectsOf(invocation)))
      called.push(invocation);
  return called;
}

async function inNamespace(
  server: Server,
  hooks: readonly Hook[],
  request: HookedRequest,
  object: KubeObject | undefined,
): Promise<readonly Invocation[]> {
  const matching = hooks.flatMap((hook) => invocationOf(hook, request) ?? []);
  if (!matching.some(({ hook }) => asksForNamespace(hook, request))) return matching;
  const labels = await namespaceLabels(server, request, object);
  return matching.filter(({ hook }) => !asksForNamespace(hook, request) || selectsNamespace(hook, labels));
}

/** Resolves to the labels of the namespace, or of the Namespace that is written. Rejects with 404. */
export async function namespaceLabels(
  server: Pick<Server, 'cache' | 'store'>,
  { address, subresource, operation, namespace }: HookedRequest,
  object: KubeObject | undefined,
): Promise<Labels | undefined> {
  const writesIt = isNamespace(address) && subresource === '' && operation !== 'DELETE';
  if (writesIt && object) return object.metadata.labels;
  const found = await findObject(server, namespaceResource, '', namespace);
  if (!found) throw newNotFound(namespaceResource, namespace);
  return found.metadata.labels;
}
