import type { Node, Taint } from '../../api/core/v1/node/node.ts';
import { taintKeys, tolerates } from '../../api/core/v1/node/taints.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { changedNode } from '../cluster-events.ts';
import type { Plugin } from '../framework.ts';

const cordoned: Taint = { key: taintKeys.unschedulable, effect: 'NoSchedule' };

const name = 'NodeUnschedulable';
const rejected = [{ plugin: name, text: 'node(s) were unschedulable', unresolvable: true }] as const;

const refuses = ({ spec }: Node, pod: Pod) =>
  spec.unschedulable && !tolerates(pod.spec.tolerations, cordoned);

/** Rejects cordoned nodes for pods that do not tolerate the taint. */
export const nodeUnschedulable: Plugin = {
  name,
  filter: ({ pod }, { node }) => (refuses(node, pod) ? rejected : []),
  helps: (event, { pod }) => {
    const node = changedNode(event, 'cordon');
    return node !== undefined && !refuses(node.node, pod);
  },
};
