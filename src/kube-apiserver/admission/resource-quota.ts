/**
 * What is created, and what grows, has to fit into the quotas of its namespace (upstream: ResourceQuota). The last of the plugins
 * that refuse: what another refuses takes nothing. The quotas are those that the cache knows, as for LimitRanges.
 */
import { evaluatorOf } from '../../api/quota/evaluator.ts';
import { storageKey } from '../../apimachinery/resource-definition.ts';
import { newAlreadyExists, newForbidden } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import type { KubeContext } from '../context.ts';
import { QuotaCharges } from './quota-charges.ts';

type Server = Pick<KubeContext, 'cache' | 'clock' | 'limitedResources' | 'store'>;

export function resourceQuotas(server: Server): AdmissionPlugin {
  const charges = new QuotaCharges(server);
  return {
    name: 'ResourceQuota',
    validate(admission) {
      if (admission.namespace === '' || admission.operation === 'delete') return;
      const isLimited = server.limitedResources.length > 0 || charges.hasQuotas(admission.namespace);
      return isLimited ? charge(server, charges, admission) : undefined;
    },
  };
}

async function charge(server: Server, charges: QuotaCharges, admission: Admission): Promise<void> {
  const { definition, dryRun, name, namespace, object, old, operation, subresource } = admission;
  const evaluator = evaluatorOf(definition);
  if (!evaluator || !object || operation === 'delete' || !evaluator.handles(operation, subresource)) return;
  if (operation === 'create' && (await isThere(server, admission))) throw newAlreadyExists(definition, name);
  const refusal = await charges.take(namespace, {
    evaluator,
    group: definition.group,
    plural: definition.plural,
    object,
    old,
    dryRun: dryRun === true,
    now: server.clock.now(),
    limited: server.limitedResources,
  });
  if (refusal !== undefined) throw newForbidden(definition, name, refusal);
}

/** Then the create must not take anything: some try it again and again. Refused here, for a moment later it may be gone and then be stored. */
async function isThere(
  { cache, store }: Server,
  { definition, namespace, name }: Admission,
): Promise<boolean> {
  const key = storageKey(definition, namespace, name);
  return cache.get(key) !== undefined && (await store.get(key)) !== undefined;
}
