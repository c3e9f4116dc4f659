import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { createdAtColumn, nameColumn } from '../../columns.ts';
import { cleanupFinalizer, terminating, withDefinitionCondition } from './definition-conditions.ts';
import { definitionRules } from './definition-rules.ts';
import {
  definitionCauses,
  definitionCreateCauses,
  definitionUpdateCauses,
  requiredName,
} from './definition-validation.ts';
import { nameListCauses } from './name-causes.ts';
import type { CustomResourceDefinition } from './types.gen.ts';

export type { CustomResourceDefinition, CustomResourceDefinitionVersion } from './types.gen.ts';

/** Sets what follows from the kind's name, as upstream's defaulting does. */
function setDefaults({ spec }: CustomResourceDefinition): void {
  spec.names ??= { plural: '', kind: '' };
  spec.versions ??= [];
  const { names } = spec;
  names.singular ||= names.kind?.toLowerCase() ?? '';
  if (names.kind) names.listKind ||= `${names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
}

/** Records the storage version among the versions in which objects may be stored. */
function addStoredVersion(definition: CustomResourceDefinition): void {
  const { spec, status } = definition;
  const storage = spec.versions.find((version) => version.storage)?.name;
  const stored = status?.storedVersions ?? [];
  if (storage === undefined || stored.includes(storage)) return;
  const acceptedNames = status?.acceptedNames ?? { plural: '', kind: '' };
  definition.status = { conditions: [], acceptedNames, ...status, storedVersions: [...stored, storage] };
}

export const customResourceDefinitionResource: ResourceDefinition<CustomResourceDefinition> = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  typeName: 'apiextensions.v1.CustomResourceDefinition',
  rules: definitionRules,
  strategy: {
    setDefaults,
    prepareForCreate(definition) {
      delete definition.status;
      addStoredVersion(definition);
    },
    prepareForUpdate: addStoredVersion,
    beginDeletion(definition) {
      const { metadata, status } = definition;
      const finalizers = metadata.finalizers ?? [];
      if (!finalizers.includes(cleanupFinalizer)) metadata.finalizers = [...finalizers, cleanupFinalizer];
      if (!status) return;
      const now = metadata.deletionTimestamp ?? '';
      status.conditions = withDefinitionCondition(status.conditions, terminating.pending, now);
    },
    validateInSteps: definitionCauses,
    validateCreate: definitionCreateCauses,
    validateUpdate: definitionUpdateCauses,
    validateStatus: ({ status }) =>
      status?.acceptedNames ? nameListCauses(status.acceptedNames, 'status.acceptedNames') : [],
    checkName: requiredName,
    countsGenerations: true,
    updatesNameVersion: true,
  },
  hasStatus: true,
  columns: [nameColumn, createdAtColumn],
  selectableFields: {},
  deleteAnswers: 'status',
};
