/**
 * Decodes a value from the wire in one pass, as Go's typed decoder and Kubernetes' defaulting do. The result
 * has only fields of its type, each of the right JSON type, with the constant defaults. `null` means
 * absent. Quantities and times become canonical. An empty text in a field that has a default or choices is an
 * unset field. A missing struct is an empty one, so that its required fields are reported. A value of the
 * wrong type ends the decoding with a TypeMismatch; unknown fields, wrong choices, numbers out of their
 * limits and missing fields are collected.
 */
import { deepCopy, deepEqual, isRecord, type JsonObject, setOwn } from './equality.ts';
import { invalidCause, notSupportedCause, requiredCause } from './field-error.ts';
import {
  type Field,
  type FieldType,
  goTypeName,
  type Limits,
  type ObjectType,
  shortTypeName,
} from './field-types.ts';
import { conformScalar, goName, mismatch, type Place as ScalarPlace, zeroOf } from './scalars.ts';
import { maxCauses, type StatusCause } from './status-error.ts';
import { completedFields } from './type-rules.ts';

/**
 * Maximum of reported unknown fields, as upstream (sigs.k8s.io/json saveStrictError), and of reported ignored
 * fields.
 */
const maxReported = 100;

/** Problems that decoding has found; each list holds the first hundred. */
export interface Findings {
  /** Paths of fields that the type does not have. */
  readonly unknown: string[];
  /** Paths of set fields that minik8s does not act on. */
  readonly ignored: string[];
  readonly causes: StatusCause[];
  /** Count of all causes, including those that are not listed. */
  found: number;
  /** Selects the fields whose problems become causes; default: every field. */
  readonly judges?: Judges;
}

/** Returns true if problems of the field at the path, such as `spec.replicas`, become causes. */
export type Judges = (path: string) => boolean;

export const noFindings = (judges?: Judges): Findings => ({
  unknown: [],
  ignored: [],
  causes: [],
  found: 0,
  ...(judges && { judges }),
});

/**
 * Returns a copy of `value` with the fields of `type`. A missing mandatory field gets its zero value and a
 * cause.
 */
export function decodeFields(value: unknown, type: ObjectType, findings: Findings): JsonObject {
  return decodeObject(value, type, { path: '', owner: shortTypeName(type), ruled: true, findings });
}

interface Place extends ScalarPlace {
  /** False inside a field that minik8s does not act on: the rules of such a field are not applied. */
  readonly ruled: boolean;
  readonly findings: Findings;
}

function decodeObject(value: unknown, type: ObjectType, place: Place): JsonObject {
  if (!isRecord(value)) throw mismatch(value, goTypeName(type), place);
  const result: JsonObject = {};
  const owner = shortTypeName(type);
  for (const [key, inner] of Object.entries(value)) {
    const field = type.fields.get(key);
    if (!field) report(place.findings.unknown, pathTo(key, place));
    else if (isSet(inner, field, place)) setOwn(result, key, decodeField(inner, field, owner, place));
  }
  if (place.ruled) completeAll(result, type, owner, place);
  return result;
}

/** Returns false for null, and for an empty text that means an unset field. */
function isSet(value: unknown, field: Field, { ruled }: Place): boolean {
  if (value === null || value === undefined) return false;
  return !(ruled && value === '' && meansUnset(field));
}

function decodeField(value: unknown, field: Field, owner: string, place: Place): unknown {
  const { ruled, findings } = place;
  const path = pathTo(field.name, place);
  const decoded = decodeValue(value, field.type, { path, owner, ruled: ruled && acts(field), findings });
  if (ruled && field.rule) judge(decoded, field, path, findings);
  return decoded;
}

const acts = ({ rule }: Field): boolean => rule === undefined || rule.acts;

/** Sets the defaults of missing fields. */
function completeAll(result: JsonObject, type: ObjectType, owner: string, place: Place): void {
  for (const field of completedFields(type)) complete(result, field, owner, place);
}

