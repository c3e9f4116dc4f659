/**
 * From a request's body to an object of its kind. A body that cannot be read, or whose fields have the wrong types, is
 * a BadRequest; one that can be read and breaks the schema is Invalid, with a cause for each field that is wrong.
 * Nothing is dropped in silence: what the kind does not know, and what Kubernetes knows and minik8s does not act on,
 * becomes a warning or, when the client asked for strictness, an error.
 */
import * as v from 'valibot';
import { alignObject } from './align.ts';
import { conformObject, TypeMismatch } from './conform.ts';
import { isRecord } from './equality.ts';
import { notSupportedCause } from './field-error.ts';
import type { FieldTable } from './field-types.ts';
import type { KubeObject } from './meta.ts';
import { apiVersionOf, type ResourceDefinition, type ResourceRef } from './resource-definition.ts';
import { causesOf } from './schema-causes.ts';
import { objectTypeOf } from './schema-types.ts';
import { newBadRequest, newInvalid } from './status-error.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface Decoded<T extends KubeObject> {
  /** Has the constant defaults of its schema; shares nothing with the input. */
  readonly object: T;
  /** One `Warning` header each. */
  readonly warnings: readonly string[];
}

/** The query parameter `fieldValidation`; empty means Warn. Throws an Invalid StatusError. */
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

/** Work in steps, so that the caller can yield to other requests between them. */
export type Steps<T> = Generator<void, T, void>;

/** Reads a parsed body as an object of the definition's kind; throws a StatusError (400, 413, 422). */
export function convertObject<T extends KubeObject>(...value: Parameters<typeof conversion<T>>): Decoded<T> {
  const steps = conversion(...value);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The same in steps. */
export function* conversion<T extends KubeObject>(
  fields: FieldTable,
  definition: ResourceDefinition<T>,
  value: unknown,
  fieldValidation: FieldValidation,
  duplicates: readonly string[] = [],
): Steps<Decoded<T>> {
  const refuse = (why: string) => newBadRequest(`${cannotBeHandled(definition)}: ${why}`);
  if (!isRecord(value)) throw refuse('the body must be an object');
  checkIdentity(definition, value);
  const type = objectTypeOf(definition as unknown as ResourceDefinition, fields);
  const unknown: string[] = [];
  let object: Record<string, unknown>;
  try {
    object = conformObject(value, type, unknown);
  } catch (error) {
    if (error instanceof TypeMismatch) throw refuse(error.message);
    throw error;
  }
  yield;
  const problems = [
    ...unknown.map((path) => `unknown field ${JSON.stringify(path)}`),
    ...duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`),
  ];
  if (fieldValidation === 'Strict' && problems.length > 0)
    throw refuse(`strict decoding error: ${problems.join(', ')}`);
  object.apiVersion = apiVersionOf(definition);
  object.kind = definition.kind;
  object.metadata ??= {};
  const ignored = alignObject(object, definition.schema, type);
  yield;
  return {
    object: yield* applySchema(definition, object),
    warnings:
      fieldValidation === 'Ignore'
        ? []
        : [...problems, ...ignored.map((path) => `${path}: known to Kubernetes, not acted on by minik8s`)],
  };
}

function* applySchema<T extends KubeObject>(
  definition: ResourceDefinition<T>,
  object: Record<string, unknown>,
): Steps<T> {
  const result = v.safeParse(definition.schema, object);
  if (result.success) return result.output;
  yield;
  const name = isRecord(object.metadata) ? String(object.metadata.name ?? '') : '';
  const { causes, found } = causesOf(definition, result);
  throw newInvalid(definition, name, causes, found);
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
