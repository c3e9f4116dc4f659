import type { Node, Taint } from '../../api/core/v1/node/node.ts';
import { taintKeys, tolerates } from '../../api/core/v1/node/taints.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { changedNode } from '../cluster-events.ts';
import { normalizeByMaximum, type Plugin } from '../framework.ts';

/**
 * Returns the taints of a node. A node that does not report Ready counts as tainted: the condition is known
 * before any taint is written, and a node that has not reported yet, or waits for its approval, may never run
 * a pod.
 */
function taintsOf(node: Node): readonly Taint[] {
  const found = known.get(node);
  if (found) return found;
  const taints = readTaints(node);
  known.set(node, taints);
  return taints;
}

const known = new WeakMap<Node, readonly Taint[]>();

function readTaints(node: Node): readonly Taint[] {
  const taints = node.spec.taints ?? [];
  const ready = node.status?.conditions?.find((condition) => condition.type === 'Ready');
  if (ready?.status === 'True') return taints;
  const key = ready?.status === 'Unknown' ? taintKeys.unreachable : taintKeys.notReady;
  return [...taints, { key, effect: 'NoSchedule' }];
}

/** Returns the first taint that the pod does not tolerate. */
export const untolerated = (node: Node, pod: Pod): Taint | undefined =>
  taintsOf(node).find((one) => one.effect !== 'PreferNoSchedule' && !tolerates(pod.spec.tolerations, one));

export const taintToleration: Plugin = {
  name: 'TaintToleration',
  filter: ({ pod }, { node }) => {
    const taint = untolerated(node, pod);
    if (!taint) return [];
    const text = `node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`;
    return [{ plugin: 'TaintToleration', text, unresolvable: true }];
  },
  helps: (event, { pod }) => {
    const node = changedNode(event, 'taints', 'readiness');
    return node !== undefined && !untolerated(node.node, pod);
  },
  preScore: (_pod, nodes) =>
    nodes.some(({ node }) => node.spec.taints?.some(({ effect }) => effect === 'PreferNoSchedule'))
      ? { state: undefined }
      : 'skip',
  /** Returns the number of PreferNoSchedule taints that the pod does not tolerate. */
  score: ({ pod }, { node }) =>
    taintsOf(node).filter(
      (taint) => taint.effect === 'PreferNoSchedule' && !tolerates(pod.spec.tolerations, taint),
    ).length,
  normalize: (scores) => normalizeByMaximum(scores, { reverse: true }),
  weight: 3,
};
