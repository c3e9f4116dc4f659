/**
 * Decoding of a request's body into an object of its kind. A body that cannot be read, or whose fields have
 * the wrong types, is a BadRequest. A body that can be read and breaks the rules of its kind is Invalid, with
 * a cause for each wrong field. Nothing is dropped silently: a field that the kind does not have, or that
 * Kubernetes has and minik8s does not act on, becomes a warning or, when the client asked for strictness,
 * an error.
 */
import { decodeFields, type Findings, type Judges, noFindings } from './decode-fields.ts';
import { isRecord, type JsonObject } from './equality.ts';
import { notSupportedCause } from './field-error.ts';
import type { FieldTable } from './field-types.ts';
import type { KubeObject } from './meta.ts';
import {
  apiVersionOf,
  type ResourceDefinition,
  type ResourceRef,
  storedKind,
} from './resource-definition.ts';
import { TypeMismatch } from './scalars.ts';
import { objectTypeOf } from './schema-types.ts';
import { maxCauses, newBadRequest, newInvalid, type StatusCause, type StatusError } from './status-error.ts';
import { inOneGo, type Steps } from './steps.ts';
import { notActedOnField } from './type-rules.ts';
import { metaCauses } from './validate-meta.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface Decoded<T extends KubeObject> {
  /** The object with the constant defaults of its kind. It shares nothing with the input. */
  readonly object: T;
  /** Texts of the `Warning` headers of the answer, one header each. */
  readonly warnings: readonly string[];
}

/** Reads the query parameter `fieldValidation`; empty means Warn. Throws an Invalid StatusError. */
export function parseFieldValidation(text: string, optionsKind: string): FieldValidation {
  switch (text) {
    case '':
      return 'Warn';
    case 'Strict':
    case 'Warn':
    case 'Ignore':
      return text;
    default:
      throw newInvalid({ group: 'meta.k8s.io', kind: optionsKind }, '', [
        notSupportedCause('fieldValidation', text, ['', 'Ignore', 'Strict', 'Warn']),
      ]);
  }
}

/**
 * Reads a parsed body as an object of the definition's kind and returns the object in the stored version.
 * Throws a StatusError (400, 413, 422).
 */
export function convertObject<T extends KubeObject>(...value: Parameters<typeof conversion<T>>): Decoded<T> {
  return inOneGo(conversion(...value));
}

/**
 * Does the same as `convertObject`, in steps. `judges` selects the fields whose wrong values are rejected;
 * default: all fields.
 */
export function* conversion<T extends KubeObject>(
  fields: FieldTable,
  definition: ResourceDefinition<T>,
  value: unknown,
  fieldValidation: FieldValidation,
  duplicates: readonly string[] = [],
  judges?: Judges,
): Steps<Decoded<T>> {
  const refuse = (why: string) => newBadRequest(`${cannotBeHandled(definition)}: ${why}`);
  if (!isRecord(value)) throw refuse('the body must be an object');
  checkIdentity(definition, value);
  const type = objectTypeOf(definition as unknown as ResourceDefinition, fields);
  const findings = noFindings(judges);
  let decoded: JsonObject;
  try {
    decoded = definition.readFields?.(value, findings) ?? decodeFields(value, type, findings);
  } catch (error) {
    if (error instanceof TypeMismatch) throw refuse(error.message);
    throw error;
  }
  yield;
  const problems = [
    ...findings.unknown.map((path) => `unknown field ${JSON.stringify(path)}`),
    ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
  ];
  if (fieldValidation === 'Strict' && problems.length > 0)
    throw refuse(`strict decoding error: ${problems.join(', ')}`);
  const identifiedObject = identified(definition, decoded);
  const object = definition.conversion?.toStored(identifiedObject) ?? (identifiedObject as T);
  if (findings.found > 0) throw wrongFields(definition, object, findings);
  return {
    object,
    warnings: fieldValidation === 'Ignore' ? [] : [...problems, ...findings.ignored.map(notActedOnField)],
  };
}

/** Returns the 422 for fields that the decoder or the validation of the kind found wrong. */
function wrongFields<T extends KubeObject>(
  definition: ResourceDefinition<T>,
  object: T,
  findings: Findings,
): StatusError {
  // Clients send fields in any order; the causes are sorted by field, so that the answer does not depend on
  // the order.
  const causes = findings.causes.toSorted((a, b) => ((a.field ?? '') < (b.field ?? '') ? -1 : 1));
  const others =
    findings.found > maxCauses
      ? []
      : otherCauses(storedKind(definition as unknown as ResourceDefinition), object, causes);
  return newInvalid(definition, object.metadata.name, [...causes, ...others], findings.found + others.length);
}

/** Fields of metadata that are left out when empty, such as the finalizers after the last one was removed. */
const leftOutEmpty = ['annotations', 'finalizers', 'labels', 'ownerReferences'];

const isEmpty = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/**
 * Sets the version and kind that the object was checked against, and the metadata fields that always have a
 * text.
 */
function identified(definition: Omit<ResourceRef, 'type'>, decoded: JsonObject): KubeObject {
  const metadata = isRecord(decoded.metadata) ? decoded.metadata : {};
  for (const field of ['name', 'uid', 'resourceVersion', 'creationTimestamp']) metadata[field] ??= '';
  for (const field of leftOutEmpty) if (isEmpty(metadata[field])) delete metadata[field];
  return Object.assign(decoded, {
    apiVersion: apiVersionOf(definition),
    kind: definition.kind,
    metadata,
  }) as unknown as KubeObject;
}

/**
 * Returns the causes that validation finds beside the decoder's. Kubernetes decodes first and validates then;
 * here the client gets a wrong choice, a bad name and a port out of range in one answer. A missing field has
 * Go's zero value here, as upstream.
 */
function otherCauses(
  definition: ResourceDefinition,
  object: KubeObject,
  causes: readonly StatusCause[],
): StatusCause[] {
  const { strategy, namespaced, hasStatus } = definition;
  const fields = new Set(causes.map(({ field }) => field));
  if (hasStatus && !strategy.keepsStatusOnCreate) delete (object as { status?: unknown }).status;
  // Name and namespace may still come from the URL of the request, or be generated.
  object.metadata.name ||= 'x';
  if (namespaced) object.metadata.namespace ||= 'x';
  strategy.setDefaults?.(object);
  const found = [...metaCauses(definition, object), ...(strategy.validate?.(object) ?? [])];
  return found.filter(({ field }) => !fields.has(field));
}

function checkIdentity(definition: Omit<ResourceRef, 'type'>, value: Record<string, unknown>): void {
  const { apiVersion, kind } = value;
  const expected = apiVersionOf(definition);
  if (isGiven(apiVersion) && apiVersion !== expected)
    throw newBadRequest(
      `the API version in the data (${show(apiVersion)}) does not match the expected API version (${expected})`,
    );
  if (isGiven(kind) && kind !== definition.kind)
    throw newBadRequest(
      `${show(kind)} in version ${JSON.stringify(definition.version)} cannot be handled as a ${definition.kind}: the kind in the data does not match the expected kind`,
    );
}

const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '';

const show = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

const cannotBeHandled = ({ kind, version }: { kind: string; version: string }) =>
  `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}`;
