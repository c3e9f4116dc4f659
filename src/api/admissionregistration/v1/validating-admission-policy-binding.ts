/**
 * ValidatingAdmissionPolicyBinding: where a policy holds, with which parameters, and what a violation causes.
 */
import { duplicateCause, invalidCause, requiredCause } from '../../../apimachinery/field-error.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { validateMatchResources } from './match-resources.ts';
import { bindingColumns, validateParamRef, validatePolicyName } from './param-ref.ts';
import type { ValidatingAdmissionPolicyBinding } from './types.gen.ts';

export type { ValidatingAdmissionPolicyBinding } from './types.gen.ts';

function validateBinding({ spec }: ValidatingAdmissionPolicyBinding): StatusCause[] {
  return [
    ...validatePolicyName(spec.policyName, 'spec.policyName'),
    ...(spec.paramRef ? validateParamRef(spec.paramRef, 'spec.paramRef') : []),
    ...(spec.matchResources ? validateMatchResources(spec.matchResources, 'spec.matchResources') : []),
    ...validateActions(spec.validationActions, 'spec.validationActions'),
  ];
}

function validateActions(actions: readonly string[], path: string): StatusCause[] {
  const causes = actions.flatMap((action, index) =>
    actions.indexOf(action) < index ? [duplicateCause(`${path}[${index}]`, action)] : [],
  );
  if (actions.includes('Deny') && actions.includes('Warn')) {
    const why =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API ' +
      'response and headers serves no purpose)';
    causes.push(invalidCause(path, actions, why));
  }
  if (actions.length === 0) causes.push(requiredCause(path, 'at least one validation action is required'));
  return causes;
}

export const validatingAdmissionPolicyBindingResource: ResourceDefinition<ValidatingAdmissionPolicyBinding> =
  {
    group: 'admissionregistration.k8s.io',
    version: 'v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    plural: 'validatingadmissionpolicybindings',
    singular: 'validatingadmissionpolicybinding',
    shortNames: [],
    categories: ['api-extensions'],
    namespaced: false,
    typeName: 'admissionregistration.v1.ValidatingAdmissionPolicyBinding',
    rules: {
      'admissionregistration.v1.ValidatingAdmissionPolicyBinding': { defaults: { spec: {} } },
      'admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec': {
        defaults: { policyName: '', validationActions: [] },
      },
      'admissionregistration.v1.ParamRef': {},
    },
    strategy: { validate: validateBinding, countsGenerations: true, updatesNameVersion: true },
    hasStatus: false,
    columns: bindingColumns,
    selectableFields: {},
    deleteAnswers: 'status',
  };
