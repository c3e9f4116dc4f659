/**
 * The kinds that a CustomResourceDefinition defines, one for each served version. Objects are stored in one
 * of the versions; the others differ in their apiVersion, their schema and their columns. Pure.
 */
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionVersion,
} from '../../api/apiextensions/v1/custom-resource-definition.ts';
import { isDefinitionTrue } from '../../api/apiextensions/v1/definition-conditions.ts';
import type { FieldTable } from '../../apimachinery/field-types.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { apiVersionOf, type ResourceDefinition } from '../../apimachinery/resource-definition.ts';
import type { StructuralSchema } from '../../apimachinery/structural-schema/schema.ts';
import { type ConversionCaller, isWebhookConverted, webhookVersions } from './conversion/webhook-versions.ts';
import { customKind, underSchema } from './custom-kind.ts';
import { scaleOf, selectableFieldsOf } from './field-paths.ts';
import { printerColumns } from './printer-columns.ts';

/**
 * Returns whether the kinds of a definition are served: no other kind has their names. Clients may write the
 * status, so its names are checked: an accepted plural that is not the definition's own belongs to another
 * kind, and an empty kind cannot be served.
 */
export const isServed = (definition: CustomResourceDefinition): boolean =>
  (isDefinitionTrue(definition, 'NamesAccepted') || isDefinitionTrue(definition, 'Established')) &&
  namesOf(definition).plural === definition.spec.names.plural &&
  namesOf(definition).kind !== '';

const namesOf = ({ spec, status }: CustomResourceDefinition) => status?.acceptedNames ?? spec.names;

/**
 * Returns the kinds; none if the definition serves no version, unless it is being deleted: then its objects
 * can still be removed. `caller` calls conversion webhooks. Throws for a schema that is not supported.
 */
export function kindsOfDefinition(
  definition: CustomResourceDefinition,
  fields: FieldTable,
  caller?: ConversionCaller,
): readonly ResourceDefinition[] {
  const { spec, metadata } = definition;
  const some = spec.versions.filter((version) => version.served);
  const served =
    some.length === 0 && metadata.deletionTimestamp ? spec.versions.filter(({ storage }) => storage) : some;
  const main = served.find((version) => version.storage) ?? served[0];
  if (!main) return [];
  if (isWebhookConverted(definition)) {
    if (!caller) throw new Error('this server calls no conversion webhooks');
    return convertedKinds(definition, served, main, fields, caller);
  }
  const schema = schemaOf(main);
  const plain = { ...kindOf(definition, main, fields), ...storageOf(definition, main) };
  const strategy = { ...plain.strategy, ...(plain.fromStorage && { setDefaults: completing(schema) }) };
  const stored: ResourceDefinition = { ...plain, strategy };
  return served.map((version) =>
    version === main ? stored : inOtherVersion(kindOf(definition, version, fields), stored, schema),
  );
}

/**
 * Returns the kinds of a definition whose objects a webhook converts: each version has its own fields, and
 * its objects are validated in it.
 */
function convertedKinds(
  definition: CustomResourceDefinition,
  served: readonly CustomResourceDefinitionVersion[],
  main: CustomResourceDefinitionVersion,
  fields: FieldTable,
  caller: ConversionCaller,
): readonly ResourceDefinition[] {
  const { group, versions: all } = definition.spec;
  const storage = all.find((version) => version.storage) ?? main;
  const versions = webhookVersions(
    definition,
    {
      stored: `${group}/${storage.name}`,
      main: `${group}/${main.name}`,
      areComplete: isAsCreated(definition, storage),
    },
    caller,
  );
  return served.map((version) => ({ ...kindOf(definition, version, fields), versions }));
}

function kindOf(
  definition: CustomResourceDefinition,
  version: CustomResourceDefinitionVersion,
  fields: FieldTable,
): ResourceDefinition {
  const { group, scope } = definition.spec;
  const { plural, singular, kind, listKind, shortNames, categories } = namesOf(definition);
  const scale = scaleOf(version);
  const deprecation = deprecationOf(version, `${group}/${version.name} ${kind}`);
  return customKind(
    {
      ...{ group, version: version.name, kind, plural, namespaced: scope === 'Namespaced' },
      ...(singular && { singular }),
      ...(listKind && { listKind }),
      shortNames: shortNames ?? [],
      categories: categories ?? [],
      columns: printerColumns(version),
      selectableFields: selectableFieldsOf(version),
      hasStatus: version.subresources?.status !== undefined,
      ...(scale && { scale }),
      ...(deprecation !== undefined && { deprecation }),
      schema: schemaOf(version),
    },
    fields,
  );
}

const schemaOf = ({ schema }: CustomResourceDefinitionVersion) =>
  (schema?.openAPIV3Schema ?? {}) as StructuralSchema;

function deprecationOf(
  { deprecated, deprecationWarning }: CustomResourceDefinitionVersion,
  name: string,
): string | undefined {
  return deprecated ? (deprecationWarning ?? `${name} is deprecated`) : undefined;
}

/**
 * Returns whether the definition has not changed since it was created: then all stored objects are complete,
 * and in the version in which they are served.
 */
function isAsCreated(
  { metadata, status }: CustomResourceDefinition,
  main: CustomResourceDefinitionVersion,
): boolean {
  const stored = status?.storedVersions ?? [];
  return metadata.generation === 1 && stored.length === 1 && stored[0] === main.name;
}

/** Returns how stored objects are read. */
function storageOf(
  definition: CustomResourceDefinition,
  main: CustomResourceDefinitionVersion,
): Pick<ResourceDefinition, 'fromStorage'> {
  if (isAsCreated(definition, main)) return {};
  const schema = schemaOf(main);
  const apiVersion = `${definition.spec.group}/${main.name}`;
  return { fromStorage: (object) => ({ ...underSchema(object, schema), apiVersion }) };
}

/**
 * Returns a function that brings an object in line with the schema. The apiVersion stays, so that an update
 * which changes nothing stores an object in the new version.
 */
const completing = (schema: StructuralSchema) => (object: KubeObject) => {
  const fields = object as KubeObject & Record<string, unknown>;
  const next = underSchema(object, schema);
  for (const key of Object.keys(fields)) if (!Object.hasOwn(next, key)) delete fields[key];
  Object.assign(fields, next);
};

/**
 * Returns a version whose objects are stored in another version. A write stores the fields and defaults of
 * `schema`; nothing else is converted.
 */
function inOtherVersion(
  kind: ResourceDefinition,
  stored: ResourceDefinition,
  schema: StructuralSchema,
): ResourceDefinition {
  const inVersion = (of: ResourceDefinition, object: KubeObject): KubeObject => ({
    ...object,
    apiVersion: apiVersionOf(of),
    kind: of.kind,
  });
  return {
    ...kind,
    conversion: {
      stored,
      toStored: (object) => inVersion(stored, underSchema(object, schema)),
      fromStored: (object) => inVersion(kind, stored.fromStorage?.(object) ?? object),
    },
  };
}
