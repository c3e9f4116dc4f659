/** References of bindings to policies and to their parameters. */

import { forbiddenCause, notSupportedCause, requiredCause } from '../../../apimachinery/field-error.ts';
import { formatSelector, selectorFromLabelSelector } from '../../../apimachinery/labels.ts';
import type { KubeObject } from '../../../apimachinery/meta.ts';
import { checkDns1123Subdomain, checkPathSegment, nameCauses } from '../../../apimachinery/names.ts';
import type { Column } from '../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { validateLabelSelector } from '../../meta/v1/label-selector.ts';
import type { ParamRef } from './types.gen.ts';

export const validatePolicyName = (name: string, path: string): StatusCause[] =>
  name === '' ? [requiredCause(path)] : nameCauses(path, name, checkDns1123Subdomain);

const notFoundActions = ['Deny', 'Allow'];

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

interface Binding extends KubeObject {
  readonly spec: { readonly policyName: string; readonly paramRef?: ParamRef | undefined };
}

/** Columns of bindings of both kinds of policies. */
export const bindingColumns: readonly Column<Binding>[] = [
  nameColumn,
  {
    name: 'PolicyName',
    type: 'string',
    description: 'The policy that is bound.',
    cell: ({ spec }) => spec.policyName,
  },
  {
    name: 'ParamRef',
    type: 'string',
    description: 'The parameters of the policy.',
    cell: ({ spec }) => paramText(spec.paramRef),
  },
  ageColumn,
];

/** Returns the parameters of a binding: `NAMESPACE/NAME`, or the selector. */
function paramText(reference: ParamRef | undefined): string {
  if (!reference) return '<unset>';
  const { name, namespace, selector } = reference;
  if (name) return `${namespace || '*'}/${name}`;
  return selector ? formatSelector(selectorFromLabelSelector(selector)) : '<unset>';
}
