/**
 * Defaults in a definition's schema: each must be valid and have only fields that its schema specifies
 * (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting/validation.go).
 */
import { deepEqual } from '../equality.ts';
import { invalidCause } from '../field-error.ts';
import { maxCauses, type StatusCause } from '../status-error.ts';
import type { Steps } from '../steps.ts';
import { embeddedCauses } from './embedded-resources.ts';
import { pruned } from './pruning.ts';
import { headFields, isEmbedded, type StructuralSchema } from './schema.ts';
import { valueCauses } from './value-causes.ts';

/** Returns the causes of all defaults in the schema of an object. */
export function* defaultCauses(schema: StructuralSchema, path: string): Steps<StatusCause[]> {
  const causes: StatusCause[] = [];
  yield* visit(schema, path, { isRoot: true, head: undefined }, causes);
  return causes;
}

interface Around {
  readonly isRoot: boolean;
  /** Makes an object that has only this value; present inside of apiVersion, kind and metadata. */
  readonly head: Head | undefined;
}

interface Head {
  readonly schema: StructuralSchema;
  objectWith(value: unknown): object;
}

function* visit(schema: StructuralSchema, path: string, around: Around, causes: StatusCause[]): Steps<void> {
  if (causes.length > maxCauses) return;
  const head = isEmbedded(schema) ? undefined : around.head;
  causes.push(...(yield* ownCauses(schema, `${path}.default`, head)));
  yield;
  if (schema.items) {
    const inner = head && { ...head, objectWith: (value: unknown) => head.objectWith([value]) };
    yield* visit(schema.items, `${path}.items`, { isRoot: false, head: inner }, causes);
  }
  const isObject = around.isRoot || isEmbedded(schema);
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const inner = { isRoot: false, head: headOf(key, schema, head, isObject) };
    yield* visit(property, `${path}.properties[${key}]`, inner, causes);
  }
}

function* ownCauses(schema: StructuralSchema, path: string, head: Head | undefined): Steps<StatusCause[]> {
  if (schema.default === undefined || schema.default === null) return [];
  return head ? yield* causesInHead(schema, path, head) : yield* causesOf(schema, path);
}

function headOf(
  key: string,
  schema: StructuralSchema,
  head: Head | undefined,
  isObject: boolean,
): Head | undefined {
  if (head) return { ...head, objectWith: (value) => head.objectWith({ [key]: value }) };
  if (!isObject || !headFields.has(key)) return undefined;
  return {
    schema: { ...schema, 'x-kubernetes-embedded-resource': true },
    objectWith: (value) => ({ kind: 'Validation', apiVersion: 'validation/v1', [key]: value }),
  };
}

function* causesOf(schema: StructuralSchema, path: string): Steps<StatusCause[]> {
  const value = schema.default;
  const rest = pruned(value, schema);
  const unknown = deepEqual(rest.value, value)
    ? []
    : [invalidCause(path, value, 'must not have unknown fields')];
  return [...unknown, ...(yield* valueCauses(value, schema, { base: path }))];
}

function* causesInHead(schema: StructuralSchema, path: string, head: Head): Steps<StatusCause[]> {
  const wrong = embeddedCauses(head.objectWith(schema.default), head.schema);
  if (wrong.length === 0) return yield* valueCauses(schema.default, schema, { base: path });
  const lines = wrong.map(({ field, message }) => `${field}: ${message}`);
  const all = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  return [invalidCause(path, schema.default, `must result in valid metadata: ${all}`)];
}
