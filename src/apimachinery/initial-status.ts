/**
 * The status of a new object before a controller or an agent has written one. In Go the status of Kubernetes'
 * kinds is a struct that JSON always shows, with the numbers and texts that have no `omitempty`; clients read
 * fields of it without asking whether there is a status. Kinds of minik8s have none until one is written,
 * like those of a CustomResourceDefinition. Pure.
 */
import { deepCopy, type JsonObject } from './equality.ts';
import type { Field, ObjectType } from './field-types.ts';

const statusOf = new WeakMap<ObjectType, JsonObject | undefined>();

/** Returns a status of its own for each call; undefined for a kind of minik8s and a kind without a status. */
export function initialStatus(kind: ObjectType): JsonObject | undefined {
  if (!statusOf.has(kind)) statusOf.set(kind, statusIn(kind));
  return deepCopy(statusOf.get(kind));
}

function statusIn(kind: ObjectType): JsonObject | undefined {
  const field = kind.fields.get('status');
  const isStruct = kind.members !== undefined && field?.type.kind === 'object' && !field.pointer;
  return isStruct ? zeroStruct(field.type.object) : undefined;
}

function zeroStruct({ fields }: ObjectType): JsonObject {
  const zeros = [...fields.values()].map((field) => [field.name, zeroOf(field)] as const);
  return Object.fromEntries(zeros.filter(([, zero]) => zero !== undefined));
}

/** Returns undefined for a field that JSON does not show, and for null: absent and null are the same here. */
function zeroOf({ type, pointer, omitsZero }: Field): unknown {
  if (pointer) return undefined;
  if (type.kind === 'object') return zeroStruct(type.object);
  if (omitsZero || type.kind !== 'scalar') return undefined;
  if (['int32', 'int64', 'double'].includes(type.scalar)) return 0;
  if (type.scalar === 'bool') return false;
  return type.scalar === 'string' ? '' : undefined;
}
