import { invalidCause } from '../../../apimachinery/field-error.ts';
import { checkDns1123Label, checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import type { Namespace } from './types.gen.ts';

export type { Namespace } from './types.gen.ts';

/** Finalizer that is present until the namespace's contents are deleted. */
export const namespaceFinalizer = 'kubernetes';
const namespaceNameLabel = 'kubernetes.io/metadata.name';

function validateFinalizer(finalizer: string, path: string): StatusCause[] {
  const causes = nameCauses(path, finalizer, checkQualifiedName);
  if (causes.length > 0 || finalizer === namespaceFinalizer || finalizer.includes('/')) return causes;
  const why = 'name is neither a standard finalizer name nor is it fully qualified';
  return [invalidCause(path, finalizer, why)];
}

/** Validates the finalizers in the namespace's spec. */
function validateFinalizers({ spec }: Namespace): StatusCause[] {
  return (spec?.finalizers ?? []).flatMap((finalizer, index) =>
    validateFinalizer(finalizer, `spec.finalizers[${index}]`),
  );
}

/** Validates the phase, which only depends on the deletion timestamp. */
function validatePhase({ metadata, status }: Namespace): StatusCause[] {
  const phase = status?.phase ?? '';
  const [right, is] = metadata.deletionTimestamp ? ['Terminating', 'is not'] : ['Active', 'is'];
  if (phase === right) return [];
  return [invalidCause('status.Phase', phase, `may only be '${right}' if \`deletionTimestamp\` ${is} empty`)];
}

export const namespaceResource: ResourceDefinition<Namespace> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  categories: [],
  namespaced: false,
  typeName: 'core.v1.Namespace',
  rules: {
    'core.v1.Namespace': {},
    'core.v1.NamespaceSpec': {},
    'core.v1.NamespaceStatus': {},
    'core.v1.NamespaceCondition': { choices: { status: ['True', 'False', 'Unknown'] } },
  },
  strategy: {
    setDefaults: ({ metadata }) => {
      if (metadata.name) metadata.labels = { ...metadata.labels, [namespaceNameLabel]: metadata.name };
    },
    otherFinalizers: ({ spec }) => spec?.finalizers ?? [],
    beginDeletion(namespace) {
      namespace.status = { ...namespace.status, phase: 'Terminating' };
    },
    prepareForCreate: (namespace) => {
      namespace.status = { phase: 'Active' };
      const finalizers = namespace.spec?.finalizers ?? [];
      if (finalizers.includes(namespaceFinalizer)) return;
      namespace.spec = { ...namespace.spec, finalizers: [...finalizers, namespaceFinalizer] };
    },
    // Finalizers are only removed by the finalize subresource.
    prepareForUpdate: (namespace, old) => {
      if (old.spec?.finalizers) namespace.spec = { ...namespace.spec, finalizers: old.spec.finalizers };
    },
    validate: validateFinalizers,
    validateStatus: validatePhase,
    resetFields: { finalize: ['status'] },
    parts: {
      finalize: {
        take: (kept, { spec }) => {
          kept.spec = spec ?? {};
        },
        validate: validateFinalizers,
      },
    },
    checkName: checkDns1123Label,
    countsGenerations: false,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Status',
      type: 'string',
      description: 'Active, or Terminating while its contents are being deleted.',
      cell: (namespace) => namespace.status?.phase ?? '',
    },
    ageColumn,
  ],
  selectableFields: { 'status.phase': (namespace) => namespace.status?.phase ?? '' },
  deleteAnswers: 'object',
};
