/** The nodes that a pod may run on by their labels and names. Pure. */

import {
  type LabelOperator,
  type Labels,
  matches,
  type Selector,
  selectorFromMap,
} from '../../../../apimachinery/labels.ts';
import type { Node, NodeSelectorTerm, PersistentVolume, PodSpec } from '../types.gen.ts';

export interface RequiredNodes {
  readonly suits: (node: Node) => boolean;
  /** Names of the nodes, if the pod selects nodes by name. */
  readonly names?: readonly string[];
}

/** Returns undefined if the pod may run on any node. */
export function requiredNodes(spec: PodSpec): RequiredNodes | undefined {
  const { nodeSelector, affinity } = spec;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (Object.keys(nodeSelector ?? {}).length === 0 && !terms) return undefined;
  const selector = selectorFromMap(nodeSelector);
  const names = terms && namesOf(terms);
  return {
    suits: (node) =>
      matches(selector, node.metadata.labels) && (!terms || terms.some((term) => suitsTerm(term, node))),
    ...(names && { names }),
  };
}

/** Returns the candidates, if every term names nodes; otherwise undefined. */
function namesOf(terms: readonly NodeSelectorTerm[]): readonly string[] | undefined {
  const names: string[] = [];
  for (const { matchFields = [] } of terms) {
    const named = matchFields.filter(({ operator }) => operator === 'In');
    if (named.length === 0) return undefined;
    names.push(...named.flatMap(({ values = [] }) => values));
  }
  return [...new Set(names)];
}

/** Returns true if the node matches the term. An empty term matches no node. */
export function suitsTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  node: Node,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    suitsAll(matchExpressions, node.metadata.labels) &&
    suitsAll(matchFields, { 'metadata.name': node.metadata.name })
  );
}

type Expressions = NonNullable<NodeSelectorTerm['matchExpressions']>;

const suitsAll = (expressions: Expressions, labels: Labels | undefined) =>
  matches(selectorOf(expressions), labels);

const read = new WeakMap<Expressions, Selector>();

/** Returns the selector, which is kept for frozen expressions: those of a cached pod meet every node. */
function selectorOf(expressions: Expressions): Selector {
  const known = read.get(expressions);
  if (known) return known;
  const requirements = expressions.map(({ key, operator, values = [] }) => ({
    key,
    operator: operators[operator],
    values,
  }));
  const selector = { requirements };
  if (Object.isFrozen(expressions)) read.set(expressions, selector);
  return selector;
}

type Operator = NonNullable<NodeSelectorTerm['matchExpressions']>[number]['operator'];

const operators: Readonly<Record<Operator, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
};

/** Returns true if the volume is accessible on the node. */
export function volumeSuitsNode({ spec }: PersistentVolume, node: Node): boolean {
  const terms = spec.nodeAffinity?.required?.nodeSelectorTerms;
  return !terms || terms.some((term) => suitsTerm(term, node));
}
