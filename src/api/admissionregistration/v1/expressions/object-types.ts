/** The type of a kind's objects in expressions. Pure. */

import type { Field, FieldType, ObjectType, Scalar } from '../../../../apimachinery/field-types.ts';
import { propertyName } from '../../../../cel/property-name.ts';
import * as cel from '../../../../cel/types/type.ts';

const scalars: Readonly<Record<Scalar, cel.Type>> = {
  string: cel.string,
  bool: cel.bool,
  int32: cel.int,
  int64: cel.int,
  double: cel.double,
  time: cel.timestamp,
  microTime: cel.timestamp,
  quantity: cel.string,
  intOrString: cel.dyn,
  bytes: cel.bytes,
};

/** Returns the type; the fields of a type are made when they are read, since a type may contain itself. */
export function expressionTypeOf(object: ObjectType): cel.ObjectType {
  let made: ReadonlyMap<string, cel.FieldType> | undefined;
  return {
    kind: 'object',
    name: object.name,
    get fields() {
      made ??= new Map([...object.fields.values()].flatMap(fieldOf));
      return made;
    },
  };
}

/** Returns the field by its name in expressions; nothing for one that expressions cannot name. */
function fieldOf({ name: property, type }: Field): readonly (readonly [string, cel.FieldType])[] {
  const name = propertyName(property);
  return name === undefined ? [] : [[name, { property, type: typeOf(type) }]];
}

function typeOf(type: FieldType): cel.Type {
  switch (type.kind) {
    case 'scalar':
      return scalars[type.scalar];
    case 'object':
      return expressionTypeOf(type.object);
    case 'list':
      return cel.listOf(typeOf(type.items));
    case 'map':
      return cel.mapOf(cel.string, typeOf(type.values));
    case 'any':
      return cel.dyn;
  }
}
