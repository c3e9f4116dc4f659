import type { Node } from '../../api/core/v1/node.ts';
import type { NodeSelectorTerm } from '../../api/core/v1/types.gen.ts';
import { type LabelOperator, type Labels, matches, selectorFromMap } from '../../apimachinery/labels.ts';
import { maxScore, type Plugin } from '../framework.ts';

/** By the labels a pod selects, and by its affinity to nodes (k8s.io/component-helpers scheduling/corev1/nodeaffinity). */
export const nodeAffinity: Plugin = {
  name: 'NodeAffinity',
  filter: ({ pod: { spec } }, { node }) => {
    const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
    const suits =
      matches(selectorFromMap(spec.nodeSelector), node.metadata.labels) &&
      (!required || required.nodeSelectorTerms.some((term) => suitsTerm(term, node)));
    return suits
      ? []
      : [{ plugin: 'NodeAffinity', text: "node(s) didn't match Pod's node affinity/selector" }];
  },
  score: ({ pod: { spec } }, { node }) => {
    const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    const sum = (list: typeof preferred) => list.reduce((total, { weight }) => total + weight, 0);
    if (preferred.length === 0) return 0;
    return (
      (maxScore * sum(preferred.filter(({ preference }) => suitsTerm(preference, node)))) / sum(preferred)
    );
  },
};

/** One that asks for nothing matches no node. */
function suitsTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    suitsAll(matchExpressions, node.metadata.labels) &&
    suitsAll(matchFields, { 'metadata.name': node.metadata.name })
  );
}

const suitsAll = (
  expressions: NonNullable<NodeSelectorTerm['matchExpressions']>,
  labels: Labels | undefined,
) =>
  matches(
    {
      requirements: expressions.map(({ key, operator, values = [] }) => ({
        key,
        operator: operators[operator],
        values,
      })),
    },
    labels,
  );

type Operator = NonNullable<NodeSelectorTerm['matchExpressions']>[number]['operator'];

const operators: Readonly<Record<Operator, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
};
