/** Selection of the webhooks that a request calls: rules, selectors, and match conditions. */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { namespaceLabels } from '../admission-requests/namespace-labels.ts';
import type { HookedRequest } from '../admission-requests/plan/request.ts';
import type { ShownObjects } from '../admission-requests/plan/shown-objects.ts';
import type { KubeContext } from '../context.ts';
import { meetsConditions } from './conditions.ts';
import type { Hook } from './plan/hook.ts';
import { asksForNamespace, type Invocation, invocationOf, selectsNamespace } from './plan/invocation.ts';

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
  objectsOf: (invocation: Invocation) => Promise<ShownObjects>,
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
