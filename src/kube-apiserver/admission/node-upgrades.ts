/**
 * Orders to upgrade a node: an annotation of its Node, which only users with the verb `upgrade` on the Node
 * may set, change or remove. A node may not order its own upgrade.
 */
import { nodeResource } from '../../api/core/v1/node/node.ts';
import { parseUpgradeOrder, upgradeAnnotation } from '../../api/core/v1/node/upgrade.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import { nodeNameOf, type UserInfo } from '../../apiserver/request/user.ts';
import type { KubeContext } from '../context.ts';

export const nodeUpgrades = (server: Pick<KubeContext, 'authorize'>): AdmissionPlugin => ({
  name: 'NodeUpgrades',
  async validate({ definition, object, old, name, user }) {
    if (definition.plural !== nodeResource.plural || definition.group !== nodeResource.group) return;
    const order = orderOf(object);
    if (!object || order === orderOf(old)) return;
    const why = (await mayOrder(server, user, name))
      ? orderProblem(order)
      : 'needs the verb upgrade on the node, which cluster-admin has';
    if (why !== undefined)
      throw newForbidden(nodeResource, name, `the annotation ${upgradeAnnotation} ${why}`);
  },
});

async function mayOrder(
  { authorize }: Pick<KubeContext, 'authorize'>,
  user: UserInfo,
  name: string,
): Promise<boolean> {
  if (nodeNameOf(user) !== undefined) return false;
  const { group, plural: resource } = nodeResource;
  const access = { type: 'resource', user, verb: 'upgrade', group, resource, namespace: '', name } as const;
  return (await authorize(access)).allowed;
}

const orderProblem = (order: string | undefined): string | undefined =>
  order !== undefined && parseUpgradeOrder(order) === undefined
    ? 'is no order: expected what minik8s upgrade --nodes writes'
    : undefined;

const orderOf = (object: Admission['object']): string | undefined =>
  object?.metadata.annotations?.[upgradeAnnotation];
