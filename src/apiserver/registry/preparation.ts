/**
 * Prepares an object for the store: defaults, fields that the writer must not set, validation, generation.
 * Pure; the order is Kubernetes' (registry/rest BeforeCreate and BeforeUpdate).
 */
import { deepCopy, deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { PartRules, ResourceDefinition, WriteContext } from '../../apimachinery/resource-definition.ts';
import { newInvalid, type StatusCause } from '../../apimachinery/status-error.ts';
import type { Steps } from '../../apimachinery/steps.ts';
import { metaCauses } from '../../apimachinery/validate-meta.ts';
import { carryMeta, validateFinalizersOfDeleted } from './object-meta.ts';

/**
 * Part of an object that a write may change: `main` is everything but the status, `status` the status, and
 * any other value names a subresource for which the kind has rules (`parts` of its strategy).
 */
export type Part = string;

type WithStatus = KubeObject & { status?: unknown };

const fields = (object: KubeObject) => object as unknown as JsonObject;

export function prepareForCreate(
  definition: ResourceDefinition,
  object: KubeObject,
  context: WriteContext,
): void {
  const { keepsStatusOnCreate } = definition.strategy;
  if (definition.hasStatus && !keepsStatusOnCreate) delete (object as WithStatus).status;
  definition.strategy.setDefaults?.(object);
  definition.strategy.prepareForCreate?.(object, context);
}

/**
 * Throws Invalid (422). `served` is the version in which the object was written, which may have additional
 * rules. In steps; the object must not change meanwhile.
 */
export function* validateForCreate(
  definition: ResourceDefinition,
  object: KubeObject,
  served: ResourceDefinition = definition,
): Steps<void> {
  const causes = [
    ...metaCauses(definition, object),
    ...(yield* ownCauses(definition, object)),
    ...(definition.strategy.validateCreate?.(object) ?? []),
    ...(served.conversion?.validate?.(object) ?? []),
    ...(served.versionRules ? yield* served.versionRules.validate(object, undefined) : []),
  ];
  throwCauses(definition, object, causes);
}

function* ownCauses({ strategy }: ResourceDefinition, object: KubeObject): Steps<StatusCause[]> {
  const causes = strategy.validate?.(object) ?? [];
  return strategy.validateInSteps ? [...causes, ...(yield* strategy.validateInSteps(object))] : causes;
}

function throwCauses(definition: ResourceDefinition, object: KubeObject, causes: StatusCause[]): void {
  if (causes.length > 0) throw newInvalid(definition, object.metadata.name, causes);
}

/** Restores the fields that this part must not change. Mutates `object`. */
export function prepareForUpdate(
  definition: ResourceDefinition,
  object: KubeObject,
  old: KubeObject,
  part: Part,
  context: WriteContext,
): void {
  if (part !== 'main' && part !== 'status') {
    keepAllBut(ownPart(definition, part), object, old);
    return;
  }
  carryMeta(object, old);
  if (part === 'status') {
    keepAllButStatus(object, old);
    definition.strategy.prepareForStatusUpdate?.(object, old, context);
    return;
  }
  if (definition.hasStatus) copyField(object, old, 'status');
  definition.strategy.setDefaults?.(object);
  // The old object may have been stored before this default existed; leaving out the field is then no change.
  definition.strategy.setDefaults?.(old);
  definition.strategy.prepareForUpdate?.(object, old, context);
}

function ownPart({ plural, strategy }: ResourceDefinition, part: Part): PartRules<KubeObject> {
  const rules = strategy.parts?.[part];
  if (!rules) throw new Error(`${plural} have no rules for ${part}`);
  return rules;
}

function keepAllBut(rules: PartRules<KubeObject>, object: KubeObject, old: KubeObject): void {
  const wanted = { ...object };
  const kept = deepCopy(old);
  rules.take(kept, wanted);
  for (const key of Object.keys(object)) delete fields(object)[key];
  Object.assign(object, kept);
}

/**
 * Restores everything but status and metadata; a kind may restore more of the metadata
 * (prepareForStatusUpdate).
 */
function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  const keys = new Set([...Object.keys(object), ...Object.keys(old)]);
  for (const key of keys) {
    if (key !== 'status' && key !== 'metadata') copyField(object, old, key);
  }
}

function copyField(object: KubeObject, from: KubeObject, key: string): void {
  const value = fields(from)[key];
  if (value === undefined) delete fields(object)[key];
  else fields(object)[key] = value;
}

/** As `validateForCreate`, for the change of a part. */
export function* validateForUpdate(
  definition: ResourceDefinition,
  object: KubeObject,
  old: KubeObject,
  part: Part,
  subresource: string,
  served: ResourceDefinition = definition,
): Steps<void> {
  const causes = [...metaCauses(definition, object), ...validateFinalizersOfDeleted(object, old)];
  if (part === 'main') {
    causes.push(...(yield* ownCauses(definition, object)));
    causes.push(...(definition.strategy.validateUpdate?.(object, old) ?? []));
    causes.push(...(served.conversion?.validateUpdate?.(object, old) ?? []));
  } else if (part === 'status') {
    causes.push(...(definition.strategy.validateStatus?.(object, old, subresource) ?? []));
  } else {
    causes.push(...(ownPart(definition, part).validate?.(object, old) ?? []));
  }
  if (served.versionRules) causes.push(...(yield* served.versionRules.validate(object, old)));
  throwCauses(definition, object, causes);
}

/**
 * Increments `metadata.generation` if anything but metadata and status has changed. Custom kinds without a
 * status subresource count changes of the status, too.
 */
export function countGeneration(definition: ResourceDefinition, object: KubeObject, old: KubeObject): void {
  if (!definition.strategy.countsGenerations) return;
  const before = old.metadata.generation ?? 0;
  const ignored = definition.hasStatus || !definition.readFields ? [...notDesired, 'status'] : notDesired;
  const generation = before + (sameDesire(object, old, ignored) ? 0 : 1);
  // Some kinds begin without a generation.
  if (generation > 0) object.metadata.generation = generation;
}

/** An object may have been stored in an earlier version of its kind, which is no change. */
const notDesired = ['apiVersion', 'kind', 'metadata'];

function sameDesire(object: KubeObject, old: KubeObject, ignored: readonly string[]): boolean {
  const desired = (of: KubeObject) =>
    Object.fromEntries(Object.entries(fields(of)).filter(([key]) => !ignored.includes(key)));
  return deepEqual(desired(object), desired(old));
}
