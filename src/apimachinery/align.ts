/**
 * The second half of decoding: a value with the right fields and types meets the schema of its kind. Go's habits are
 * translated (an empty string in a field that has a default or choices is an unset field; a missing struct is an empty
 * one, so that its required fields are named), and fields that minik8s knows and does not act on are reported.
 */
import { deepEqual, isRecord, type JsonObject, setOwn } from './equality.ts';
import type { FieldType, ObjectType } from './field-types.ts';
import { type Schema, type SchemaEntry, viewSchema } from './schema-types.ts';

/** More fields are not listed. */
const maxIgnored = 100;

/** Changes `object` in place; returns the paths of set fields that the schema does not name, the first hundred. */
export function alignObject(object: JsonObject, schema: Schema, type: ObjectType): string[] {
  const ignored: string[] = [];
  alignFields(object, schema, type, '', ignored);
  return ignored;
}

/**
 * Fields that clients send without meaning anything by it: what the server itself fills in, and Kubernetes' own
 * defaults. `undefined` stands for any value.
 */
export const fieldsWithoutWarning: Readonly<Record<string, unknown>> = {
  'core.v1.PodSpec.automountServiceAccountToken': undefined,
  'core.v1.PodSpec.preemptionPolicy': 'PreemptLowerPriority',
  'core.v1.PodSpec.priority': undefined,
  'core.v1.PodSpec.serviceAccount': undefined,
  'core.v1.PodSpec.setHostnameAsFQDN': false,
  'core.v1.ServiceSpec.allocateLoadBalancerNodePorts': true,
  'core.v1.ServiceSpec.internalTrafficPolicy': 'Cluster',
  'core.v1.ServiceSpec.externalTrafficPolicy': 'Cluster',
  'core.v1.ServiceSpec.ipFamilies': ['IPv4'],
  'core.v1.ServiceSpec.ipFamilyPolicy': 'SingleStack',
  'core.v1.Probe.terminationGracePeriodSeconds': undefined,
  'core.v1.ObjectFieldSelector.apiVersion': 'v1',
  'core.v1.PersistentVolumeClaimSpec.volumeMode': 'Filesystem',
  'core.v1.PersistentVolumeSpec.volumeMode': 'Filesystem',
  'batch.v1.JobSpec.podReplacementPolicy': 'TerminatingOrFailed',
  'batch.v1.JobSpec.manualSelector': false,
};

function alignFields(
  object: JsonObject,
  schema: Schema,
  type: ObjectType,
  path: string,
  ignored: string[],
): void {
  const view = viewSchema(schema);
  if (view.kind !== 'object') return;
  for (const [key, entry] of view.entries) fillField(object, key, entry);
  for (const [key, value] of Object.entries(object)) {
    const inner = path ? `${path}.${key}` : key;
    const entry = view.entries.get(key);
    const field = type.fields.get(key);
    if (!field || (path === '' && (key === 'status' || key === 'metadata'))) continue;
    if (entry) alignValue(value, entry.schema, field.type, inner, ignored);
    else if (
      type.name !== 'meta.v1.ObjectMeta' &&
      isMeant(`${type.name}.${key}`, value) &&
      ignored.length < maxIgnored
    )
      ignored.push(inner);
  }
}

function alignValue(value: unknown, schema: Schema, type: FieldType, path: string, ignored: string[]): void {
  if (type.kind === 'object' && isRecord(value)) {
    alignFields(value, schema, type.object, path, ignored);
    return;
  }
  const view = viewSchema(schema);
  if (type.kind === 'list' && view.kind === 'list' && Array.isArray(value)) {
    for (const [index, item] of value.entries())
      alignValue(item, view.items, type.items, `${path}[${index}]`, ignored);
  } else if (type.kind === 'map' && view.kind === 'map' && isRecord(value)) {
    for (const [key, item] of Object.entries(value))
      alignValue(item, view.values, type.values, `${path}.${key}`, ignored);
  }
}

function fillField(object: JsonObject, key: string, entry: SchemaEntry): void {
  const value = Object.hasOwn(object, key) ? object[key] : undefined;
  if (value === '' && !entry.required && meansUnset(entry)) delete object[key];
  else if (value === undefined && entry.required && hasRequiredFields(entry.schema)) setOwn(object, key, {});
}

function meansUnset(entry: SchemaEntry): boolean {
  if (typeof entry.default === 'string' && entry.default !== '') return true;
  const view = viewSchema(entry.schema);
  return view.kind === 'choice' && !view.choices.includes('');
}

function hasRequiredFields(schema: Schema): boolean {
  const view = viewSchema(schema);
  return view.kind === 'object' && [...view.entries.values()].some((entry) => entry.required);
}

function isMeant(field: string, value: unknown): boolean {
  if (value === false || value === 0 || value === '') return false;
  if (Array.isArray(value) && value.length === 0) return false;
  if (isRecord(value) && Object.keys(value).length === 0) return false;
  if (!Object.hasOwn(fieldsWithoutWarning, field)) return true;
  const expected = fieldsWithoutWarning[field];
  return expected !== undefined && !deepEqual(expected, value);
}
