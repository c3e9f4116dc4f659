/**
 * The object and the managers that result from an applied configuration (k8s.io/apimachinery
 * util/managedfields). Pure.
 */
import { isRecord, type JsonObject } from '../equality.ts';
import { parseJson } from '../json-decode.ts';
import { lastAppliedAnnotation, lastAppliedText } from '../last-applied.ts';
import { StatusError } from '../status-error.ts';
import type { Steps } from '../steps.ts';
import { areTooLong } from '../validate-meta.ts';
import { TextError } from '../value-limit.ts';
import { compare } from './compare.ts';
import type { FieldSet } from './field-set.ts';
import { fieldsOf } from './fields-of.ts';
import { ApplyConflicts, idOf, type Manager, type Managers, withFields } from './managers.ts';
import { type Applied, applyConfiguration, type Versions } from './ownership.ts';
import { KeyError } from './shape.ts';
import { type FieldWrite, managersAfterUpdate, neverOwned } from './tracking.ts';

export interface ApplyWrite extends FieldWrite {
  /** Takes over fields that other managers own with other values. */
  readonly force: boolean;
}

export interface AppliedObject {
  /** The object in the writer's version, without managedFields; parts that have become empty are null. */
  readonly object: JsonObject;
  readonly managers: Managers;
}

/** Manager of the fields that existed before the first apply, for an object without known managers. */
const beforeFirstApply = 'before-first-apply';

/** Manager name of kubectl for client-side apply. */
const kubectl = 'kubectl';

/**
 * Applies a configuration, in steps. `live` and `configuration` are in the writer's version; `live` of a new
 * object has only its kind (`empty`). Throws ApplyConflicts, and a KeyError for a configuration whose lists
 * have no keys.
 */
export function* applied(
  live: JsonObject,
  configuration: JsonObject,
  managers: Managers,
  write: ApplyWrite,
  versions: Versions,
  empty: JsonObject,
): Steps<AppliedObject> {
  const known =
    managers.size > 0
      ? managers
      : managersAfterUpdate(
          { live: empty, next: live },
          managers,
          { ...write, manager: beforeFirstApply },
          versions,
        );
  yield;
  const { object, managers: after } = yield* withLegacyOwner(live, configuration, known, write, versions);
  const { manager, apiVersion, subresource, now } = write;
  const writer = { manager, operation: 'Apply', apiVersion, subresource } as const;
  renewWriter(after, writer, object === undefined ? undefined : now);
  const changed = isRecord(object) ? object : {};
  const result = object === undefined ? live : changed;
  return { object: manager === kubectl ? withLastApplied(result, configuration) : result, managers: after };
}

/**
 * Sets the writer's time if the object has changed (`now`), and removes a writer that owns no fields.
 */
function renewWriter(
  managers: Map<string, Manager>,
  writer: Omit<Manager, 'fields' | 'time'>,
  now: string | undefined,
): void {
  const id = idOf(writer);
  const own = managers.get(id);
  if (!own) return;
  const fields = own.fields.difference(neverOwned);
  if (fields.isEmpty) managers.delete(id);
  else managers.set(id, withFields({ ...writer, time: now ?? own.time }, fields));
}

/**
 * Applies a configuration for kubectl. Fields that kubectl applied client-side may be changed: the
 * last-applied annotation names them.
 */
function* withLegacyOwner(
  live: JsonObject,
  configuration: JsonObject,
  managers: Managers,
  write: ApplyWrite,
  versions: Versions,
): Steps<Applied> {
  const writer = { ...write, operation: 'Apply' } as const;
  try {
    return yield* applyConfiguration(live, configuration, managers, writer, versions, write.force);
  } catch (error) {
    if (!(error instanceof ApplyConflicts) || write.manager !== kubectl) throw error;
    const allowed = lastAppliedFields(live, write.apiVersion, versions);
    if (!allowed) throw error;
    const others = error.conflicts.filter(({ path }) => !allowed.has(path));
    if (others.length > 0) throw new ApplyConflicts(others);
    return yield* applyConfiguration(live, configuration, managers, writer, versions, true);
  }
}

/**
 * Returns the fields that a client applied last and that still have the applied values. Undefined when they
 * are unknown.
 */
function lastAppliedFields(live: JsonObject, apiVersion: string, versions: Versions): FieldSet | undefined {
  const shape = versions(apiVersion)?.shape;
  const last = parsed(annotationOf(live));
  if (!shape || !last || last.apiVersion !== apiVersion) return undefined;
  try {
    const { added, modified, removed } = compare(last, live, shape);
    return fieldsOf(last, shape, 'once').difference(modified).difference(added).difference(removed);
  } catch (error) {
    if (error instanceof KeyError) return undefined;
    throw error;
  }
}

function parsed(text: string): JsonObject | undefined {
  try {
    const { value } = parseJson(text, false);
    return isRecord(value) ? value : undefined;
  } catch (error) {
    // The text is not JSON, or has more values than an object may have.
    if (error instanceof TextError || error instanceof StatusError) return undefined;
    throw error;
  }
}

function annotationOf({ metadata }: JsonObject): string {
  const annotations = isRecord(metadata) && isRecord(metadata.annotations) ? metadata.annotations : {};
  const text = Object.hasOwn(annotations, lastAppliedAnnotation) ? annotations[lastAppliedAnnotation] : '';
  return typeof text === 'string' ? text : '';
}

/**
 * Updates the last-applied annotation, so that a later client-side apply continues from this configuration.
 */
function withLastApplied(object: JsonObject, configuration: JsonObject): JsonObject {
  if (annotationOf(object) === '' || !isRecord(object.metadata)) return object;
  const { [lastAppliedAnnotation]: _, ...others } = object.metadata.annotations as Record<string, string>;
  const annotations = { ...others, [lastAppliedAnnotation]: lastAppliedText(configuration) };
  return {
    ...object,
    metadata: { ...object.metadata, annotations: areTooLong(annotations) ? others : annotations },
  };
}
