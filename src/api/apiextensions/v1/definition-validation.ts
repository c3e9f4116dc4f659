/**
 * Validation of CustomResourceDefinitions, in upstream's words. Parts that are the same in all versions are
 * named as parts of the specification, as upstream does: `spec.validation`, `spec.subresources`. Pure.
 */
import { deepEqual } from '../../../apimachinery/equality.ts';
import { invalidCause, notSupportedCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { checkDns1035Label, checkDns1123Subdomain } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { Steps } from '../../../apimachinery/steps.ts';
import { approvalCauses } from './api-approval.ts';
import { changedBundleCauses, conversionCauses } from './conversion-causes.ts';
import { isDefinitionTrue } from './definition-conditions.ts';
import { requestedNameCauses } from './name-causes.ts';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from './types.gen.ts';
import {
  columnCauses,
  deprecationCauses,
  schemaPartCauses,
  selectableFieldCauses,
  subresourceCauses,
} from './version-causes.ts';

/** Returns the reasons why a definition's name is rejected; that it fits the names is checked separately. */
export const requiredName = checkDns1123Subdomain;

/** Returns the causes of a definition; a large schema takes many steps. */
export function* definitionCauses(definition: CustomResourceDefinition): Steps<StatusCause[]> {
  const { metadata, spec } = definition;
  const name = `${spec.names.plural}.${spec.group}`;
  return [
    ...(metadata.name === name
      ? []
      : [invalidCause('metadata.name', metadata.name, 'must be spec.names.plural+"."+spec.group')]),
    ...groupCauses(spec.group),
    ...scopeCauses(spec.scope),
    ...spec.versions.flatMap((version, index) => versionCauses(version, `spec.versions[${index}]`)),
    ...(yield* partCauses(spec)),
    ...versionListCauses(spec),
    ...requestedNameCauses(spec.names),
    ...conversionCauses(spec.conversion, spec.preserveUnknownFields ?? false),
    ...storedVersionCauses(definition),
    ...(spec.preserveUnknownFields ? [preservesUnknown] : []),
  ];
}

/** Causes of a new definition or of an update besides those that depend on the definition alone. */
export function definitionUpdateCauses(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
): StatusCause[] {
  const [{ spec }, { spec: before }] = [definition, old];
  const established = isDefinitionTrue(old, 'Established');
  return [
    ...(established ? immutable('spec.scope', spec.scope, before.scope) : []),
    ...(established ? immutable('spec.names.kind', spec.names.kind, before.names.kind) : []),
    ...immutable('spec.group', spec.group, before.group),
    ...immutable('spec.names.plural', spec.names.plural, before.names.plural),
    ...changedBundleCauses(definition, old),
    ...approvalCauses(definition, old),
  ];
}

export const definitionCreateCauses = (definition: CustomResourceDefinition): StatusCause[] =>
  approvalCauses(definition, undefined);

const immutable = (path: string, value: string, before: string): StatusCause[] =>
  value === before ? [] : [invalidCause(path, value, 'field is immutable')];

function groupCauses(group: string | undefined): StatusCause[] {
  const path = 'spec.group';
  if (!group) return [requiredCause(path)];
  const wrong = checkDns1123Subdomain(group);
  if (wrong.length > 0) return [invalidCause(path, group, wrong.join(','))];
  return group.includes('.') ? [] : [invalidCause(path, group, 'should be a domain with at least one dot')];
}

function scopeCauses(scope: string | undefined): StatusCause[] {
  if (!scope) return [requiredCause('spec.scope')];
  const scopes = ['Cluster', 'Namespaced'];
  return scopes.includes(scope) ? [] : [notSupportedCause('spec.scope', scope, scopes)];
}

function versionCauses(version: CustomResourceDefinitionVersion, path: string): StatusCause[] {
  const wrong = checkDns1035Label(version.name ?? '');
  return [
    ...(wrong.length > 0 ? [invalidCause(`${path}.name`, version.name, wrong.join(','))] : []),
    ...(version.schema?.openAPIV3Schema
      ? []
      : [requiredCause(`${path}.schema.openAPIV3Schema`, 'schemas are required')]),
    ...deprecationCauses(version, path),
  ];
}

/** Parts of a version: their field in the specification if all versions have the same, and their causes. */
const parts = [
  ['schema', 'validation', schemaPartCauses],
  ['subresources', 'subresources', subresourceCauses],
  ['additionalPrinterColumns', 'additionalPrinterColumns', columnCauses],
  ['selectableFields', 'selectableFields', selectableFieldCauses],
] as const;

function* partCauses(spec: CustomResourceDefinitionSpec): Steps<StatusCause[]> {
  const all: StatusCause[] = [];
  for (const part of parts) {
    for (const found of causesOfPart(part, spec)) {
      all.push(...(Array.isArray(found) ? found : yield* found));
      yield;
    }
  }
  return all;
}

function causesOfPart(
  [name, common, causes]: (typeof parts)[number],
  { versions }: CustomResourceDefinitionSpec,
) {
  const [first] = versions;
  if (!first) return [];
  if (versions.every((version) => deepEqual(version[name], first[name])))
    return [causes(first, `spec.${common}`)];
  return versions.map((version, index) => causes(version, `spec.versions[${index}].${name}`));
}

function versionListCauses({ versions }: CustomResourceDefinitionSpec): StatusCause[] {
  const path = 'spec.versions';
  const shown = versions.map(({ name, served, storage }) => ({ name, served, storage }));
  const isUnique = new Set(versions.map(({ name }) => name)).size === versions.length;
  return [
    ...(isUnique ? [] : [invalidCause(path, shown, 'must contain unique version names')]),
    ...(versions.filter(({ storage }) => storage).length === 1
      ? []
      : [invalidCause(path, shown, 'must have exactly one version marked as storage version')]),
  ];
}

const preservesUnknown = invalidCause(
  'spec.preserveUnknownFields',
  true,
  'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
);

/** Versions in which objects may be stored must remain in the specification. */
function storedVersionCauses({ spec, status }: CustomResourceDefinition): StatusCause[] {
  const stored = status?.storedVersions;
  // A new definition gets its first stored version before it is validated.
  if (!stored) return [];
  const path = 'status.storedVersions';
  if (stored.length === 0) return [invalidCause(path, stored, 'must have at least one stored version')];
  const names = new Set(spec.versions.map(({ name }) => name));
  const storage = spec.versions.find((version) => version.storage)?.name;
  return [
    ...(storage !== undefined && !stored.includes(storage)
      ? [invalidCause(path, stored, `must have the storage version ${storage}`)]
      : []),
    ...stored.flatMap((name, index) =>
      names.has(name) ? [] : [invalidCause(`${path}[${index}]`, name, 'must appear in spec.versions')],
    ),
  ];
}
