/**
 * Index of objects by fields that many clients select by: a list with such a field selector only examines the
 * objects that the index returns.
 */
import { type FieldSelector, requiredFieldValue } from '../../apimachinery/field-selector.ts';
import { type ResourceDefinition, storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { Cache, IndexDeclaration } from '../../storage/cache.ts';

/** Index and key of the objects in the cache that can match a selector. */
export interface Indexed {
  readonly index: IndexDeclaration;
  readonly key: string;
}

const fieldIndex = (definition: ResourceDefinition, field: string): IndexDeclaration => ({
  name: `${definition.plural}.${definition.group} by ${field}`,
  prefix: storagePrefix(definition),
  keysOf: (object) => [definition.selectableFields[field]?.(object) ?? ''],
});

/**
 * Returns the index for a selector; undefined if all objects must be examined. `definition` is the stored
 * one.
 */
export function indexedBy(definition: ResourceDefinition, selector: FieldSelector): Indexed | undefined {
  for (const field of definition.indexedFields ?? []) {
    const key = requiredFieldValue(selector, field);
    if (key !== undefined) return { index: fieldIndex(definition, field), key };
  }
  return undefined;
}

/** Creates the indexes before the first request, because indexing many objects takes long. */
export function indexFields(cache: Cache, kinds: readonly ResourceDefinition[]): void {
  for (const definition of kinds)
    for (const field of definition.indexedFields ?? []) cache.index(fieldIndex(definition, field));
}
