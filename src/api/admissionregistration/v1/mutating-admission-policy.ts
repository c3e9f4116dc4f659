/** MutatingAdmissionPolicy: expressions in CEL that change a request, wherever a binding says so. */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { validateMutatingPolicy } from './mutating-policy-validation.ts';
import type { MutatingAdmissionPolicy } from './types.gen.ts';

export type { MutatingAdmissionPolicy } from './types.gen.ts';

export const mutatingAdmissionPolicyResource: ResourceDefinition<MutatingAdmissionPolicy> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  singular: 'mutatingadmissionpolicy',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  typeName: 'admissionregistration.v1.MutatingAdmissionPolicy',
  rules: {
    'admissionregistration.v1.MutatingAdmissionPolicy': { defaults: { spec: {} } },
    'admissionregistration.v1.MutatingAdmissionPolicySpec': { defaults: { failurePolicy: 'Fail' } },
    'admissionregistration.v1.Mutation': {},
    'admissionregistration.v1.ApplyConfiguration': {},
    'admissionregistration.v1.JSONPatch': {},
  },
  strategy: { validate: validateMutatingPolicy, countsGenerations: true, updatesNameVersion: true },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Mutations',
      type: 'integer',
      description: 'The number of mutations.',
      cell: ({ spec }) => spec.mutations?.length ?? 0,
    },
    {
      name: 'ParamKind',
      type: 'string',
      description: 'The kind of the parameters.',
      cell: ({ spec: { paramKind } }) =>
        paramKind ? `${paramKind.apiVersion}/${paramKind.kind}` : '<unset>',
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
