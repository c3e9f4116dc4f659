/** Rules of x-kubernetes-list-type, its keys and x-kubernetes-map-type in a definition's schema. */

import { repeats } from '../equality.ts';
import { forbiddenCause, invalidCause, notSupportedCause, requiredCause } from '../field-error.ts';
import type { StatusCause } from '../status-error.ts';
import type { WrittenSchema } from './schema.ts';
import { itemsOf } from './written-schema.ts';

/** Returns the causes in the order of upstream's validation. */
export function listKeywordCauses(schema: WrittenSchema, path: string): StatusCause[] {
  return [
    ...mapTypeCauses(schema, path),
    ...listTypeOwnCauses(schema, path),
    ...mapKeysCauses(schema, path),
    ...(schema['x-kubernetes-list-type'] === 'map' ? mapListCauses(schema, path) : []),
    ...itemsOfSetsAndMaps(schema, path),
  ];
}

function typeCauses(type: string | undefined, path: string, why: string): StatusCause[] {
  return [type ? invalidCause(`${path}.type`, type, why) : requiredCause(`${path}.type`, why)];
}

function mapTypeCauses(schema: WrittenSchema, path: string): StatusCause[] {
  const mapType = schema['x-kubernetes-map-type'];
  if (mapType === undefined) return [];
  const isKnown = mapType === 'atomic' || mapType === 'granular';
  return [
    ...(schema.type === 'object'
      ? []
      : typeCauses(schema.type, path, 'must be object if x-kubernetes-map-type is specified')),
    ...(isKnown ? [] : [notSupportedCause(`${path}.x-kubernetes-map-type`, mapType, ['atomic', 'granular'])]),
  ];
}

function listTypeOwnCauses(schema: WrittenSchema, path: string): StatusCause[] {
  const listType = schema['x-kubernetes-list-type'];
  if (listType === undefined) return [];
  const choices = ['atomic', 'set', 'map'];
  return [
    ...(schema.type === 'array'
      ? setItemCauses(schema, path)
      : typeCauses(schema.type, path, 'must be array if x-kubernetes-list-type is specified')),
    ...(choices.includes(listType)
      ? []
      : [notSupportedCause(`${path}.x-kubernetes-list-type`, listType, choices)]),
  ];
}

/** Items of a set are compared and owned as a whole. */
function setItemCauses(schema: WrittenSchema, path: string): StatusCause[] {
  const items = itemsOf(schema);
  if (schema['x-kubernetes-list-type'] !== 'set' || !items) return [];
  const why = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const listType = items['x-kubernetes-list-type'];
  if (items.type === 'array' && listType !== undefined && listType !== 'atomic')
    return [invalidCause(`${path}.items.x-kubernetes-list-type`, listType, why)];
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic')
    // Upstream's message shows the list type, and a missing one as a text.
    return [invalidCause(`${path}.items.x-kubernetes-map-type`, listType ?? 'null', why)];
  return [];
}

function mapKeysCauses(schema: WrittenSchema, path: string): StatusCause[] {
  const listType = schema['x-kubernetes-list-type'];
  if ((schema['x-kubernetes-list-map-keys'] ?? []).length === 0 || listType === 'map') return [];
  const why = 'must be map if x-kubernetes-list-map-keys is non-empty';
  const at = `${path}.x-kubernetes-list-type`;
  return [listType === undefined ? requiredCause(at, why) : invalidCause(at, listType, why)];
}

function mapListCauses(schema: WrittenSchema, path: string): StatusCause[] {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const at = `${path}.x-kubernetes-list-map-keys`;
  const items = itemsOf(schema);
  const missing =
    keys.length === 0 ? [requiredCause(at, 'must not be empty if x-kubernetes-list-type is map')] : [];
  if (schema.items === undefined)
    return [
      ...missing,
      requiredCause(`${path}.items`, 'must have a schema if x-kubernetes-list-type is map'),
    ];
  if (!items)
    return [
      ...missing,
      invalidCause(
        `${path}.items`,
        schema.items,
        'must only have a single schema if x-kubernetes-list-type is map',
      ),
    ];
  if (items.type !== 'object')
    return [
      ...missing,
      invalidCause(
        `${path}.items.type`,
        items.type ?? '',
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    ];
  return [...missing, ...keyCauses(keys, items, path)];
}

function keyCauses(keys: readonly string[], items: WrittenSchema, path: string): StatusCause[] {
  const at = `${path}.x-kubernetes-list-map-keys`;
  const repeated = repeats(keys);
  return keys.flatMap((key, index) => {
    const causes: StatusCause[] = [];
    const property = propertyNamed(items, key);
    if (!property) causes.push(invalidCause(at, keys, 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object')
      causes.push(
        invalidCause(
          `${path}.items.properties[${key}].type`,
          items.type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      );
    if (repeated[index]) causes.push(invalidCause(at, keys, 'must not contain duplicate entries'));
    return causes;
  });
}

function propertyNamed({ properties }: WrittenSchema, key: string): WrittenSchema | undefined {
  return properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/** Items of sets and maps may not be null, and each key must always have a value. */
function itemsOfSetsAndMaps(schema: WrittenSchema, path: string): StatusCause[] {
  const items = itemsOf(schema);
  const listType = schema['x-kubernetes-list-type'];
  if (!items || (listType !== 'set' && listType !== 'map')) return [];
  const why = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
  const keys = listType === 'map' ? (schema['x-kubernetes-list-map-keys'] ?? []) : [];
  const required = new Set(items.required);
  return [
    ...(items.nullable ? [forbiddenCause(`${path}.items.nullable`, why)] : []),
    ...keys.flatMap((key) => {
      const property = propertyNamed(items, key);
      const at = `${path}.items.properties[${key}]`;
      return property ? keyPropertyCauses(property, required.has(key), at) : [];
    }),
  ];
}

function keyPropertyCauses(property: WrittenSchema, isRequired: boolean, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (!isRequired && (property.default ?? undefined) === undefined)
    causes.push(
      requiredCause(
        `${path}.default`,
        'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
      ),
    );
  if (property.nullable)
    causes.push(
      forbiddenCause(
        `${path}.nullable`,
        'this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
      ),
    );
  return causes;
}
