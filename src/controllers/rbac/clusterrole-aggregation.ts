/**
 * Sets the rules of ClusterRoles with an aggregationRule to the rules of the selected roles. The dependencies
 * between roles are not known in advance and may be cyclic, so every change reconciles all roles.
 */
import { clusterRoleResource } from '../../api/rbac/v1/cluster-role.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import type { ClusterRole } from '../../api/rbac/v1/types.gen.ts';
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

export const clusterRoleAggregationRights: AccountRights = {
  kubernetes: [['escalate get list watch update patch', 'rbac.authorization.k8s.io', 'clusterroles']],
};

export function clusterRoleAggregation({ client, informers }: ControllerContext): ControllerDefinition {
  const roles = informers.informerFor(clusterRoleResource).lister;

  async function aggregate(role: ClusterRole, all: readonly ClusterRole[]): Promise<void> {
    const rules = isTerminating(role) ? undefined : planAggregation(role, all);
    if (!rules) return;
    const { name, uid, resourceVersion } = role.metadata;
    const body = { metadata: { uid, resourceVersion }, rules };
    // A concurrent change arrives as an event.
    await ifPresent(
      tolerate(client.resource(clusterRoleResource).patch(name, '', 'merge', body), isConflict),
    );
  }

  return {
    name: 'clusterrole-aggregation',
    workers: 1,
    watches: [watched(clusterRoleResource, () => ['all'])],
    async reconcile() {
      const all = roles.list();
      const failures: unknown[] = [];
      for (const role of all) {
        try {
          await aggregate(role, all);
        } catch (error) {
          // A role that cannot be written does not block the others.
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
      return undefined;
    },
  };
}
