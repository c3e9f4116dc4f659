/**
 * Orders to upgrade a machine: an annotation of its Node, or of the master's Lease, which only users with the
 * verb `upgrade` on that object may set, change or remove. A node may not order its own upgrade.
 */
import { leaseResource } from '../../api/coordination/v1/lease.ts';
import { nodeResource } from '../../api/core/v1/node/node.ts';
import { parseUpgradeOrder, upgradeAnnotation } from '../../api/core/v1/node/upgrade.ts';
import { newForbidden } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import { nodeNameOf, type UserInfo } from '../../apiserver/request/user.ts';
import type { KubeContext } from '../context.ts';

export const nodeUpgrades = (server: Pick<KubeContext, 'authorize'>): AdmissionPlugin => ({
  name: 'NodeUpgrades',
  async validate({ definition, object, old, name, namespace, user }) {
    const resource = ordered.find(
      (one) => one.plural === definition.plural && one.group === definition.group,
    );
    if (resource === undefined) return;
    const order = orderOf(object);
    if (!object || order === orderOf(old)) return;
    const why = (await mayOrder(server, user, { resource, namespace, name }))
      ? orderProblem(order)
      : `needs the verb upgrade on the ${resource.singular}, which cluster-admin has`;
    if (why !== undefined) throw newForbidden(resource, name, `the annotation ${upgradeAnnotation} ${why}`);
  },
});

/** Kinds whose objects represent machines. */
const ordered = [nodeResource, leaseResource];

interface OrderedObject {
  readonly resource: (typeof ordered)[number];
  readonly namespace: string;
  readonly name: string;
}

async function mayOrder(
  { authorize }: Pick<KubeContext, 'authorize'>,
  user: UserInfo,
  { resource: { group, plural: resource }, namespace, name }: OrderedObject,
): Promise<boolean> {
  if (nodeNameOf(user) !== undefined) return false;
  const access = { type: 'resource', user, verb: 'upgrade', group, resource, namespace, name } as const;
  return (await authorize(access)).allowed;
}

const orderProblem = (order: string | undefined): string | undefined =>
  order !== undefined && parseUpgradeOrder(order) === undefined
    ? 'is not an upgrade order: expected the value that minik8s upgrade --nodes writes'
    : undefined;

const orderOf = (object: Admission['object']): string | undefined =>
  object?.metadata.annotations?.[upgradeAnnotation];
