/** Rules of a pod's spread over topologies (upstream: validateTopologySpreadConstraints). */
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  requiredCause,
} from '../../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { validateLabelSelector } from '../../../meta/v1/label-selector.ts';
import type { PodSpec, TopologySpreadConstraint } from '../types.gen.ts';

export function validateTopologySpread(
  { topologySpreadConstraints: constraints = [] }: PodSpec,
  path: string,
): StatusCause[] {
  return constraints.flatMap((constraint, index) => {
    const at = `${path}.topologySpreadConstraints[${index}]`;
    const { topologyKey, whenUnsatisfiable } = constraint;
    const again = constraints
      .slice(index + 1)
      .some((other) => other.topologyKey === topologyKey && other.whenUnsatisfiable === whenUnsatisfiable);
    return [
      ...validateConstraint(constraint, at),
      ...(again
        ? [duplicateCause(`${at}.{topologyKey, whenUnsatisfiable}`, `{${topologyKey}, ${whenUnsatisfiable}}`)]
        : []),
    ];
  });
}

function validateConstraint(constraint: TopologySpreadConstraint, path: string): StatusCause[] {
  const { maxSkew, topologyKey, minDomains, whenUnsatisfiable, labelSelector } = constraint;
  return [
    ...positive(maxSkew, `${path}.maxSkew`),
    ...(topologyKey === '' ? [requiredCause(`${path}.topologyKey`, 'can not be empty')] : []),
    ...positive(minDomains, `${path}.minDomains`),
    ...(minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule'
      ? [
          invalidCause(
            `${path}.minDomains`,
            minDomains,
            `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`,
          ),
        ]
      : []),
    ...validateMatchLabelKeys(constraint, `${path}.matchLabelKeys`),
    ...(labelSelector ? validateLabelSelector(labelSelector, `${path}.labelSelector`) : []),
  ];
}

const positive = (value: number | undefined, path: string): StatusCause[] =>
  value === undefined || value > 0 ? [] : [invalidCause(path, value, 'must be greater than zero')];

function validateMatchLabelKeys(
  { matchLabelKeys = [], labelSelector }: TopologySpreadConstraint,
  path: string,
): StatusCause[] {
  if (matchLabelKeys.length === 0) return [];
  const selectorKeys = [
    ...Object.keys(labelSelector?.matchLabels ?? {}),
    ...(labelSelector?.matchExpressions ?? []).map(({ key }) => key),
  ];
  return [
    ...(labelSelector ? [] : [forbiddenCause(path, 'must not be specified when labelSelector is not set')]),
    ...matchLabelKeys.flatMap((key, index) => [
      ...nameCauses(`${path}[${index}]`, key, checkQualifiedName),
      ...(selectorKeys.includes(key)
        ? [invalidCause(`${path}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector')]
        : []),
    ]),
  ];
}
