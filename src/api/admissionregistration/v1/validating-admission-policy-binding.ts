/**
 * ValidatingAdmissionPolicyBinding: where a policy holds, with which parameters, and what a violation causes.
 */
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import { formatSelector, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import { checkDns1123Subdomain, checkPathSegment, nameCauses } from '../../../apimachinery/names.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import { validateMatchResources } from './match-resources.ts';
import type { ParamRef, ValidatingAdmissionPolicyBinding } from './types.gen.ts';

export type { ValidatingAdmissionPolicyBinding } from './types.gen.ts';

const notFoundActions = ['Deny', 'Allow'];

function validateBinding({ spec }: ValidatingAdmissionPolicyBinding): StatusCause[] {
  return [
    ...(spec.policyName === ''
      ? [requiredCause('spec.policyName')]
      : nameCauses('spec.policyName', spec.policyName, checkDns1123Subdomain)),
    ...(spec.paramRef ? validateParamRef(spec.paramRef, 'spec.paramRef') : []),
    ...(spec.matchResources ? validateMatchResources(spec.matchResources, 'spec.matchResources') : []),
    ...validateActions(spec.validationActions, 'spec.validationActions'),
  ];
}

/** Validates the reference of a binding to its parameters. */
export function validateParamRef(reference: ParamRef, path: string): StatusCause[] {
  const { name = '', selector, parameterNotFoundAction: action } = reference;
  const exclusive = 'name and selector are mutually exclusive';
  const both = name !== '' && selector !== undefined;
  return [
    ...(name === '' ? [] : nameCauses(`${path}.name`, name, checkPathSegment)),
    ...(both ? [forbiddenCause(`${path}.name`, exclusive)] : []),
    ...(selector ? validateLabelSelector(selector, `${path}.selector`) : []),
    ...(both ? [forbiddenCause(`${path}.selector`, exclusive)] : []),
    ...(name === '' && !selector ? [requiredCause(path, 'one of name or selector must be specified')] : []),
    ...validateNotFoundAction(action, `${path}.parameterNotFoundAction`),
  ];
}

function validateNotFoundAction(action: string | undefined, path: string): StatusCause[] {
  if (!action) return [requiredCause(path)];
  return notFoundActions.includes(action) ? [] : [notSupportedCause(path, action, notFoundActions)];
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

/** Returns the parameters of a binding as the printer shows them: `NAMESPACE/NAME`, or the selector. */
function paramText(reference: ParamRef | undefined): string {
  if (!reference) return '<unset>';
  const { name, namespace, selector } = reference;
  if (name) return `${namespace || '*'}/${name}`;
  return selector ? formatSelector(selectorFromLabelSelector(selector)) : '<unset>';
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
    columns: [
      nameColumn,
      {
        name: 'PolicyName',
        type: 'string',
        description: 'The policy that holds.',
        cell: ({ spec }) => spec.policyName,
      },
      {
        name: 'ParamRef',
        type: 'string',
        description: 'The parameters with which it holds.',
        cell: ({ spec }) => paramText(spec.paramRef),
      },
      ageColumn,
    ],
    selectableFields: {},
    deleteAnswers: 'status',
  };
