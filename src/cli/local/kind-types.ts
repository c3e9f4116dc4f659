/** Types of objects by their apiVersion and kind. Pure. */
import { decodeFields, noFindings } from '../../apimachinery/decode-fields.ts';
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { FieldTable, ObjectType } from '../../apimachinery/field-types.ts';
import { goShape } from '../../apimachinery/go-shape.ts';

/** Returns the type of an object; undefined for a kind that Kubernetes does not have. */
export const typeOfObject = (object: JsonObject, table: FieldTable): ObjectType | undefined =>
  table.typeOf(typeName(object));

/** Returns names such as `apps.v1.Deployment` and `core.v1.Pod`. */
function typeName({ apiVersion, kind }: JsonObject): string {
  const [version = '', group = 'core'] = String(apiVersion).split('/').reverse();
  return `${group.split('.')[0]}.${version}.${kind}`;
}

/**
 * Returns the object as Go's encoder writes it: with canonical quantities and without unknown fields. An
 * object of a kind that Kubernetes does not have is returned unchanged. Throws for a value of a wrong type.
 */
export function inGoForm(object: JsonObject, table: FieldTable): JsonObject {
  const type = typeOfObject(object, table);
  return type ? goShape(decodeFields(object, type, noFindings()), type) : object;
}
