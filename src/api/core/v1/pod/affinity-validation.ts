/**
 * Rules of a pod's affinity to other pods (upstream: validatePodAffinityTerm), and the resolution of a term's
 * label keys for one pod.
 */
import { forbiddenCause, invalidCause, requiredCause } from '../../../../apimachinery/field-error.ts';
import type { Labels } from '../../../../apimachinery/labels.ts';
import { checkDns1123Label, checkQualifiedName, nameCauses } from '../../../../apimachinery/names.ts';
import type { LabelSelector } from '../../../../apimachinery/schema.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { validateLabelSelector } from '../../../meta/v1/label-selector.ts';
import type { PodAffinityTerm, PodSpec } from '../types.gen.ts';

export function validatePodAffinity({ affinity }: PodSpec, path: string): StatusCause[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((field) => {
    const at = `${path}.affinity.${field}`;
    const required = affinity?.[field]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const preferred = affinity?.[field]?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
    return [
      ...required.flatMap((term, index) =>
        validateTerm(term, `${at}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`),
      ),
      ...preferred.flatMap(({ weight, podAffinityTerm }, index) => {
        const one = `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}]`;
        const wrong = weight < 1 || weight > 100;
        const causes = wrong ? [invalidCause(`${one}.weight`, weight, 'must be in the range 1-100')] : [];
        return [...causes, ...validateTerm(podAffinityTerm, `${one}.podAffinityTerm`)];
      }),
    ];
  });
}

function validateTerm(term: PodAffinityTerm, path: string): StatusCause[] {
  const { labelSelector, namespaceSelector, namespaces = [], topologyKey } = term;
  const { matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  return [
    ...(labelSelector ? validateLabelSelector(labelSelector, `${path}.labelSelector`) : []),
    ...(namespaceSelector ? validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`) : []),
    ...namespaces.flatMap((name) => nameCauses(`${path}.namespace`, name, checkDns1123Label)),
    ...validateLabelKeys(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`),
    ...validateLabelKeys(mismatchLabelKeys, labelSelector, `${path}.mismatchLabelKeys`),
    ...matchLabelKeys.flatMap((key, index) => {
      const at = `${path}.matchLabelKeys[${index}]`;
      return [
        ...(hasDuplicates(labelSelector, key)
          ? [invalidCause(at, key, 'exists in both matchLabelKeys and labelSelector')]
          : []),
        ...(mismatchLabelKeys.includes(key)
          ? [invalidCause(at, key, 'exists in both matchLabelKeys and mismatchLabelKeys')]
          : []),
      ];
    }),
    ...(topologyKey === ''
      ? [requiredCause(`${path}.topologyKey`, 'can not be empty')]
      : nameCauses(`${path}.topologyKey`, topologyKey, checkQualifiedName)),
  ];
}

function validateLabelKeys(
  keys: readonly string[],
  selector: LabelSelector | undefined,
  path: string,
): StatusCause[] {
  if (keys.length === 0) return [];
  if (!selector) return [forbiddenCause(path, 'must not be specified when labelSelector is not set')];
  return keys.flatMap((key, index) => nameCauses(`${path}[${index}]`, key, checkQualifiedName));
}

/**
 * Returns true if the selector uses the key in addition to the one expression that was generated for the
 * label key itself.
 */
const hasDuplicates = (selector: LabelSelector | undefined, key: string): boolean => {
  const expressions = (selector?.matchExpressions ?? []).filter((expression) => expression.key === key);
  return (
    expressions.length > 1 || (expressions.length === 1 && Object.hasOwn(selector?.matchLabels ?? {}, key))
  );
};

/**
 * Adds the requirements of matchLabelKeys and mismatchLabelKeys, for a pod with these labels, to the
 * selectors of the terms. It does so once, at the pod's creation, as Kubernetes does.
 */
export function applyLabelKeys({ affinity }: PodSpec, labels: Labels = {}): void {
  for (const side of [affinity?.podAffinity, affinity?.podAntiAffinity]) {
    for (const term of side?.requiredDuringSchedulingIgnoredDuringExecution ?? []) selectKeys(term, labels);
    for (const preference of side?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
      selectKeys(preference.podAffinityTerm, labels);
  }
}

function selectKeys(term: PodAffinityTerm, labels: Labels): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  if (!labelSelector) return;
  const expressions = [
    ...expressionsOf(matchLabelKeys, 'In', labels),
    ...expressionsOf(mismatchLabelKeys, 'NotIn', labels),
  ];
  if (expressions.length > 0)
    labelSelector.matchExpressions = [...(labelSelector.matchExpressions ?? []), ...expressions];
}

const expressionsOf = (keys: readonly string[], operator: 'In' | 'NotIn', labels: Labels) =>
  keys.flatMap((key) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
