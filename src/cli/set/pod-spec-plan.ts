/** The changes of `ctl set` to a pod, or to the pod template of a workload. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';

/** Paths of the pod spec in pods, in workloads, and in CronJobs. */
const places = [
  ['spec'],
  ['spec', 'template', 'spec'],
  ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
] as const;

const placeIn = (object: JsonObject) =>
  places.find((place) => Array.isArray(valueAt(object, ...place, 'containers')));

/** Returns the pod spec. Throws for an object without one. */
export function podSpecOf(object: JsonObject): JsonObject {
  const place = placeIn(object);
  if (!place) throw new Error(`the object is not a pod or does not have a pod template: ${object.kind}`);
  return recordAt(object, ...place);
}

/** Returns the object with another pod spec. */
export function withPodSpec(object: JsonObject, spec: JsonObject): JsonObject {
  const place = placeIn(object) ?? ['spec'];
  return replaced(object, place, spec);
}

function replaced(object: JsonObject, [key, ...rest]: readonly string[], value: JsonObject): JsonObject {
  if (key === undefined) return value;
  return { ...object, [key]: replaced(recordAt(object, key), rest, value) };
}

type Change = (container: JsonObject) => JsonObject;

/** Returns the pod spec with its containers changed, including init containers. */
export function withContainers(spec: JsonObject, change: Change): JsonObject {
  const changed = (field: string) =>
    Array.isArray(spec[field]) && {
      [field]: spec[field].map((container) => (isRecord(container) ? change(container) : container)),
    };
  return { ...spec, ...changed('containers'), ...changed('initContainers') };
}

export const containersOf = (spec: JsonObject): JsonObject[] => [
  ...recordsAt(spec, 'containers'),
  ...recordsAt(spec, 'initContainers'),
];

/** Returns whether a container's name matches a pattern in which `*` stands for any text. */
export function isMeant(container: JsonObject, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(textAt(container, 'name'));
}

/**
 * Returns the pod spec with other images, by the names of containers. Throws for a name that no container
 * has.
 */
export function withImages(spec: JsonObject, images: ReadonlyMap<string, string>): JsonObject {
  const names = new Set(containersOf(spec).map((container) => textAt(container, 'name')));
  for (const name of images.keys())
    if (name !== '*' && !names.has(name))
      throw new Error(`unable to find container named ${JSON.stringify(name)}`);
  return withContainers(spec, (container) => {
    const image = images.get(textAt(container, 'name')) ?? images.get('*');
    return image === undefined ? container : { ...container, image };
  });
}

export interface EnvChange {
  /** Variables in the form of a container's `env`. */
  readonly set: readonly JsonObject[];
  readonly remove: ReadonlySet<string>;
  /** Pattern of containers' names, with `*` for any text. */
  readonly containers: string;
  readonly overwrite: boolean;
}

/**
 * Returns the pod spec with variables set and removed; an existing variable keeps its position. Throws for an
 * existing variable that may not be changed.
 */
export function withEnv(spec: JsonObject, change: EnvChange): JsonObject {
  return withContainers(spec, (container) => {
    if (!isMeant(container, change.containers)) return container;
    const env = changedEnv(recordsAt(container, 'env'), change);
    return env.length > 0 || Array.isArray(container.env) ? { ...container, env } : container;
  });
}

function changedEnv(before: readonly JsonObject[], { set, remove, overwrite }: EnvChange): JsonObject[] {
  const wanted = new Map(set.map((one) => [textAt(one, 'name'), one]));
  if (!overwrite) requireUnset(before, wanted);
  const seen = new Set<string>(remove);
  const env: JsonObject[] = [];
  for (const one of before) {
    const name = textAt(one, 'name');
    const other = wanted.get(name);
    if (seen.has(name)) continue;
    if (other) seen.add(name);
    env.push(other ?? one);
  }
  for (const [name, one] of wanted) if (!seen.has(name)) env.push(one);
  return env;
}

/** Throws an Error for the first variable whose value would change. */
function requireUnset(before: readonly JsonObject[], wanted: ReadonlyMap<string, JsonObject>): void {
  const taken = before.find((one) => {
    const other = wanted.get(textAt(one, 'name'));
    return other !== undefined && textAt(other, 'value') !== textAt(one, 'value');
  });
  if (!taken) return;
  const [name, value] = [textAt(taken, 'name'), textAt(taken, 'value')];
  throw new Error(`'${name}' already has a value (${value}), and --overwrite is false`);
}

/** Returns the variables of a container. */
export const envOf = (container: JsonObject): JsonObject[] => recordsAt(container, 'env');

/** Returns what a `valueFrom` refers to, in kubectl's words. */
export function sourceOf(from: JsonObject): string {
  const part = (field: string) => recordAt(from, field);
  if (from.configMapKeyRef)
    return `configmap ${textAt(part('configMapKeyRef'), 'name')}, key ${textAt(part('configMapKeyRef'), 'key')}`;
  if (from.secretKeyRef)
    return `secret ${textAt(part('secretKeyRef'), 'name')}, key ${textAt(part('secretKeyRef'), 'key')}`;
  if (from.fieldRef) return `field path ${textAt(part('fieldRef'), 'fieldPath')}`;
  if (from.resourceFieldRef) {
    const { containerName, resource } = part('resourceFieldRef');
    return `resource field ${containerName ? `${containerName}/` : ''}${resource}`;
  }
  return 'invalid valueFrom';
}

export interface ResourceChange {
  readonly limits: Readonly<Record<string, string>>;
  readonly requests: Readonly<Record<string, string>>;
  readonly containers: string;
}

/**
 * Returns the pod spec with limits and requests set; other resources are kept. Throws if no container
 * matches.
 */
export function withResources(
  spec: JsonObject,
  { limits, requests, containers }: ResourceChange,
): JsonObject {
  if (!containersOf(spec).some((container) => isMeant(container, containers)))
    throw new Error(`unable to find container named ${containers}`);
  return withContainers(spec, (container) => {
    if (!isMeant(container, containers)) return container;
    const resources = recordAt(container, 'resources');
    const merged = (field: string, more: Readonly<Record<string, string>>) =>
      Object.keys(more).length > 0 && { [field]: { ...recordAt(resources, field), ...more } };
    return {
      ...container,
      resources: { ...resources, ...merged('limits', limits), ...merged('requests', requests) },
    };
  });
}
