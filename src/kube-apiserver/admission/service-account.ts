/**
 * Every pod has a ServiceAccount, `default` unless it names one, and takes the image pull secrets of it when it has none of its
 * own (upstream: plugin/pkg/admission/serviceaccount). Tokens are not mounted yet.
 */
import type { Pod } from '../../api/core/v1/pod.ts';
import { defaultAccount, serviceAccountResource } from '../../api/core/v1/service-account.ts';
import type { ServiceAccount } from '../../api/core/v1/types.gen.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { storageKey, storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import { requireNamespace } from './namespace-lifecycle.ts';

/**
 * Milliseconds that a pod waits for the account that a controller makes for each namespace, a moment after the namespace
 * itself. Upstream's is one to two seconds.
 */
export const defaultAccountPatience = 2_000;

type Reader = Pick<ServerContext, 'cache' | 'clock' | 'store' | 'turns'>;

export const serviceAccounts = (server: Reader): AdmissionPlugin => ({
  name: 'ServiceAccount',
  async mutate(admission) {
    const { definition, operation, subresource, name, namespace, object } = admission;
    if (definition.group !== '' || definition.plural !== 'pods' || subresource !== '') return;
    if (operation !== 'create') return;
    const { spec } = object as Pod;
    // Defaults have put the older field, serviceAccount, here.
    const wanted = spec.serviceAccountName || defaultAccount;
    const account =
      (await findObject(server, serviceAccountResource, namespace, wanted)) ??
      (wanted === defaultAccount ? await defaultAccountOf(server, admission) : undefined);
    if (!account) {
      const what = `error looking up service account ${namespace}/${wanted}`;
      throw newForbidden(definition, name, `${what}: serviceaccount "${wanted}" not found`);
    }
    spec.serviceAccountName = wanted;
    spec.serviceAccount = wanted;
    const { imagePullSecrets = [] } = account;
    if (imagePullSecrets.length > 0 && !spec.imagePullSecrets?.length)
      spec.imagePullSecrets = deepCopy(imagePullSecrets);
  },
});

/** The account as soon as the cache has it; undefined when that takes too long. Throws when the namespace went meanwhile. */
async function defaultAccountOf(server: Reader, admission: Admission): Promise<ServiceAccount | undefined> {
  const key = storageKey(serviceAccountResource, admission.namespace, defaultAccount);
  await untilThere(server, key, admission.namespace);
  // Thousands may have waited for the same account: each goes on in a turn of its own.
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
    // It may have come between the look and the watch.
    if (!cache.get(key)) await over.promise;
  } finally {
    timer.cancel();
    stop();
  }
}
