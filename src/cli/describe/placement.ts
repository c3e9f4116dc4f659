/** Tolerations, taints and spread constraints: on which nodes a pod may run. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { recordAt, textAt } from '../objects/objects.ts';
import { listLines, selectorOrNone, shownAt } from './lines.ts';

const byKey = (field: string) => (a: JsonObject, b: JsonObject) =>
  textAt(a, field) < textAt(b, field) ? -1 : textAt(a, field) > textAt(b, field) ? 1 : 0;

export const tolerationLines = (tolerations: readonly JsonObject[], indent: string): string[] =>
  listLines('Tolerations', [...tolerations].sort(byKey('key')).map(tolerationText), indent);

function tolerationText(toleration: JsonObject): string {
  const [key, value, effect] = ['key', 'value', 'effect'].map((field) => textAt(toleration, field));
  const matched = `${key}${value ? `=${value}` : ''}${effect ? `:${effect}` : ''}`;
  const exists = toleration.operator === 'Exists' && !value;
  const seconds = shownAt(toleration, 'tolerationSeconds');
  return `${matched}${exists ? `${matched ? ' ' : ''}op=Exists` : ''}${seconds ? ` for ${seconds}s` : ''}`;
}

export function spreadLines(constraints: readonly JsonObject[], indent: string): string[] {
  if (constraints.length === 0) return [];
  const texts = [...constraints].sort(byKey('topologyKey')).map((constraint) => {
    const selector = isRecord(constraint.labelSelector)
      ? ` for selector ${selectorOrNone(recordAt(constraint, 'labelSelector'))}`
      : '';
    const rule = `${textAt(constraint, 'topologyKey')}:${textAt(constraint, 'whenUnsatisfiable')}`;
    return `${rule} when max skew ${shownAt(constraint, 'maxSkew')} is exceeded${selector}`;
  });
  return listLines('Topology Spread Constraints', texts, indent);
}

/** Returns a node's taints, by effect and key. */
export const taintLines = (taints: readonly JsonObject[]): string[] => {
  const order = (taint: JsonObject) => `${textAt(taint, 'effect')},${textAt(taint, 'key')}`;
  const texts = [...taints]
    .sort((a, b) => (order(a) < order(b) ? -1 : 1))
    .map((taint) => {
      const value = textAt(taint, 'value');
      return `${textAt(taint, 'key')}${value ? `=${value}` : ''}:${textAt(taint, 'effect')}`;
    });
  return listLines('Taints', texts);
};
