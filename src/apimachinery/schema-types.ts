/** The type of a kind, from its definition and the table of types. */
import { describedType } from './described-types.ts';
import { type FieldTable, type ObjectType, requiredType } from './field-types.ts';
import type { ResourceDefinition } from './resource-definition.ts';

/**
 * Returns the fields of a kind: from its own object type if there is one, else from its own types, else from
 * the table.
 */
export function objectTypeOf(
  definition: Pick<ResourceDefinition, 'typeName' | 'objectType' | 'types' | 'rules'>,
  table: FieldTable,
): ObjectType {
  const { typeName, objectType, types, rules = {} } = definition;
  if (objectType) return objectType;
  return types ? describedType(types, typeName, rules, table) : requiredType(table, typeName);
}
