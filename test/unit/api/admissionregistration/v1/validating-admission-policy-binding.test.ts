import { validatingAdmissionPolicyBindingResource } from '../../../../../src/api/admissionregistration/v1/validating-admission-policy-binding.ts';
import { testCreate } from '../../../../fixtures/kinds.ts';
import { testCells } from '../../column-cells.ts';

const binding = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'guard' },
  spec: { policyName: 'guard', validationActions: ['Deny'] },
};
const of = (patch: object) => ({ spec: patch });
const ofReference = (paramRef: object) => of({ paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } });
const selector = { matchLabels: { a: 'b' } };

testCreate(validatingAdmissionPolicyBindingResource, binding, [
  ['a warning and an audit', of({ validationActions: ['Warn', 'Audit'] })],
  ['no policy', of({ policyName: '' }), 'spec.policyName: Required value'],
  [
    'no actions',
    of({ validationActions: [] }),
    'spec.validationActions: Required value: at least one validation action is required',
  ],
  [
    'an action twice',
    of({ validationActions: ['Warn', 'Warn'] }),
    'spec.validationActions[1]: Duplicate value: "Warn"',
  ],
  [
    'a refusal with a warning',
    of({ validationActions: ['Deny', 'Warn'] }),
    'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
  ],
  ['parameters by name', ofReference({ name: 'limits', namespace: 'default' })],
  ['parameters by labels', ofReference({ selector })],
  [
    'parameters by name and labels',
    ofReference({ name: 'limits', selector }),
    'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
    'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
  ],
  [
    'parameters without name and selector',
    ofReference({}),
    'spec.paramRef: Required value: one of name or selector must be specified',
  ],
  [
    'each value of parameterNotFoundAction',
    of({ paramRef: { name: 'limits' } }),
    'spec.paramRef.parameterNotFoundAction: Required value',
  ],
  [
    'an unknown action for missing parameters',
    of({ paramRef: { name: 'limits', parameterNotFoundAction: 'Warn' } }),
    'spec.paramRef.parameterNotFoundAction: Unsupported value: "Warn": supported values: "Deny", "Allow"',
  ],
]);

const shown = (title: string, spec: object, ParamRef: string) =>
  testCells(
    validatingAdmissionPolicyBindingResource,
    title,
    { spec: { ...binding.spec, ...spec } },
    { PolicyName: 'guard', ParamRef, Age: '95s' },
  );
shown('without parameters', {}, '<unset>');
shown('parameters of any namespace', { paramRef: { name: 'limits' } }, '*/limits');
shown('parameters of one namespace', { paramRef: { name: 'limits', namespace: 'web' } }, 'web/limits');
shown('selected parameters', { paramRef: { selector } }, 'a=b');
