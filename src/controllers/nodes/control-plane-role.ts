/**
 * Labels the node of this process with the role control-plane, which clients display. The node cannot do so
 * itself, because a kubelet may not set labels of node-role.kubernetes.io (upstream: NodeRestriction). The
 * node gets no taint, since pods run there.
 */
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import type { AccountRights } from '../../api/rbac/v1/rule-rows.ts';
import { isTerminating, type ObjectKey } from '../../apimachinery/meta.ts';
import { type ControllerFactory, watched } from '../../controller-runtime/definition.ts';

export const controlPlaneRoleRights: AccountRights = {
  kubernetes: [['get list watch patch', 'core', 'nodes']],
};

const roleLabel = 'node-role.kubernetes.io/control-plane';

/** Creates the controller. `ownNode` is the name of the node in this process. */
export function controlPlaneRole(ownNode: string): ControllerFactory {
  return ({ client, informers }) => {
    const nodes = informers.informerFor(nodeResource).lister;
    const concerned = ({ metadata }: Node): ObjectKey[] => (metadata.name === ownNode ? [ownNode] : []);
    return {
      name: 'control-plane-role',
      watches: [watched(nodeResource, concerned)],
      async reconcile(key) {
        const node = nodes.get(key);
        if (node === undefined || isTerminating(node) || node.metadata.labels?.[roleLabel] !== undefined)
          return;
        const { uid } = node.metadata;
        const patch = { metadata: { uid, labels: { [roleLabel]: '' } } };
        await client.resource(nodeResource).patch(key, '', 'merge', patch);
      },
    };
  };
}
