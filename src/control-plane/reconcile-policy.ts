/**
 * Creates the roles and bindings of the system when a server starts, including those that a newer version
 * adds (upstream: the hook rbac/bootstrap-roles). Masters that start at the same time get conflicts, after
 * which each reads the objects again.
 */
import { storageKey } from '../apimachinery/resource-definition.ts';
import { isAlreadyExists, isConflict, isNotFound, isTooManyRequests } from '../apimachinery/status-error.ts';
import type { Client } from '../client/client.ts';
import { ifPresent } from '../controller-runtime/if-present.ts';
import {
  bootstrapPolicy,
  type PolicyKind,
  type PolicyObject,
  type PolicySources,
} from '../kube-apiserver/rbac/bootstrap/policy-objects.ts';
import { planReconciliation } from '../kube-apiserver/rbac/bootstrap/reconcile-plan.ts';
import type { Cache } from '../storage/cache.ts';

/**
 * Rejects with the error for an object that cannot be written. `cache` has the existing objects; `sources`
 * are what the roles are derived from. Returns the names of objects for which the store has
 * no room: a server must start all the same, since room is made through it.
 */
export async function reconcilePolicy(
  client: Client,
  cache: Cache,
  sources: PolicySources,
): Promise<readonly string[]> {
  const unwritten: string[] = [];
  for (const objects of bootstrapPolicy(sources)) {
    await Promise.all(
      objects.map(async (object) => {
        const { namespace = '', name } = object.draft.metadata;
        const known = cache.get(storageKey(object.ref, namespace, name))?.object;
        try {
          await reconcile(client, object, known as PolicyKind | undefined);
        } catch (error) {
          if (!isTooManyRequests(error)) throw error;
          unwritten.push(name);
        }
      }),
    );
  }
  return unwritten;
}

/** Maximum number of tries, since other masters may write first. */
const attempts = 5;

/** Errors after which another master's write is read, and the object is reconciled again. */
const isBeaten = (error: unknown) => isAlreadyExists(error) || isConflict(error) || isNotFound(error);

async function reconcile(client: Client, object: PolicyObject, known: PolicyKind | undefined): Promise<void> {
  const { namespace = '', name } = object.draft.metadata;
  for (let existing = known, attempt = 1; ; attempt++) {
    try {
      return await writeOnce(client, object, existing);
    } catch (error) {
      if (!isBeaten(error) || attempt === attempts) throw error;
      existing = await ifPresent(client.resource(object.ref).get(name, namespace));
    }
  }
}

async function writeOnce(
  client: Client,
  { ref, draft }: PolicyObject,
  existing: PolicyKind | undefined,
): Promise<void> {
  const api = client.resource(ref);
  const { namespace = '', name } = draft.metadata;
  const plan = existing && planReconciliation(draft, existing);
  if (plan?.type === 'none') return;
  if (plan?.type === 'update') {
    await api.update(plan.object as PolicyKind);
    return;
  }
  if (plan) await api.delete(name, namespace, { preconditions: { uid: plan.uid } });
  await api.create(draft);
}
