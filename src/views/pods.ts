/** Readers of pods, and of the selectors of objects that have pods. Pure. */
import { isRecord, type JsonObject } from '../apimachinery/equality.ts';
import { recordAt, recordsAt, stringMap, textAt } from '../apimachinery/fields.ts';

/** Returns the pod selector of a workload or a service as a label selector's text; empty if it has none. */
export function podSelectorOf(object: JsonObject): string {
  const selector = recordAt(object, 'spec', 'selector');
  const expressions = recordsAt(selector, 'matchExpressions').map(expressionText);
  const plain = isRecord(selector.matchLabels) || expressions.length > 0 ? selector.matchLabels : selector;
  const labels = stringMap(plain);
  return [...Object.keys(labels).map((key) => `${key}=${labels[key]}`), ...expressions].join(',');
}

function expressionText(expression: JsonObject): string {
  const key = textAt(expression, 'key');
  const values = Array.isArray(expression.values) ? expression.values.join(',') : '';
  switch (textAt(expression, 'operator')) {
    case 'Exists':
      return key;
    case 'DoesNotExist':
      return `!${key}`;
    case 'NotIn':
      return `${key} notin (${values})`;
    default:
      return `${key} in (${values})`;
  }
}

/** Returns true if a pod has terminated. */
export const hasEnded = (pod: JsonObject): boolean =>
  ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'));
