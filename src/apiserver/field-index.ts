/** Objects by those of their fields by which many clients each select a few: a list for one of them looks at no others. */
import { type FieldSelector, requiredFieldValue } from '../apimachinery/field-selector.ts';
import { type ResourceDefinition, storagePrefix } from '../apimachinery/resource-definition.ts';
import type { Cache, IndexDeclaration } from '../storage/cache.ts';

/** Where in the cache the objects are that can match a selector. */
export interface Indexed {
  readonly index: IndexDeclaration;
  readonly key: string;
}

const fieldIndex = (definition: ResourceDefinition, field: string): IndexDeclaration => ({
  name: `${definition.plural}.${definition.group} by ${field}`,
  prefix: storagePrefix(definition),
  keysOf: (object) => [definition.selectableFields[field]?.(object) ?? ''],
});

/** `definition` is the stored one. Undefined when all objects have to be looked at. */
export function indexedBy(definition: ResourceDefinition, selector: FieldSelector): Indexed | undefined {
  for (const field of definition.indexedFields ?? []) {
    const key = requiredFieldValue(selector, field);
    if (key !== undefined) return { index: fieldIndex(definition, field), key };
  }
  return undefined;
}

/** Makes them before anybody asks, since an index of many objects takes long to begin. */
export function indexFields(cache: Cache, kinds: readonly ResourceDefinition[]): void {
  for (const definition of kinds)
    for (const field of definition.indexedFields ?? []) cache.index(fieldIndex(definition, field));
}
