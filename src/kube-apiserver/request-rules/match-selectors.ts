/**
 * Decides whether the selectors of a webhook or policy select a request (upstream:
 * webhook/predicates/namespace and object). Pure.
 */
import type { LabelSelector } from '../../api/meta/v1/types.gen.ts';
import { type Labels, matches, selectorFromLabelSelector } from '../../apimachinery/labels.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { isForNamespace, type RequestTarget } from './request-target.ts';

/** Objects of a request: the new one is absent for a deletion, the old one for a creation. */
export interface RequestObjects {
  readonly object?: KubeObject | undefined;
  readonly old?: KubeObject | undefined;
}

/** Returns whether the selector is absent or has no terms, so that it selects everything. */
export const selectsAll = ({ matchLabels, matchExpressions }: LabelSelector = {}) =>
  Object.keys(matchLabels ?? {}).length === 0 && !matchExpressions?.length;

/**
 * Returns whether the namespace of the request is selected. `labelsOf` reads the labels of a stored namespace;
 * it is called only for a selector with terms, and may throw if the namespace does not exist. Objects of the
 * cluster other than Namespaces are always selected.
 */
export function namespaceIsSelected(
  selector: LabelSelector | undefined,
  target: RequestTarget,
  { object }: RequestObjects,
  labelsOf: (namespace: string) => Labels,
): boolean {
  const isNamespace = isForNamespace(target);
  if ((target.namespace === '' && !isNamespace) || selectsAll(selector)) return true;
  const writesIt = isNamespace && target.subresource === '' && object !== undefined;
  const labels = writesIt ? object.metadata.labels : labelsOf(isNamespace ? target.name : target.namespace);
  return matches(selectorFromLabelSelector(selector), labels);
}

/** Returns whether the new or the old object is selected. */
export function objectIsSelected(
  selector: LabelSelector | undefined,
  { object, old }: RequestObjects,
): boolean {
  if (selectsAll(selector)) return true;
  const parsed = selectorFromLabelSelector(selector);
  return [object, old].some((one) => one !== undefined && matches(parsed, one.metadata.labels));
}
