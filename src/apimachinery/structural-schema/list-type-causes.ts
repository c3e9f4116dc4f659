/**
 * Duplicates in lists of type set and map, as upstream
 * (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype).
 */
import { identityOf, isRecord } from '../equality.ts';
import { duplicateCause, invalidCause } from '../field-error.ts';
import { maxCauses, type StatusCause } from '../status-error.ts';
import { mapKey } from './scalar-causes.ts';
import { membersOf, type StructuralSchema } from './schema.ts';

/** Returns a cause for each value or key that stands more than once, at its second place. */
export function listTypeCauses(value: unknown, schema: StructuralSchema, path = ''): StatusCause[] {
  const causes: StatusCause[] = [];
  collect(value, schema, path, causes);
  return causes;
}

function collect(value: unknown, schema: StructuralSchema, path: string, causes: StatusCause[]): void {
  if (causes.length > maxCauses) return;
  if (Array.isArray(value)) causes.push(...listCauses(value, schema, path));
  for (const member of membersOf(value, schema, path))
    collect(member.value, member.schema, member.path, causes);
}

function listCauses(list: readonly unknown[], schema: StructuralSchema, path: string): StatusCause[] {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return repeated(list, path);
    case 'map':
      return mapCauses(list, schema, path);
    default:
      return [];
  }
}

function mapCauses(list: readonly unknown[], schema: StructuralSchema, path: string): StatusCause[] {
  const other = list.findIndex((item) => item !== null && !isRecord(item));
  if (other >= 0)
    return [
      invalidCause(`${path}[${other}]`, list[other], 'must be an object for an array of list-type map'),
    ];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return repeated(
    list.map((item) => mapKey(item, keys)),
    path,
  );
}

/** Returns a cause for each value that stands more than once, at its second place. */
function repeated(values: readonly unknown[], path: string): StatusCause[] {
  const counts = new Map<string, number>();
  const causes: StatusCause[] = [];
  for (const [index, value] of values.entries()) {
    const identity = identityOf(value);
    const before = counts.get(identity) ?? 0;
    counts.set(identity, before + 1);
    if (before === 1 && causes.length <= maxCauses) causes.push(duplicateCause(`${path}[${index}]`, value));
  }
  return causes;
}
