/**
 * Gives ClusterRoles with an aggregationRule the rules of those that it selects. Which depends on which is not known before, and may go
 * in circles, so with every change all are looked at.
 */
import { clusterRoleResource } from '../../api/rbac/v1/cluster-role.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { isConflict } from '../../apimachinery/status-error.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../controller-runtime/definition.ts';
import { ifPresent } from '../../controller-runtime/if-present.ts';
import { tolerate } from '../../controller-runtime/tolerate.ts';
import { planAggregation } from './clusterrole-aggregation-plan.ts';

export function clusterRoleAggregation({ client, informers }: ControllerContext): ControllerDefinition {
  const roles = informers.informerFor(clusterRoleResource).lister;
  return {
    name: 'clusterrole-aggregation',
    workers: 1,
    watches: [watched(clusterRoleResource, () => ['all'])],
    async reconcile() {
      const all = roles.list();
      const failures: unknown[] = [];
      for (const role of all) {
        const rules = isTerminating(role) ? undefined : planAggregation(role, all);
        if (!rules) continue;
        const { name, uid, resourceVersion } = role.metadata;
        const body = { metadata: { uid, resourceVersion }, rules };
        try {
          // What came between arrives as an event.
          await ifPresent(
            tolerate(client.resource(clusterRoleResource).patch(name, '', 'merge', body), isConflict),
          );
        } catch (error) {
          // One that cannot be written does not keep the others waiting.
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
      return undefined;
    },
  };
}
