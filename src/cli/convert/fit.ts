/**
 * Fits objects to the fields and value types of Kubernetes. Systems that read a manifest into structures of
 * their own ignore unknown fields, the case of letters in field names, and quotes around a value. Pure.
 */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { Field, FieldTable, FieldType, ObjectType, Scalar } from '../../apimachinery/field-types.ts';
import { typeOfObject } from '../local/kind-types.ts';
import { quantityOf } from './amounts.ts';
import type { AddNote } from './fields.ts';

/**
 * Returns the fitted object, or an object of a kind that is not in the table unchanged. Every change is
 * reported.
 */
export function fit(object: JsonObject, table: FieldTable, note: AddNote): JsonObject {
  const type = typeOfObject(object, table);
  return type ? fields(object, type, '', note) : object;
}

function fields(object: JsonObject, type: ObjectType, path: string, note: AddNote): JsonObject {
  const entries = Object.entries(object).flatMap(([name, value]) => {
    const field = fieldOf(name, object, type);
    if (field && field.name !== name) note(`${path}${name} becomes ${field.name}`);
    if (field) return [[field.name, fitted(value, field.type, `${path}${field.name}`, note, field)] as const];
    if (value !== null) note(`${path}${name}: left out: Kubernetes has no such field`, 'unknown');
    return [];
  });
  return Object.fromEntries(entries);
}

/**
 * Returns the field of this name; for `HttpHeaders` this is httpHeaders, unless the object has that field
 * too.
 */
function fieldOf(name: string, object: JsonObject, { fields }: ObjectType): Field | undefined {
  const own = fields.get(name);
  if (own) return own;
  const word = name.toLowerCase();
  for (const [other, field] of fields)
    if (other.toLowerCase() === word && !Object.hasOwn(object, other)) return field;
  return undefined;
}

/** Converts a value to its type; an impossible value is kept, and the server rejects it. */
function fitted(value: unknown, type: FieldType, path: string, note: AddNote, field?: Field): unknown {
  switch (type.kind) {
    case 'object':
      return isRecord(value) ? fields(value, type.object, `${path}.`, note) : value;
    case 'map':
      if (!isRecord(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, fitted(one, type.values, `${path}.${key}`, note)]),
      );
    case 'list':
      if (Array.isArray(value))
        return value.map((one, index) => fitted(one, type.items, `${path}[${index}]`, note));
      return isWord(value) && type.items.kind === 'scalar' ? [value] : value;
    case 'scalar':
      return scalar(value, type.scalar, path, note, field?.choices);
    default:
      return value;
  }
}

/** Returns true for a single word in place of a list, such as the command of a program without arguments. */
const isWord = (value: unknown) => typeof value === 'string' && /^\S+$/.test(value);

const isPlain = (value: unknown) => typeof value === 'number' || typeof value === 'boolean';

function scalar(
  value: unknown,
  type: Scalar,
  path: string,
  note: AddNote,
  choices: readonly string[] = [],
): unknown {
  const changed = (to: string, about?: 'usual') => {
    note(`${path}: ${JSON.stringify(value)} becomes ${JSON.stringify(to)}`, about);
    return to;
  };
  if (type === 'quantity' && (typeof value === 'string' || typeof value === 'number')) {
    const resource = path.slice(path.lastIndexOf('.') + 1);
    const quantity = quantityOf(resource, value);
    // Billionths of processors are Docker's; a wrong unit such as 64mb is a mistake in Kubernetes, too.
    const about = resource === 'cpu' ? undefined : 'usual';
    return quantity === undefined ? value : changed(quantity, about);
  }
  if (type === 'string') return isPlain(value) ? changed(String(value), 'usual') : chosen(value, choices);
  return ofText(value, type);
}

/** Returns the choice that differs from the value in upper and lower case only; the value if none does. */
const chosen = (value: unknown, choices: readonly string[]): unknown =>
  choices.find((one) => one.toLowerCase() === String(value).toLowerCase()) ?? value;

/** Returns the number or the boolean that a text stands for; any other value unchanged. */
function ofText(value: unknown, type: Scalar): unknown {
  if ((type === 'int32' || type === 'int64') && typeof value === 'string' && /^-?\d{1,15}$/.test(value))
    return Number(value);
  if (type === 'bool' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}
