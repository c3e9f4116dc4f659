import type { Taint } from '../../api/core/v1/node.ts';
import { taintKeys, tolerates } from '../../api/core/v1/taints.ts';
import type { Plugin } from '../framework.ts';

const cordoned: Taint = { key: taintKeys.unschedulable, effect: 'NoSchedule' };

/** A cordoned node takes only pods that tolerate being there. */
export const nodeUnschedulable: Plugin = {
  name: 'NodeUnschedulable',
  filter: ({ pod }, { node }) =>
    node.spec.unschedulable && !tolerates(pod.spec.tolerations, cordoned)
      ? [{ plugin: 'NodeUnschedulable', text: 'node(s) were unschedulable' }]
      : [],
};
