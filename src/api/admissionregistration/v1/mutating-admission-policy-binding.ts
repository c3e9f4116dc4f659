/** MutatingAdmissionPolicyBinding: where a policy holds, and with which parameters. */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateMatchResources } from './match-resources.ts';
import { validateOperations } from './mutating-policy-validation.ts';
import { bindingColumns, validateParamRef, validatePolicyName } from './param-ref.ts';
import type { MutatingAdmissionPolicyBinding } from './types.gen.ts';

export type { MutatingAdmissionPolicyBinding } from './types.gen.ts';

const validateBinding = ({ spec }: MutatingAdmissionPolicyBinding): StatusCause[] => [
  ...validatePolicyName(spec.policyName, 'spec.policyName'),
  ...(spec.paramRef ? validateParamRef(spec.paramRef, 'spec.paramRef') : []),
  ...(spec.matchResources ? validateMatchResources(spec.matchResources, 'spec.matchResources') : []),
  ...validateOperations(spec.matchResources, 'spec.matchResources'),
];

export const mutatingAdmissionPolicyBindingResource: ResourceDefinition<MutatingAdmissionPolicyBinding> = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'MutatingAdmissionPolicyBinding',
  plural: 'mutatingadmissionpolicybindings',
  singular: 'mutatingadmissionpolicybinding',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  typeName: 'admissionregistration.v1.MutatingAdmissionPolicyBinding',
  rules: {
    'admissionregistration.v1.MutatingAdmissionPolicyBinding': { defaults: { spec: {} } },
    'admissionregistration.v1.MutatingAdmissionPolicyBindingSpec': { defaults: { policyName: '' } },
  },
  strategy: { validate: validateBinding, countsGenerations: true, updatesNameVersion: true },
  hasStatus: false,
  columns: bindingColumns,
  selectableFields: {},
  deleteAnswers: 'status',
};
