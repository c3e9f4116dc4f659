/** A kind that is added while the server runs, from names and a schema that are data. Pure. */
import { type FieldTable, requiredType } from '../apimachinery/field-types.ts';
import type { ResourceDefinition } from '../apimachinery/resource-definition.ts';
import {
  objectTypeFromStructural,
  type StructuralSchema,
  structuralCauses,
} from '../apimachinery/structural-schema.ts';
import { ageColumn, nameColumn } from './columns.ts';

export interface CustomKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  /** Default: the kind in lower case. */
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly namespaced: boolean;
  readonly schema: StructuralSchema;
  /** True if the status is a subresource. */
  readonly hasStatus?: boolean;
}

/**
 * Returns the definition. `fields` contains the type of metadata. Throws for a schema with unsupported
 * keywords.
 */
export function customKind(custom: CustomKind, fields: FieldTable): ResourceDefinition {
  const { group, version, kind, plural, namespaced, schema } = custom;
  const typeName = `${group}.${version}.${kind}`;
  return {
    group,
    version,
    kind,
    plural,
    namespaced,
    singular: custom.singular ?? kind.toLowerCase(),
    shortNames: custom.shortNames ?? [],
    categories: custom.categories ?? [],
    typeName,
    objectType: objectTypeFromStructural(typeName, schema, requiredType(fields, 'meta.v1.ObjectMeta')),
    strategy: {
      validate: ({ metadata: _, ...rest }) => structuralCauses(rest, schema),
      countsGenerations: true,
      updatesNameVersion: true,
    },
    hasStatus: custom.hasStatus ?? false,
    columns: [nameColumn, ageColumn],
    selectableFields: {},
    deleteAnswers: 'status',
  };
}
