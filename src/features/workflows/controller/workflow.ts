/** Keeps the definition of each Workflow, counts its running runs, and deletes ended ones. */
import { controllerRevisionResource } from '../../../api/apps/v1/controller-revision.ts';
import type { AccountRights } from '../../../api/rbac/v1/rule-rows.ts';
import { deepEqual } from '../../../apimachinery/equality.ts';
import { isTerminating, type KubeObject, type ObjectKey, objectKey } from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { rfc3339 } from '../../../base/clock.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { type Workflow, workflowResource } from '../api/workflow.ts';
import { workflowRunResource } from '../api/workflow-run.ts';
import { keepDefinition, revisionLabel } from './definitions.ts';
import { planWorkflow } from './workflow-plan.ts';

export const workflowRights: AccountRights = {
  own: [
    ['get list watch', 'minik8s.io', 'workflows'],
    ['update', 'minik8s.io', 'workflows/status'],
    ['get list watch', 'minik8s.io', 'workflowruns'],
    ['get list watch create delete', 'apps', 'controllerrevisions'],
  ],
};

const byWorkflow = 'runs of a workflow';
const ofWorkflow = 'revisions of a workflow';
/**
 * Milliseconds between two reconciles of a workflow, so that simultaneous changes of many runs are handled
 * together.
 */
const restMs = 1000;

export function workflowController(context: ControllerContext): ControllerDefinition {
  const { client, clock, informers } = context;
  const workflows = informers.informerFor(workflowResource).lister;
  const runs = informers.informerFor(workflowRunResource);
  runs.addIndex(byWorkflow, ({ metadata, spec }) => [`${metadata.namespace}/${spec.workflow}`]);
  const revisions = informers.informerFor(controllerRevisionResource);
  revisions.addIndex(ofWorkflow, ({ metadata }) => {
    const name = metadata.labels?.[revisionLabel];
    return name === undefined ? [] : [`${metadata.namespace}/${name}`];
  });
  const looked = new Map<ObjectKey, number>();

  async function remove<T extends KubeObject>(kind: ResourceRef<T>, object: T): Promise<void> {
    const { name, namespace, uid } = object.metadata;
    const options = { preconditions: { uid }, propagationPolicy: 'Background' } as const;
    await ifPresent(client.resource(kind).delete(name, namespace, options));
  }

  async function reconcile(key: ObjectKey): Promise<ReconcileResult | undefined> {
    const workflow = workflows.get(key);
    if (!workflow || isTerminating(workflow)) {
      looked.delete(key);
      return undefined;
    }
    const left = (looked.get(key) ?? Number.NEGATIVE_INFINITY) + restMs - clock.monotonic();
    if (left > 0) return { requeueAfter: left };
    looked.set(key, clock.monotonic());
    return reconcileWorkflow(key, workflow);
  }

  async function reconcileWorkflow(key: ObjectKey, workflow: Workflow): Promise<ReconcileResult | undefined> {
    const { name: current } = await keepDefinition(client, revisions.lister, workflow);
    const now = clock.now();
    const plan = planWorkflow(workflow, {
      runs: runs.lister.byIndex(byWorkflow, key),
      revisions: revisions.lister.byIndex(ofWorkflow, key),
      current,
      now,
      timestamp: rfc3339(now),
    });
    if (!deepEqual(plan.status, workflow.status)) {
      await ifPresent(client.resource(workflowResource).updateStatus({ ...workflow, status: plan.status }));
    }
    for (const run of plan.remove) await remove(workflowRunResource, run);
    for (const revision of plan.forget) await remove(controllerRevisionResource, revision);
    return plan.again === undefined ? undefined : { requeueAfter: plan.again };
  }

  return {
    name: 'workflow',
    workers: 4,
    watches: [
      watched(workflowResource, (workflow) => [objectKey(workflow)]),
      watched(workflowRunResource, ({ metadata, spec }) => [`${metadata.namespace}/${spec.workflow}`]),
    ],
    reconcile,
  };
}
