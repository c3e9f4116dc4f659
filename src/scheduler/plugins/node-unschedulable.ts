import type { Taint } from '../../api/core/v1/node.ts';
import type { Plugin } from '../framework.ts';
import { tolerates } from './taint-toleration.ts';

const cordoned: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** A cordoned node takes only pods that tolerate being there. */
export const nodeUnschedulable: Plugin = {
  name: 'NodeUnschedulable',
  filter: ({ pod }, { node }) =>
    node.spec.unschedulable && !tolerates(pod.spec.tolerations, cordoned)
      ? [{ plugin: 'NodeUnschedulable', text: 'node(s) were unschedulable' }]
      : [],
};
