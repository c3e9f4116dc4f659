import { identityOf } from '../../../apimachinery/equality.ts';
import { duplicateCause, invalidCause } from '../../../apimachinery/field-error.ts';
import { checkDns1123Label, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateLabels } from '../../../apimachinery/validate-meta.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { validateResources } from '../../core/v1/container/resource-validation.ts';
import { roundResources } from '../../core/v1/pod/spec-defaults.ts';
import { validateToleration } from '../../core/v1/pod/template-validation.ts';
import type { Toleration } from '../../core/v1/types.gen.ts';
import type { RuntimeClass } from './types.gen.ts';

export type { RuntimeClass } from './types.gen.ts';

function validateClass({ handler, overhead, scheduling }: RuntimeClass): StatusCause[] {
  const { nodeSelector = {}, tolerations = [] } = scheduling ?? {};
  return [
    ...nameCauses('handler', handler, checkDns1123Label),
    ...(overhead ? validateResources({ limits: overhead.podFixed }, 'overhead') : []),
    ...validateLabels(nodeSelector, 'scheduling.nodeSelector'),
    ...validateTolerations(tolerations, 'scheduling.tolerations'),
  ];
}

/** Validates tolerations. Two are duplicates if all their fields about a taint are equal. */
function validateTolerations(tolerations: readonly Toleration[], path: string): StatusCause[] {
  const seen = new Set<string>();
  return tolerations.flatMap((toleration, index) => {
    const { key, operator, value, effect } = toleration;
    const identity = identityOf({ key, operator, value, effect });
    const at = `${path}[${index}]`;
    const twice = seen.has(identity) ? [duplicateCause(at, toleration)] : [];
    seen.add(identity);
    return [...validateToleration(toleration, at), ...twice];
  });
}

export const runtimeClassResource: ResourceDefinition<RuntimeClass> = {
  group: 'node.k8s.io',
  version: 'v1',
  kind: 'RuntimeClass',
  plural: 'runtimeclasses',
  singular: 'runtimeclass',
  shortNames: [],
  categories: [],
  namespaced: false,
  typeName: 'node.v1.RuntimeClass',
  rules: {
    'node.v1.RuntimeClass': {},
    'node.v1.Overhead': {},
    'node.v1.Scheduling': {},
  },
  strategy: {
    setDefaults: ({ overhead }) => roundResources(overhead?.podFixed),
    validate: validateClass,
    validateUpdate: ({ handler }, old) =>
      handler === old.handler ? [] : [invalidCause('handler', handler, 'field is immutable')],
    countsGenerations: false,
    createsOnUpdate: true,
    updatesNameVersion: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Handler',
      type: 'string',
      description: 'Name of the runtime on the node agents.',
      cell: ({ handler }) => handler,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
