/**
 * What is created, and what grows, has to fit into the quotas of its namespace (upstream: ResourceQuota). The last of the plugins
 * that refuse: what another refuses takes nothing. The quotas are those that the cache knows, as for LimitRanges.
 */
import { evaluatorOf } from '../../api/quota/evaluator.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import { newAlreadyExists, newForbidden } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { KubeContext } from '../context.ts';
import { type ChargedWrite, QuotaCharges } from './quota-charges.ts';

/**
 * Milliseconds after which it is left to controllers/quotas/resource-quota.ts to give back what was taken: by then that may have been
 * done.
 */
const giveBackWithin = 15_000;

interface Charge {
  readonly write: ChargedWrite;
  /** By the monotonic clock. */
  readonly at: number;
}

type Server = Pick<KubeContext, 'cache' | 'clock' | 'limitedResources' | 'store'>;

export function resourceQuotas(server: Server): AdmissionPlugin {
  const charges = new QuotaCharges(server);
  const taken = new WeakMap<Admission, Charge>();
  return {
    name: 'ResourceQuota',
    async validate(admission) {
      if (admission.namespace === '' || admission.operation === 'delete') return;
      const isLimited = server.limitedResources.length > 0 || charges.hasQuotas(admission.namespace);
      if (!isLimited) return;
      const at = server.clock.monotonic();
      const write = await charge(server, charges, admission);
      if (write && !write.dryRun) taken.set(admission, { write, at });
    },
    notStored(admission) {
      const charge = taken.get(admission);
      if (charge && server.clock.monotonic() - charge.at < giveBackWithin)
        charges.giveBack(admission.namespace, charge.write);
    },
  };
}

/** Resolves to what was taken, if anything was. */
async function charge(
  server: Server,
  charges: QuotaCharges,
  admission: Admission,
): Promise<ChargedWrite | undefined> {
  const { definition, dryRun, name, namespace, object, old, operation, subresource } = admission;
  const evaluator = evaluatorOf(definition);
  if (!evaluator || !object || operation === 'delete' || !evaluator.handles(operation, subresource))
    return undefined;
  if (operation === 'create' && (await isThere(server, admission))) throw newAlreadyExists(definition, name);
  const write: ChargedWrite = {
    evaluator,
    group: definition.group,
    plural: definition.plural,
    object,
    old,
    dryRun: dryRun === true,
    now: server.clock.now(),
    limited: server.limitedResources,
  };
  const refusal = await charges.take(namespace, write);
  if (refusal !== undefined) throw newForbidden(definition, name, refusal);
  return write;
}

/** Then the create must not take anything: some try it again and again. Refused here, for a moment later it may be gone and then be stored. */
async function isThere(
  { cache, store }: Server,
  { definition, namespace, name }: Admission,
): Promise<boolean> {
  const key = storageKey(definition, namespace, name);
  return cache.get(key) !== undefined && (await store.get(key)) !== undefined;
}
