/**
 * Placement of a pod beside another pod or away from it: `nodeSelector` with the other pod's name in `with`
 * or `notWith`. Pure.
 */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { recordAt, recordsAt } from '../objects/objects.ts';
import type { Fields } from './fields.ts';
import { asName } from './workflows.ts';

/** Returns the labels of the pod with that name in the same input; undefined for an unknown pod. */
export type LabelsOfPods = (name: string) => JsonObject | undefined;

/**
 * Returns the nodeSelector and the affinity in Kubernetes' form. An affinity to a pod that has no labels, or
 * is not in the input, is left out and reported.
 */
export function placement(spec: Fields, labelsOf: LabelsOfPods): JsonObject {
  const given = spec.take('affinity');
  const affinity = isRecord(given) ? given : {};
  const selector = spec.take('nodeSelector');
  if (!isRecord(selector))
    return {
      ...(given !== undefined && { affinity: given }),
      ...(selector !== undefined && { nodeSelector: selector }),
    };
  const { with: beside, notWith, notwith, ...labels } = selector;
  const rules = {
    podAffinity: ruleFor('with', beside, 'an affinity'),
    podAntiAffinity: ruleFor('notWith', notWith ?? notwith, 'an anti-affinity'),
  };
  const added = Object.entries(rules).flatMap(([kind, rule]) =>
    rule ? [[kind, withRule(recordAt(affinity, kind), rule)] as const] : [],
  );
  return {
    ...(Object.keys(labels).length > 0 && { nodeSelector: labels }),
    ...((given !== undefined || added.length > 0) && {
      affinity: { ...affinity, ...Object.fromEntries(added) },
    }),
  };

  function ruleFor(word: string, pod: unknown, what: string): JsonObject | undefined {
    if (typeof pod !== 'string' || pod === '') return undefined;
    const found = labelsOf(asName(pod));
    const field = `nodeSelector.${word}`;
    if (!found || Object.keys(found).length === 0) {
      spec.note(field, `left out: ${withoutLabels(pod, found !== undefined)}, and it becomes ${what}`);
      return undefined;
    }
    const words = Object.entries(found).map(([key, value]) => `${key}=${value}`);
    spec.note(field, `becomes ${what} to pods with the labels of pod ${pod}: ${words.join(',')}`);
    return { labelSelector: { matchLabels: found }, topologyKey: 'kubernetes.io/hostname' };
  }
}

const withoutLabels = (pod: string, isKnown: boolean): string =>
  isKnown
    ? `pod ${pod} has no labels; give it some`
    : `the labels of pod ${pod} are not known; give its manifest too (-f)`;

const required = 'requiredDuringSchedulingIgnoredDuringExecution';

const withRule = (before: JsonObject, rule: JsonObject): JsonObject => ({
  ...before,
  [required]: [...recordsAt(before, required), rule],
});
