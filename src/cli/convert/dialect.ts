/** Detects manifests that the converter would change, so that commands can suggest it. Pure. */
import { deepEqual, isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { FieldTable } from '../../apimachinery/field-types.ts';
import { convertAlone, kindOf, pathsOf, versionOf } from './convert-plan.ts';
import { fit } from './fit.ts';

/**
 * Returns whether an object is in the form of another small system: its conversion has other values, or
 * leaves out fields that such a system has. Unknown fields and values of a wrong type do not count, since
 * they are mistakes that Kubernetes' own manifests may have.
 */
export function isOtherDialect(object: JsonObject, fields: FieldTable): boolean {
  const input = { where: '', object };
  const kind = kindOf(input);
  if (kind === undefined) return false;
  let isKnownForm = false;
  const note = (_: string, about?: string) => {
    isKnownForm ||= about === undefined;
  };
  try {
    const made = convertAlone(input, note);
    for (const one of made) fit(one, fields, note);
    if (isKnownForm || made.length !== 1 || isNamed(made[0], object)) return true;
    return !isOfOwnGroup(kind, object) && adds(made[0], inVersionOf(kind, object));
  } catch {
    // The files that the converter would read beside the manifest are not available here.
    return !hasOwnKind(kind, object) || pathsOf(input).length > 0;
  }
}

/** Returns true if kind and apiVersion are those in which the kind is printed. */
const hasOwnKind = (kind: string, object: JsonObject): boolean =>
  object.kind === kind && (object.apiVersion ?? '') === versionOf(kind);

/** Returns true for a kind of minik8s.io/v1: no other system has this group, so other fields are mistakes. */
const isOfOwnGroup = (kind: string, object: JsonObject): boolean =>
  versionOf(kind) === 'minik8s.io/v1' && hasOwnKind(kind, object);

/**
 * Returns the object in the version in which its kind is printed, if it is in another version of the same
 * group.
 */
function inVersionOf(kind: string, object: JsonObject): JsonObject {
  const [apiVersion, given] = [versionOf(kind), object.apiVersion];
  const [group = '', version] = apiVersion.split('/');
  const isSameGroup = version !== undefined && typeof given === 'string' && given.startsWith(`${group}/`);
  return isSameGroup ? { ...object, apiVersion } : object;
}

/** Returns true if the converter found the name in a different place from Kubernetes'. */
const isNamed = (made: JsonObject | undefined, before: JsonObject) =>
  nameIn(made) !== undefined && nameIn(before) === undefined;

const nameIn = (object: JsonObject | undefined) =>
  isRecord(object?.metadata) ? (object.metadata.name ?? object.metadata.generateName) : undefined;

/**
 * Fields whose values are names: a name that Kubernetes rejects, or one that is missing, is a mistake in
 * Kubernetes too.
 */
const isName = /^name$|Name$/;

/** Returns true if a value has a part that the other value does not have; empty values count as absent. */
function adds(value: unknown, before: unknown): boolean {
  if (value === undefined || value === null || value === '') return false;
  if (Array.isArray(value)) {
    const items = Array.isArray(before) ? before : [];
    return value.some((item, index) => index >= items.length || adds(item, items[index]));
  }
  if (isRecord(value)) {
    const fields = isRecord(before) ? before : {};
    return Object.entries(value).some(([name, one]) => !isName.test(name) && adds(one, fields[name]));
  }
  return !deepEqual(value, before);
}
