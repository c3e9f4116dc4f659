/** Values of variables that refer to fields and to resources of their own object. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { tryParseQuantity } from '../../apimachinery/quantity.ts';
import { metadataOf, textAt } from '../objects/objects.ts';

/** Returns the value of a `fieldRef`. Throws for a field that only a running pod has. */
export function fieldValue(object: JsonObject, path: string): string {
  const { labels, annotations, name, namespace, uid } = metadataOf(object);
  const [, map, key] = /^(.+?)\['(.*)'\]$/s.exec(path) ?? [];
  if (map === 'metadata.labels') return labels[key ?? ''] ?? '';
  if (map === 'metadata.annotations') return annotations[key ?? ''] ?? '';
  if (map !== undefined) throw new Error(`fieldPath ${JSON.stringify(path)} does not support subscript`);
  const fields: Readonly<Record<string, string>> = {
    'metadata.name': name,
    'metadata.namespace': namespace,
    'metadata.uid': uid,
    'metadata.labels': linesOf(labels),
    'metadata.annotations': linesOf(annotations),
  };
  const value = Object.hasOwn(fields, path) ? fields[path] : undefined;
  if (value === undefined) throw new Error(`unsupported fieldPath: ${path}`);
  return value;
}

const linesOf = (map: Readonly<Record<string, string>>): string =>
  Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join('\n');

const resourceForm = /^(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)$/;

/** Returns the value of a `resourceFieldRef`, in units of its divisor and rounded up. */
export function resourceValue(reference: JsonObject, container: JsonObject): string {
  const path = textAt(reference, 'resource');
  const [, field, resource] = resourceForm.exec(path) ?? [];
  if (field === undefined || resource === undefined)
    throw new Error(`Unsupported container resource : ${path}`);
  const step = resource === 'cpu' ? nanoPerMilli : nanoPerUnit;
  const amount = stepsOf(textAt(container, 'resources', field, resource), step);
  const divisor = stepsOf(reference.divisor, step) || stepsOf('1', step);
  return String(Math.ceil(amount / divisor));
}

const nanoPerMilli = 1_000_000n;
const nanoPerUnit = 1_000_000_000n;

/** Returns how many steps an amount has, rounded up; 0 for no amount. */
function stepsOf(text: unknown, step: bigint): number {
  const amount = typeof text === 'string' || typeof text === 'number' ? tryParseQuantity(text) : undefined;
  return amount ? Number((amount.nano + step - 1n) / step) : 0;
}
