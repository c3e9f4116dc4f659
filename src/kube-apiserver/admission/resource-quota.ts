/**
 * Rejects writes that exceed the quotas of their namespace (upstream: ResourceQuota). This is the last plugin
 * that rejects, so a write that another plugin rejects is not charged. The quotas are read from the cache, as
 * LimitRanges are.
 */
import { evaluatorOf } from '../../api/quota/evaluators.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import { newAlreadyExists, newForbidden } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { KubeContext } from '../context.ts';
import { type ChargedWrite, QuotaCharges } from './quota-charges.ts';

/**
 * Maximum age in milliseconds of a charge that this plugin gives back. The controller
 * (controllers/quotas/resource-quota.ts) may already have given back an older one.
 */
const giveBackWithin = 15_000;

interface Charge {
  readonly write: ChargedWrite;
  /** Monotonic time in milliseconds. */
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

/** Charges a write. Resolves to the charge, if there is one. */
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

/**
 * Returns whether the object exists already; its create must not be charged, because some clients retry
 * creates again and again. It is rejected here, because a moment later the object may be deleted and the
 * create be stored.
 */
async function isThere(
  { cache, store }: Server,
  { definition, namespace, name }: Admission,
): Promise<boolean> {
  const key = storageKey(definition, namespace, name);
  return cache.get(key) !== undefined && (await store.get(key)) !== undefined;
}
