/** Types and names of the values that expressions of MutatingAdmissionPolicies make. Pure. */
import type { FieldTable, ObjectType } from '../../apimachinery/field-types.ts';
import type { Kinds } from '../../apimachinery/kind-set.ts';
import { objectTypeOf } from '../../apimachinery/schema-types.ts';
import { maxDepth, maxGrownValues } from '../../apimachinery/value-limit.ts';
import { MadeObject } from '../../cel/values/made-object.ts';
import type { JsonLimits } from '../../cel/values/to-json.ts';
import { List, MapValue, type Value } from '../../cel/values/value.ts';
import type { Address } from '../admission-requests/plan/request.ts';

/** Bounds of one patch, as for the body of a request. */
export const patchLimits: JsonLimits = {
  maxValues: maxGrownValues,
  maxText: 3 * 1024 * 1024,
  maxDepth,
};

/** Returns the type of the objects of a kind, even of a kind without a resource of its own, such as Scale. */
export function typeOfKind(
  { kinds, fields }: { readonly kinds: Kinds; readonly fields: FieldTable },
  { kind: { group, version, kind } }: Pick<Address, 'kind'>,
): ObjectType | undefined {
  const known = kinds.all.find((one) => one.kind === kind && one.group === group && one.version === version);
  if (known) return objectTypeOf(known, fields);
  const [first = ''] = group.split('.');
  return fields.typeOf(`${first || 'core'}.${version}.${kind}`);
}

/**
 * Returns the wrong names of the types of objects, as messages. The object in the field `a.b` of an Object
 * must be an `Object.a.b`. Items of lists and values of maps have the name of their list or map.
 */
export function misnamedTypes(value: Value, name: string): readonly string[] {
  if (value instanceof MadeObject) return misnamedObject(value, name);
  if (value instanceof List)
    return Array.from({ length: value.length }, (_, at) => value.at(at)).flatMap((item) =>
      misnamedTypes(item, name),
    );
  if (!(value instanceof MapValue)) return [];
  return [...value.keys()].flatMap((key) => misnamedTypes(value.get(key) ?? null, name));
}

function misnamedObject(object: MadeObject, name: string): readonly string[] {
  const { typeName } = object;
  const path = 'which matches field name path from root Object type';
  const own =
    typeName === name
      ? []
      : [`unexpected type name ${JSON.stringify(typeName)}, expected ${JSON.stringify(name)}, ${path}`];
  const inner = [...object.fields].flatMap(([field, value]) => misnamedTypes(value, `${name}.${field}`));
  return [...own, ...inner];
}
