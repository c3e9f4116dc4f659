/** Admission plugins that call the webhooks of users, mutating and validating. */
import { mutatingWebhookConfigurationResource } from '../../api/admissionregistration/v1/mutating-webhook-configuration.ts';
import { validatingWebhookConfigurationResource } from '../../api/admissionregistration/v1/validating-webhook-configuration.ts';
import { type ResourceRef, storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { Admission, AdmissionPlugin, SubresourceRequest } from '../../apiserver/admission/plugin.ts';
import type { Aside } from '../../apiserver/load/shed.ts';
import { requestOf, shownObject, subresourceRequestOf } from '../admission-requests/attributes.ts';
import { Reinvocation } from '../admission-requests/plan/reinvocation.ts';
import type { HookedRequest } from '../admission-requests/plan/request.ts';
import { isExempt } from '../admission-requests/plan/rules.ts';
import type { KubeContext } from '../context.ts';
import { applyWebhookPatch } from './apply-patch.ts';
import { callHook, type HookCaller } from './call-hook.ts';
import { WebhookClient } from './client.ts';
import { type Hook, hooksOf } from './plan/hook.ts';
import type { Invocation } from './plan/invocation.ts';
import { noObjectToPatch } from './plan/refusals.ts';
import { invocationsOf } from './selection.ts';
import { serviceDialer } from './service-dialer.ts';

const ignore = () => undefined;
const atOnce: Aside = (wait) => wait();

/** Returns the two plugins; they share the connections to the webhooks. */
export function webhookPlugins(server: KubeContext) {
  const { clock, random, log } = server;
  const client = new WebhookClient(clock, serviceDialer(server));
  const caller: HookCaller = { client, random, log: log.named('webhooks') };
  return { mutating: mutatingWebhooks(server, caller), validating: validatingWebhooks(server, caller) };
}

/** Calls the webhooks one after another: each gets the object as the previous one has left it. */
function mutatingWebhooks(server: KubeContext, caller: HookCaller): AdmissionPlugin {
  const hooks = hookList(server, mutatingWebhookConfigurationResource);
  const rounds = new WeakMap<Admission, Reinvocation>();
  return {
    name: 'MutatingAdmissionWebhook',
    async mutate(admission) {
      const all = hooks();
      if (!isReviewed(server, all, admission)) return undefined;
      const round = rounds.get(admission) ?? new Reinvocation();
      rounds.set(admission, round);
      round.begin(admission.object);
      for (const hook of all) await mutateBy(server, caller, admission, hook, round);
      return round.end(admission.object) ? 'again' : undefined;
    },
    review: (request) =>
      reviewBy(server, hooks(), request, async (invocation, hooked) => {
        const objects = { object: request.body, old: undefined };
        const { warn = ignore } = request;
        const patch = await callHook(caller, { invocation, request: hooked, objects, mutates: true, warn });
        if (patch) throw noObjectToPatch(invocation.hook.name);
      }),
  };
}

const isReviewed = ({ kinds }: KubeContext, hooks: readonly Hook[], admission: Admission): boolean =>
  hooks.length > 0 && !admission.isStep && !isExempt(requestOf(kinds, admission));

async function mutateBy(
  server: KubeContext,
  caller: HookCaller,
  admission: Admission,
  hook: Hook,
  round: Reinvocation,
): Promise<void> {
  if (!round.calls(hook.id)) return;
  const request = requestOf(server.kinds, admission);
  const [invocation] = await invocationsOf(server, [hook], request, admission.object, (found) =>
    shownObjects(server, admission, found),
  );
  if (!invocation) return;
  const { address } = invocation;
  const { warn = ignore, aside = atOnce } = admission;
  const objects = await aside(() => shownObjects(server, admission, invocation));
  const call = { invocation, request, objects, mutates: true, warn };
  const patch = await aside(() => callHook(caller, call));
  const change = { webhook: hook.name, address, shown: objects.object, patch };
  const changed = patch !== undefined && (await applyWebhookPatch(server, admission, { ...change, patch }));
  const { webhook } = hook;
  round.called(hook.id, 'reinvocationPolicy' in webhook ? webhook.reinvocationPolicy : undefined, changed);
}

/** Calls the webhooks at the same time: each gets the object as it will be stored. */
function validatingWebhooks(server: KubeContext, caller: HookCaller): AdmissionPlugin {
  const hooks = hookList(server, validatingWebhookConfigurationResource);
  return {
    name: 'ValidatingAdmissionWebhook',
    async validate(admission) {
      const all = hooks();
      if (!isReviewed(server, all, admission)) return;
      const request = requestOf(server.kinds, admission);
      const invocations = await invocationsOf(server, all, request, admission.object, (found) =>
        shownObjects(server, admission, found),
      );
      const { warn = ignore, aside = atOnce } = admission;
      const call = async (invocation: Invocation) => {
        const objects = await shownObjects(server, admission, invocation);
        return callHook(caller, { invocation, request, objects, mutates: false, warn });
      };
      if (invocations.length > 0) await aside(() => allOf(invocations, call));
    },
    review: (request) =>
      reviewBy(server, hooks(), request, (invocation, hooked) => {
        const objects = { object: request.body, old: undefined };
        const { warn = ignore } = request;
        return callHook(caller, { invocation, request: hooked, objects, mutates: false, warn });
      }),
  };
}

/** Waits for all calls; rejects with the error of the first webhook in the list that has rejected. */
async function allOf(
  invocations: readonly Invocation[],
  call: (invocation: Invocation) => Promise<unknown>,
): Promise<void> {
  const results = await Promise.allSettled(invocations.map(call));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

async function reviewBy(
  server: KubeContext,
  hooks: readonly Hook[],
  request: SubresourceRequest,
  call: (invocation: Invocation, hooked: HookedRequest) => Promise<unknown>,
): Promise<void> {
  if (hooks.length === 0) return;
  const { aside = atOnce } = request;
  const hooked = subresourceRequestOf(server.kinds, request);
  const objects = async () => ({ object: request.body, old: undefined });
  for (const invocation of await invocationsOf(server, hooks, hooked, undefined, objects))
    await aside(() => call(invocation, hooked));
}

/**
 * Returns a function for the webhooks of all configurations of a kind, read once for each revision of them.
 */
function hookList({ cache }: KubeContext, kind: ResourceRef): () => readonly Hook[] {
  const prefix = storagePrefix(kind);
  let known: { readonly of: string; readonly hooks: readonly Hook[] } = { of: '', hooks: [] };
  return () => {
    const found = cache.list(prefix);
    const of = found.map(({ revision }) => revision).join();
    if (of !== known.of)
      known = {
        of,
        hooks: hooksOf(found.map(({ object }) => object as Parameters<typeof hooksOf>[0][number])),
      };
    return known.hooks;
  };
}

const shownObjects = async (server: KubeContext, admission: Admission, { address }: Invocation) => ({
  object: await shownObject(server.kinds, admission, address, admission.object),
  old: await shownObject(server.kinds, admission, address, admission.old),
});
