/**
 * Sets the ServiceAccount of every pod, `default` unless the pod names one. The pod uses the account's image
 * pull secrets if it has none of its own, and its containers get a token of the account (upstream:
 * plugin/pkg/admission/serviceaccount).
 */

import { mirrorAnnotation } from '../../api/core/v1/pod/annotations.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { podReferences } from '../../api/core/v1/pod/references.ts';
import { defaultAccount, serviceAccountResource } from '../../api/core/v1/service-account/service-account.ts';
import type { ServiceAccount } from '../../api/core/v1/types.gen.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { storageKey, storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import { mountToken } from './account-token-volume.ts';
import { ephemeralProblem, secretProblem } from './mountable-secrets.ts';
import { requireNamespace } from './namespace-lifecycle.ts';

/**
 * Milliseconds for which a pod waits for the default account, which a controller creates in each namespace a
 * moment after the namespace itself. Upstream waits one to two seconds.
 */
export const defaultAccountPatience = 2_000;

type Reader = Pick<ServerContext, 'cache' | 'clock' | 'random' | 'store' | 'turns'>;

export const serviceAccounts = (server: Reader): AdmissionPlugin => ({
  name: 'ServiceAccount',
  async mutate(admission) {
    const { definition, operation, subresource } = admission;
    if (definition.group !== '' || definition.plural !== 'pods') return;
    if (subresource === 'ephemeralcontainers' && operation === 'update')
      return checkEphemeral(server, admission);
    if (subresource === '' && operation === 'create') return setAccount(server, admission);
  },
});

async function setAccount(server: Reader, admission: Admission): Promise<void> {
  const { definition, name, object } = admission;
  const pod = object as Pod;
  if (pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return checkMirror(pod, admission);
  const account = await accountOf(server, admission, pod);
  useAccount(pod, account, server.random);
  const problem = secretProblem(pod, account);
  if (problem) throw newForbidden(definition, name, problem);
}

/** Gives the pod the account, with its token and its secrets for images. */
function useAccount({ spec }: Pod, account: ServiceAccount, random: Reader['random']): void {
  const { name: wanted } = account.metadata;
  spec.serviceAccountName = wanted;
  spec.serviceAccount = wanted;
  const { automountServiceAccountToken: ofAccount = true, imagePullSecrets = [] } = account;
  if (spec.automountServiceAccountToken ?? ofAccount) mountToken(spec, random);
  if (imagePullSecrets.length > 0 && !spec.imagePullSecrets?.length)
    spec.imagePullSecrets = deepCopy(imagePullSecrets);
}

/** Rejects ephemeral containers that need a Secret that the pod itself may not use. */
async function checkEphemeral(server: Reader, admission: Admission): Promise<void> {
  const pod = admission.object as Pod;
  const problem = ephemeralProblem(pod, await accountOf(server, admission, pod));
  if (problem) throw newForbidden(admission.definition, admission.name, problem);
}

/** Returns the account of the pod. Throws Forbidden (403) if it does not exist. */
async function accountOf(server: Reader, admission: Admission, { spec }: Pod): Promise<ServiceAccount> {
  const { definition, name, namespace } = admission;
  // Defaults have copied the older field, serviceAccount, here.
  const wanted = spec.serviceAccountName || defaultAccount;
  const account =
    (await findObject(server, serviceAccountResource, namespace, wanted)) ??
    (wanted === defaultAccount ? await defaultAccountOf(server, admission) : undefined);
  if (account) return account;
  const what = `error looking up service account ${namespace}/${wanted}`;
  throw newForbidden(definition, name, `${what}: serviceaccount "${wanted}" not found`);
}

/**
 * Checks a mirror pod, which stays unchanged; it must not need anything that only this server could provide.
 */
function checkMirror(pod: Pod, { definition, name }: Admission): void {
  const refuse = (what: string) => newForbidden(definition, name, `a mirror pod may not ${what}`);
  if (pod.spec.serviceAccountName) throw refuse('reference service accounts');
  if (podReferences(pod).secrets.size > 0) throw refuse('reference secrets');
  const sources = (pod.spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? []);
  if (sources.some((source) => source.serviceAccountToken))
    throw refuse('use ServiceAccountToken volume projections');
}

/**
 * Returns the default account as soon as the cache has it; undefined after the timeout. Throws if the
 * namespace was deleted meanwhile.
 */
async function defaultAccountOf(server: Reader, admission: Admission): Promise<ServiceAccount | undefined> {
  const key = storageKey(serviceAccountResource, admission.namespace, defaultAccount);
  await untilThere(server, key, admission.namespace);
  // Thousands of pods may wait for the same account: each continues in a turn of its own.
  await server.turns.next();
  await requireNamespace(server, admission);
  return server.cache.get(key)?.object as ServiceAccount | undefined;
}

async function untilThere({ cache, clock }: Reader, key: string, namespace: string): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = clock.after(defaultAccountPatience, over.resolve);
  const prefix = storagePrefix(serviceAccountResource, namespace);
  const stop = cache.watch(prefix, cache.revision, {
    onEvents: () => cache.get(key) && over.resolve(),
    onExpired: over.resolve,
  });
  try {
    // The account may have been created between the first read and the watch.
    if (!cache.get(key)) await over.promise;
  } finally {
    timer.cancel();
    stop();
  }
}
