/**
 * Writes to the status of each PodDisruptionBudget how many of its pods may be disrupted now. Evictions and
 * preemption obey that number.
 */
import { deploymentResource } from '../../api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../api/apps/v1/replica-set.ts';
import { statefulSetResource } from '../../api/apps/v1/stateful-set.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { replicationControllerResource } from '../../api/core/v1/replication-controller.ts';
import {
  type PodDisruptionBudget,
  podDisruptionBudgetResource,
} from '../../api/policy/v1/pod-disruption-budget.ts';
import { type AccountRights, read, writeEvents } from '../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../apimachinery/equality.ts';
import { matches, selectorFromLabelSelector } from '../../apimachinery/labels.ts';
import { controllerOf, type KubeObject, type ObjectKey, objectKey } from '../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { Lister } from '../../client/informer.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  type Watched,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { type BudgetPlan, planBudget, type ScaleOf } from './disruption-plan.ts';

export const disruptionRights: AccountRights = {
  kubernetes: [
    [read, 'apps extensions', 'deployments'],
    [read, 'apps extensions', 'replicasets'],
    [read, 'core', 'replicationcontrollers'],
    [read, 'policy', 'poddisruptionbudgets'],
    [read, 'apps', 'statefulsets'],
    ['update', 'policy', 'poddisruptionbudgets/status'],
    ['update patch', 'core', 'pods/status'],
    ['get', '*', '*/scale'],
    writeEvents,
  ],
};

type Template = { readonly metadata: { readonly labels?: Record<string, string> | undefined } };
/** An object that declares a desired number of pods. */
type Scaled = KubeObject & { readonly spec: { readonly replicas: number; readonly template: Template } };

const scaledKinds = [
  replicaSetResource,
  deploymentResource,
  statefulSetResource,
  replicationControllerResource,
] as unknown as readonly ResourceDefinition<Scaled>[];

export function disruptionController(context: ControllerContext): ControllerDefinition {
  const { client, clock, events, informers } = context;
  const budgets = informers.informerFor(podDisruptionBudgetResource).lister;
  const pods = informers.informerFor(podResource).lister;
  const scaled = new Map<string, Lister<Scaled>>(
    scaledKinds.map((kind) => [`${apiVersionOf(kind)} ${kind.kind}`, informers.informerFor(kind).lister]),
  );

  const budgetsOf = (namespace: string | undefined, labels: Record<string, string> | undefined) =>
    budgets
      .list(namespace)
      .filter(({ spec }) => matches(selectorFromLabelSelector(spec.selector), labels))
      .map(objectKey);

  /**
   * Returns the scale of a controller. For a ReplicaSet of a Deployment it returns the Deployment's scale, so
   * that old and new pods count as pods of one controller.
   */
  const scaleOf: ScaleOf = (owner, namespace) => {
    const found = scaled.get(`${owner.apiVersion} ${owner.kind}`)?.get(`${namespace}/${owner.name}`);
    if (found?.metadata.uid !== owner.uid) return undefined;
    const above = owner.kind === replicaSetResource.kind ? controllerOf(found) : undefined;
    if (above?.kind === deploymentResource.kind) return scaleOf(above, namespace);
    return { uid: owner.uid, replicas: found.spec.replicas };
  };

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const budget = budgets.get(key);
    if (!budget) return undefined;
    const selector = selectorFromLabelSelector(budget.spec.selector);
    const selected = pods
      .list(budget.metadata.namespace)
      .filter(({ metadata }) => matches(selector, metadata.labels));
    const plan = planBudget(budget, selected, scaleOf, clock.now());
    await carryOut(budget, plan);
    return plan.recheckIn === undefined ? undefined : { requeueAfter: plan.recheckIn };
  }

  async function carryOut(budget: PodDisruptionBudget, { status, toEmit }: BudgetPlan): Promise<void> {
    if (!status) return;
    for (const { about, type, reason, message } of toEmit)
      events.event(about === 'budget' ? budget : about, type, reason, message);
    await write(budget, status);
  }

  /**
   * Writes the status. The write is rejected if an eviction has changed the budget in the meantime; the event
   * of that change enqueues the budget again.
   */
  const write = (budget: PodDisruptionBudget, status: PodDisruptionBudget['status']) =>
    ifPresent(client.resource(podDisruptionBudgetResource).updateStatus({ ...deepCopy(budget), status }));

  const scaleWatches: readonly Watched[] = scaledKinds.map((kind) =>
    watched(kind, ({ metadata, spec }) => budgetsOf(metadata.namespace, spec.template.metadata.labels)),
  );
  return {
    name: 'disruption',
    watches: [
      watched(podDisruptionBudgetResource, (budget) => [objectKey(budget)]),
      watched(podResource, ({ metadata }: Pod) => budgetsOf(metadata.namespace, metadata.labels)),
      ...scaleWatches,
    ],
    reconcile,
  };
}
