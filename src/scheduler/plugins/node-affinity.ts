import type { Node } from '../../api/core/v1/node/node.ts';
import { requiredNodes, suitsTerm } from '../../api/core/v1/node/selection.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { changedNode } from '../cluster-events.ts';
import { normalizeByMaximum, type Plugin } from '../framework.ts';

const name = 'NodeAffinity';
const rejected = [
  { plugin: name, text: "node(s) didn't match Pod's node affinity/selector", unresolvable: true },
] as const;

const preferredOf = ({ spec }: Pod) =>
  spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];

/**
 * Filters and scores nodes by a pod's nodeSelector and node affinity (k8s.io/component-helpers
 * scheduling/corev1/nodeaffinity).
 */
export const nodeAffinity: Plugin<(node: Node) => boolean> = {
  name,
  preFilter: ({ pod: { spec } }) => {
    const required = requiredNodes(spec);
    return required ? { state: required.suits, ...(required.names && { nodes: required.names }) } : 'skip';
  },
  filter: (_pod, { node }, suits) => (suits(node) ? [] : rejected),
  helps: (event, { pod }) => {
    const node = changedNode(event, 'labels');
    return node !== undefined && (requiredNodes(pod.spec)?.suits(node.node) ?? true);
  },
  preScore: ({ pod }) => (preferredOf(pod).length > 0 ? { state: undefined } : 'skip'),
  score: ({ pod }, { node }) =>
    preferredOf(pod).reduce(
      (sum, { weight, preference }) => (suitsTerm(preference, node) ? sum + weight : sum),
      0,
    ),
  normalize: (scores) => normalizeByMaximum(scores),
  weight: 2,
};