function judge(value: unknown, { rule, choices, type }: Field, path: string, findings: Findings): void {
  if (choices && type.kind === 'scalar' && !choices.includes(String(value)))
    addCause(findings, notSupportedCause(path, value, choices));
  if (rule?.limits && !isWithin(value, rule.limits))
    addCause(findings, invalidCause(path, value, limitsText(rule.limits)));
  if (rule && !rule.acts && isMeant(value, rule.quiet)) report(findings.ignored, path);
}

const isWithin = (value: unknown, [least, greatest = Infinity]: Limits) =>
  typeof value !== 'number' || (value >= least && value <= greatest);

const limitsText = ([least, greatest]: Limits) =>
  greatest === undefined
    ? `must be greater than or equal to ${least}`
    : `must be between ${least} and ${greatest}, inclusive`;

function complete(result: JsonObject, field: Field, owner: string, place: Place): void {
  if (Object.hasOwn(result, field.name)) return;
  const { name, type, rule } = field;
  const inner: Place = { ...place, path: pathTo(name, place), owner };
  if (rule?.default !== undefined) setOwn(result, name, decodeValue(rule.default, type, inner));
  else if (type.kind === 'object' && completedFields(type.object).some((field) => field.rule?.mandatory))
    setOwn(result, name, decodeObject({}, type.object, inner));
  else {
    addCause(place.findings, requiredCause(inner.path));
    setOwn(result, name, zeroValue(type, inner));
  }
}

function decodeValue(value: unknown, type: FieldType, place: Place): unknown {
  switch (type.kind) {
    case 'any':
      return deepCopy(value);
    case 'scalar':
      return conformScalar(value, type.scalar, place);
    case 'object':
      return decodeObject(value, type.object, place);
    case 'list':
      if (!Array.isArray(value)) throw mismatch(value, goName(type), place);
      return value.map((item, index) =>
        decodeItem(item, type.items, { ...place, path: `${place.path}[${index}]` }),
      );
    case 'map':
      if (!isRecord(value)) throw mismatch(value, goName(type), place);
      return decodeMap(value, type.values, place);
  }
}

function decodeMap(value: JsonObject, values: FieldType, place: Place): JsonObject {
  const result: JsonObject = {};
  for (const [key, item] of Object.entries(value)) {
    const path = `${place.path}.${key}`;
    // Assigning this key would set the prototype and not add a key to the map.
    if (key === '__proto__') report(place.findings.unknown, path);
    else result[key] = decodeItem(item, values, { ...place, path });
  }
  return result;
}

/** Decodes an item of a list or a map, in which `null` is the zero value, as in Go. */
const decodeItem = (item: unknown, type: FieldType, place: Place): unknown =>
  item === null || item === undefined ? zeroValue(type, place) : decodeValue(item, type, place);

function zeroValue(type: FieldType, place: Place): unknown {
  switch (type.kind) {
    case 'any':
      return null;
    case 'scalar':
      return zeroOf[type.scalar];
    case 'list':
      return [];
    case 'object':
      return decodeObject({}, type.object, place);
    case 'map':
      return {};
  }
}

function meansUnset({ rule, choices }: Field): boolean {
  if (!rule || rule.mandatory) return false;
  if (typeof rule.default === 'string' && rule.default !== '') return true;
  return choices !== undefined && !choices.includes('');
}

/**
 * Returns false for empty values and for Kubernetes' own defaults, which clients also send when their user
 * has not set the field.
 */
function isMeant(value: unknown, quiet: readonly unknown[] | 'any' = []): boolean {
  if (value === false || value === 0 || value === '') return false;
  if (Array.isArray(value) && value.length === 0) return false;
  if (isRecord(value) && Object.keys(value).length === 0) return false;
  return quiet !== 'any' && !quiet.some((ordinary) => deepEqual(ordinary, value));
}

const pathTo = (key: string, { path }: Place) => (path ? `${path}.${key}` : key);

function report(list: string[], path: string): void {
  if (list.length < maxReported) list.push(path);
}

function addCause(findings: Findings, cause: StatusCause): void {
  if (findings.judges?.(cause.field ?? '') === false) return;
  findings.found++;
  if (findings.causes.length < maxCauses) findings.causes.push(cause);
}
