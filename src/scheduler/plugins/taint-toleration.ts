import type { Node, Taint } from '../../api/core/v1/node.ts';
import { taintKeys, tolerates } from '../../api/core/v1/taints.ts';
import { maxScore, type Plugin } from '../framework.ts';

/**
 * A node that does not say Ready counts as tainted so: the condition is known before any taint is written, and a
 * node that has said nothing yet, or waits for its approval, may never run anything.
 */
function taintsOf(node: Node): readonly Taint[] {
  const taints = node.spec.taints ?? [];
  const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
  if (ready?.status === 'True') return taints;
  const key = ready?.status === 'Unknown' ? taintKeys.unreachable : taintKeys.notReady;
  return [...taints, { key, effect: 'NoSchedule' }];
}

export const taintToleration: Plugin = {
  name: 'TaintToleration',
  filter: ({ pod }, { node }) => {
    const taint = taintsOf(node).find(
      (one) => one.effect !== 'PreferNoSchedule' && !tolerates(pod.spec.tolerations, one),
    );
    if (!taint) return [];
    return [
      {
        plugin: 'TaintToleration',
        text: `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`,
      },
    ];
  },
  score: ({ pod }, { node }) => {
    const unwelcome = taintsOf(node).filter(
      (taint) => taint.effect === 'PreferNoSchedule' && !tolerates(pod.spec.tolerations, taint),
    );
    return maxScore / (1 + unwelcome.length);
  },
};
