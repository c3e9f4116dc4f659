/** A kind that is added while the server runs, from names and a schema that are data. Pure. */
import { ageColumn, nameColumn } from '../../api/columns.ts';
import { type FieldTable, requiredType } from '../../apimachinery/field-types.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import {
  objectTypeFromStructural,
  type StructuralSchema,
  structuralCauses,
} from '../../apimachinery/structural-schema.ts';

export interface CustomKind
  extends Pick<ResourceDefinition, 'group' | 'version' | 'kind' | 'plural' | 'namespaced'>,
    Partial<
      Pick<
        ResourceDefinition,
        'singular' | 'listKind' | 'shortNames' | 'categories' | 'columns' | 'selectableFields'
      >
    >,
    Pick<ResourceDefinition, 'scale' | 'deprecation'> {
  readonly schema: StructuralSchema;
  /** True if the status is a subresource. */
  readonly hasStatus?: boolean;
}

/**
 * Returns the definition. `fields` contains the type of metadata. Throws for a schema with unsupported
 * keywords.
 */
export function customKind(custom: CustomKind, fields: FieldTable): ResourceDefinition {
  const { schema, ...own } = custom;
  const { group, version, kind } = custom;
  const typeName = `${group}.${version}.${kind}`;
  return {
    singular: kind.toLowerCase(),
    shortNames: [],
    categories: [],
    columns: [nameColumn, ageColumn],
    selectableFields: {},
    hasStatus: false,
    ...own,
    typeName,
    objectType: objectTypeFromStructural(typeName, schema, requiredType(fields, 'meta.v1.ObjectMeta')),
    strategy: { countsGenerations: true, updatesNameVersion: true },
    versionRules: { validate: (object) => structuralCauses(contentOf(object), schema) },
    deleteAnswers: 'status',
  };
}

/** Returns the fields that the schema describes: metadata has rules of its own. */
const contentOf = ({ metadata: _, ...content }: KubeObject) => content;
