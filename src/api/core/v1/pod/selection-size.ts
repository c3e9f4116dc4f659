/**
 * Limit of the terms by which a pod selects nodes and other pods. The scheduler compares each term with every
 * node, or with every pod of the namespaces it means, in one turn of the event loop. Upstream has no such
 * limit.
 */
import { tooManyCause } from '../../../../apimachinery/field-error.ts';
import type { LabelSelector } from '../../../../apimachinery/schema.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { NodeSelectorTerm, PodAffinityTerm, PodSpec } from '../types.gen.ts';

/**
 * Maximum number of terms and requirements of a pod together. Values of a requirement do not count, since
 * they are compared as a set.
 */
export const maxSelectionTerms = 400;

/** Returns a cause if the pod has more terms than allowed; `path` is that of the pod's spec. */
export function validateSelectionSize(spec: PodSpec, path: string): StatusCause[] {
  const parts = {
    nodeSelector: Object.keys(spec.nodeSelector ?? {}).length,
    tolerations: spec.tolerations?.length ?? 0,
    topologySpreadConstraints: sum(
      spec.topologySpreadConstraints,
      ({ labelSelector, matchLabelKeys }) => requirementCount(labelSelector) + (matchLabelKeys?.length ?? 0),
    ),
    affinity: affinityTerms(spec),
  };
  const count = Object.values(parts).reduce((all, one) => all + one, 0);
  if (count <= maxSelectionTerms) return [];
  // The field with most of the terms is the one to change.
  const [largest] = Object.entries(parts).reduce((most, part) => (part[1] > most[1] ? part : most));
  return [tooManyCause(`${path}.${largest}`, count, maxSelectionTerms)];
}

function affinityTerms({ affinity }: PodSpec): number {
  const { nodeAffinity, podAffinity, podAntiAffinity } = affinity ?? {};
  return (
    sum(nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms, nodeTerms) +
    sum(nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution, ({ preference }) =>
      nodeTerms(preference),
    ) +
    [podAffinity, podAntiAffinity].reduce(
      (all, side) =>
        all +
        sum(side?.requiredDuringSchedulingIgnoredDuringExecution, podTerms) +
        sum(side?.preferredDuringSchedulingIgnoredDuringExecution, ({ podAffinityTerm }) =>
          podTerms(podAffinityTerm),
        ),
      0,
    )
  );
}

/** Returns the number of terms, each with its requirements. */
const sum = <T>(terms: readonly T[] | undefined, requirements: (term: T) => number): number =>
  (terms ?? []).reduce((all, term) => all + 1 + requirements(term), 0);

const nodeTerms = ({ matchExpressions, matchFields }: NodeSelectorTerm) =>
  (matchExpressions?.length ?? 0) + (matchFields?.length ?? 0);

const podTerms = ({ labelSelector, namespaceSelector, namespaces }: PodAffinityTerm) =>
  requirementCount(labelSelector) + requirementCount(namespaceSelector) + (namespaces?.length ?? 0);

const requirementCount = (selector: LabelSelector | undefined): number =>
  Object.keys(selector?.matchLabels ?? {}).length + (selector?.matchExpressions?.length ?? 0);
