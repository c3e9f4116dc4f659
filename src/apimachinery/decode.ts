/**
 * From a request's body to an object of its kind. A body that cannot be read, or whose fields have the wrong types, is
 * a BadRequest; one that can be read and breaks the schema is Invalid, with a cause for each field. Nothing is dropped
 * in silence: what the kind does not know, and what Kubernetes knows and minik8s does not act on, becomes a warning
 * or, when the client asked for strictness, an error.
 */
import * as v from 'valibot';
import { alignObject } from './align.ts';
import { conformObject, TypeMismatch } from './conform.ts';
import { isRecord } from './equality.ts';
import { invalidCause, notSupportedCause, requiredCause } from './field-error.ts';
import type { FieldTable } from './field-types.ts';
import { type ParsedText, parseJson, TextError } from './json-decode.ts';
import type { KubeObject } from './meta.ts';
import { apiVersionOf, type ResourceDefinition, type ResourceRef } from './resource-definition.ts';
import { objectTypeOf } from './schema-types.ts';
import { newBadRequest, newInvalid, newStatusError, type StatusCause } from './status-error.ts';
import { parseYaml } from './yaml.ts';

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

/**
 * Reads a JSON or YAML body; an absent content type means JSON. Throws BadRequest, or UnsupportedMediaType for any
 * other content type.
 */
export function parseBody(
  body: string,
  contentType: string | undefined,
  findDuplicates: boolean,
): ParsedText {
  const mediaType = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  try {
    switch (mediaType) {
      case '':
      case 'application/json':
        return parseJson(body, findDuplicates);
      case 'application/yaml':
      case 'application/apply-patch+yaml':
        return parseYaml(body);
    }
  } catch (error) {
    if (error instanceof TextError)
      throw newBadRequest(`the body of the request cannot be read: ${error.message}`);
    throw error;
  }
  throw newStatusError(
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf',
  );
}

/** Reads a body as an object of the definition's kind; throws a StatusError (400, 415, 422). */
export function decodeObject<T extends KubeObject>(
  fields: FieldTable,
  definition: ResourceDefinition<T>,
  body: string,
  contentType: string | undefined,
  fieldValidation: FieldValidation,
): Decoded<T> {
  const parsed = parseBody(body, contentType, fieldValidation !== 'Ignore');
  return convertObject(fields, definition, parsed.value, fieldValidation, parsed.duplicates);
}

/** As decodeObject, for a value that is already parsed: a patched object, or one that came as protobuf. */
export function convertObject<T extends KubeObject>(
  fields: FieldTable,
  definition: ResourceDefinition<T>,
  value: unknown,
  fieldValidation: FieldValidation,
  duplicates: readonly string[] = [],
): Decoded<T> {
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
  return {
    object: applySchema(definition, object),
    warnings:
      fieldValidation === 'Ignore'
        ? []
        : [...problems, ...ignored.map((path) => `${path}: known to Kubernetes, not acted on by minik8s`)],
  };
}

function applySchema<T extends KubeObject>(
  definition: ResourceDefinition<T>,
  object: Record<string, unknown>,
): T {
  const result = v.safeParse(definition.schema, object);
  if (result.success) return result.output;
  const name = isRecord(object.metadata) ? String(object.metadata.name ?? '') : '';
  throw newInvalid(definition, name, result.issues.map(issueCause));
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

/** What valibot finds where only some texts are good; a variant's issue is about the field that tells which. */
const choiceIssues: ReadonlySet<string> = new Set(['picklist', 'literal', 'enum', 'variant']);

/** One cause for a broken rule of a schema, in Kubernetes' words. */
export function issueCause(issue: v.BaseIssue<unknown>): StatusCause {
  const path = issuePath(issue);
  if (issue.input === undefined) return requiredCause(path);
  if (choiceIssues.has(issue.type) && typeof issue.input === 'string')
    return notSupportedCause(path, issue.input, quoted(issue.expected ?? ''));
  return invalidCause(path, issue.input, issue.message);
}

function issuePath(issue: v.BaseIssue<unknown>): string {
  let path = '';
  for (const { key } of issue.path ?? [])
    path += typeof key === 'number' ? `[${key}]` : path ? `.${String(key)}` : String(key);
  return path;
}

/** The texts in valibot's `("A" | "B")`. */
const quoted = (expected: string) =>
  [...expected.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([text]) => text.slice(1, -1));
