/** ValidatingAdmissionPolicy: expressions in CEL that a request must satisfy, wherever a binding says so. */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { validateConditions } from '../../conditions.ts';
import { matchResourcesRules } from './match-resources.ts';
import { validatePolicy } from './policy-validation.ts';
import type { ValidatingAdmissionPolicy } from './types.gen.ts';

export type { ValidatingAdmissionPolicy } from './types.gen.ts';

export const validatingAdmissionPolicyResource: ResourceDefinition<ValidatingAdmissionPolicy> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  singular: 'validatingadmissionpolicy',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  typeName: 'admissionregistration.v1.ValidatingAdmissionPolicy',
  rules: {
    'admissionregistration.v1.ValidatingAdmissionPolicy': { defaults: { spec: {}, status: {} } },
    'admissionregistration.v1.ValidatingAdmissionPolicySpec': { defaults: { failurePolicy: 'Fail' } },
    'admissionregistration.v1.ParamKind': {},
    'admissionregistration.v1.Validation': { defaults: { expression: '' } },
    'admissionregistration.v1.AuditAnnotation': { defaults: { key: '', valueExpression: '' } },
    'admissionregistration.v1.Variable': { defaults: { name: '', expression: '' } },
    'admissionregistration.v1.ValidatingAdmissionPolicyStatus': {},
    'admissionregistration.v1.TypeChecking': {},
    'admissionregistration.v1.ExpressionWarning': {},
    ...matchResourcesRules,
  },
  strategy: {
    prepareForCreate: (policy) => {
      policy.status = {};
    },
    validate: validatePolicy,
    validateStatus: ({ status }) => validateConditions(status?.conditions ?? [], 'status.conditions'),
    countsGenerations: true,
    updatesNameVersion: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Validations',
      type: 'integer',
      description: 'The number of expressions.',
      cell: ({ spec }) => spec.validations?.length ?? 0,
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
