/** Environment variables of a container. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { quantityMilliValue, quantityValue, tryParseQuantity } from '../../apimachinery/quantity.ts';
import { metadataOf, recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';
import { none, pairsOf, shownAt } from './lines.ts';

const indent = '      ';

export function environmentLines(container: JsonObject, pod: JsonObject | undefined): string[] {
  const from = recordsAt(container, 'envFrom');
  const variables = recordsAt(container, 'env');
  return [
    ...(from.length > 0 ? ['    Environment Variables from:', ...from.map(sourceLine)] : []),
    `    Environment:${variables.length === 0 ? `\t${none}` : ''}`,
    ...variables.flatMap((variable) => variableLines(variable, container, pod)),
  ];
}

function sourceLine(source: JsonObject): string {
  const [kind, ref] = isRecord(source.configMapRef)
    ? ['ConfigMap', source.configMapRef]
    : ['Secret', recordAt(source, 'secretRef')];
  const prefix = textAt(source, 'prefix');
  const from = prefix ? `${kind} with prefix '${prefix}'` : kind;
  return `${indent}${textAt(ref, 'name')}\t${from}\tOptional: ${ref.optional === true}`;
}

function variableLines(variable: JsonObject, container: JsonObject, pod: JsonObject | undefined): string[] {
  const name = `${indent}${textAt(variable, 'name')}:`;
  const { valueFrom } = variable;
  if (!isRecord(valueFrom))
    return shownAt(variable, 'value')
      .split('\n')
      .map((line, index) => (index === 0 ? `${name}\t${line}` : `${indent}\t${line}`));
  const text = referenceText(valueFrom, container, pod);
  return text === undefined ? [] : [`${name}\t${text}`];
}

function referenceText(
  from: JsonObject,
  container: JsonObject,
  pod: JsonObject | undefined,
): string | undefined {
  if (isRecord(from.fieldRef)) {
    const path = textAt(from, 'fieldRef', 'fieldPath');
    const value = pod ? fieldText(pod, path) : '';
    return `${value} (${textAt(from, 'fieldRef', 'apiVersion')}:${path})`;
  }
  if (isRecord(from.resourceFieldRef)) {
    const resource = textAt(from, 'resourceFieldRef', 'resource');
    return `${resourceText(from.resourceFieldRef, resource, container)} (${resource})`;
  }
  if (isRecord(from.secretKeyRef)) return keyText(from.secretKeyRef, 'in secret');
  return isRecord(from.configMapKeyRef) ? keyText(from.configMapKeyRef, 'of config map') : undefined;
}

const keyText = (ref: JsonObject, where: string) =>
  `<set to the key '${textAt(ref, 'key')}' ${where} '${textAt(ref, 'name')}'>\tOptional: ${ref.optional === true}`;

/** Returns the value of a field of the pod as text; empty if it has none yet. */
function fieldText(pod: JsonObject, path: string): string {
  const keyed = /^metadata\.(labels|annotations)\['([^']*)'\]$/.exec(path);
  if (keyed?.[1] && keyed[2] !== undefined) return shownAt(pod, 'metadata', keyed[1], keyed[2]);
  const { labels, annotations } = metadataOf(pod);
  if (path === 'metadata.labels') return quotedPairs(labels);
  if (path === 'metadata.annotations') return quotedPairs(annotations);
  // As in kubectl, the values of fields outside the metadata are not shown.
  return path.startsWith('metadata.') ? shownAt(pod, ...path.split('.')) : '';
}

const quotedPairs = (map: Readonly<Record<string, string>>) =>
  pairsOf(map)
    .map((pair) => pair.replace(/=(.*)$/s, (_, value: string) => `=${JSON.stringify(value)}`))
    .join('\n');

/**
 * Returns an amount of the container in units of the divisor, or `node allocatable` for a limit that is not
 * set.
 */
function resourceText(ref: JsonObject, resource: string, container: JsonObject): string {
  const [list = '', ...name] = resource.split('.');
  const amount = valueAt(container, 'resources', list, name.join('.'));
  const written = tryParseQuantity(String(amount ?? '0'));
  const divisor = tryParseQuantity(shownAt(ref, 'divisor') || '1');
  if (!written || !divisor) return '';
  const inMillis = name.join('.') === 'cpu';
  const of = inMillis ? quantityMilliValue : quantityValue;
  const unit = of(divisor) || of({ nano: 1_000_000_000n, format: 'DecimalSI' });
  const value = Math.ceil(of(written) / unit);
  const wholeNode = value === 0 && ['limits.cpu', 'limits.memory'].includes(resource);
  return wholeNode ? 'node allocatable' : String(value);
}
