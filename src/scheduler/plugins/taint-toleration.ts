import type { Node, Taint } from '../../api/core/v1/node.ts';
import type { Toleration } from '../../api/core/v1/pod-spec.ts';
import { maxScore, type Plugin } from '../framework.ts';

export function tolerates(tolerations: readonly Toleration[] | undefined, taint: Taint): boolean {
  return (tolerations ?? []).some((toleration) => {
    if (toleration.effect && toleration.effect !== taint.effect) return false;
    if (toleration.key && toleration.key !== taint.key) return false;
    if (toleration.operator === 'Exists') return true;
    return Boolean(toleration.key) && (toleration.value ?? '') === (taint.value ?? '');
  });
}

/** A node that does not say Ready counts as tainted so: the condition is known before any taint is written. */
function taintsOf(node: Node): readonly Taint[] {
  const taints = node.spec.taints ?? [];
  const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
  if (!ready || ready.status === 'True') return taints;
  const key = ready.status === 'Unknown' ? 'node.kubernetes.io/unreachable' : 'node.kubernetes.io/not-ready';
  if (taints.some((taint) => taint.key === key && taint.effect === 'NoSchedule')) return taints;
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
