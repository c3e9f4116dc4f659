import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validatingAdmissionPolicyResource } from '../../../../../src/api/admissionregistration/v1/validating-admission-policy.ts';
import { created, createProblems, testCreate } from '../../../../fixtures/kinds.ts';
import { testCells } from '../../column-cells.ts';

const rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };
const policy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'guard' },
  spec: {
    matchConstraints: { resourceRules: [rule] },
    validations: [{ expression: 'object.spec.replicas > 1' }],
  },
};
const of = (patch: object) => ({ spec: patch });
const ofConstraints = (patch: object) => of({ matchConstraints: patch });
const ofValidation = (patch: object) => of({ validations: [{ expression: 'true', ...patch }] });
const ofAnnotation = (...annotations: object[]) => of({ auditAnnotations: annotations });
const valueExpression = "'x'";

testCreate(validatingAdmissionPolicyResource, policy, [
  ['parameters', of({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } })],
  [
    'a kind of parameters without a name',
    of({ paramKind: { apiVersion: 'v1' } }),
    'spec.paramKind.kind: Required value',
  ],
  [
    'parameters of no version',
    of({ paramKind: { apiVersion: 'apps/', kind: 'Rule' } }),
    'spec.paramKind.apiVersion: Invalid value: "apps/": version must be specified',
  ],
  [
    'parameters of a version in three parts',
    of({ paramKind: { apiVersion: 'a/b/c', kind: 'Rule' } }),
    'spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
  ],
  ['no constraints', of({ matchConstraints: null }), 'spec.matchConstraints: Required value'],
  ['no rules', ofConstraints({ resourceRules: [] }), 'spec.matchConstraints.resourceRules: Required value'],
  [
    'a rule without operations',
    ofConstraints({ resourceRules: [{ ...rule, operations: [] }] }),
    'spec.matchConstraints.resourceRules[0].operations: Required value',
  ],
  [
    'a name twice in a rule',
    ofConstraints({ resourceRules: [{ ...rule, resourceNames: ['a', 'a'] }] }),
    'spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"',
  ],
  [
    'an invalid resource name in a rule',
    ofConstraints({ resourceRules: [rule], excludeResourceRules: [{ ...rule, resourceNames: ['a/b'] }] }),
    `spec.matchConstraints.excludeResourceRules[0].resourceNames[0]: Invalid value: "a/b": may not contain '/'`,
  ],
  [
    'a selector with an unknown operator',
    ofConstraints({
      resourceRules: [rule],
      namespaceSelector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
    }),
    "spec.matchConstraints.namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ],
  [
    'neither validations nor annotations',
    of({ validations: [] }),
    'spec.validations: Required value: validations or auditAnnotations must contain at least one item',
    'spec.auditAnnotations: Required value: validations or auditAnnotations must contain at least one item',
  ],
  [
    'an empty expression',
    ofValidation({ expression: ' ' }),
    'spec.validations[0].expression: Required value: expression is not specified',
  ],
  [
    'a message in two lines',
    ofValidation({ message: 'one\ntwo' }),
    'spec.validations[0].message: Invalid value: "one\\ntwo": message must not contain line breaks',
  ],
  [
    'an empty message',
    ofValidation({ message: ' ' }),
    'spec.validations[0].message: Invalid value: " ": message must be non-empty if specified',
  ],
  [
    'an empty expression for the message',
    ofValidation({ messageExpression: ' ' }),
    'spec.validations[0].messageExpression: Invalid value: " ": must be non-empty if specified',
  ],
  [
    'a message that is a number',
    ofValidation({ messageExpression: '1' }),
    'spec.validations[0].messageExpression: Invalid value: "1": must evaluate to string but got int',
  ],
  [
    'an unknown reason',
    ofValidation({ reason: 'Because' }),
    'spec.validations[0].reason: Unsupported value: "Because": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
  ],
  [
    'a condition without a name',
    of({ matchConditions: [{ name: '', expression: 'true' }] }),
    'spec.matchConditions[0].name: Required value',
  ],
  [
    'two conditions of one name',
    of({
      matchConditions: [
        { name: 'a', expression: 'true' },
        { name: 'a', expression: 'true' },
      ],
    }),
    'spec.matchConditions[1].name: Duplicate value: "a"',
  ],
  [
    'a condition that does not return a boolean',
    of({ matchConditions: [{ name: 'a', expression: "'yes'" }] }),
    'spec.matchConditions[0].expression: Invalid value: "\'yes\'": must evaluate to bool but got string',
  ],
  [
    'a variable named after a reserved word of CEL',
    of({ variables: [{ name: 'for', expression: '1' }] }),
    'spec.variables[0].name: Invalid value: "for": name is not a valid CEL identifier',
  ],
  [
    'variables that use earlier variables',
    of({
      variables: [
        { name: 'a', expression: '1' },
        { name: 'b', expression: 'variables.a + 1' },
      ],
    }),
  ],
  [
    'expressions whose total length is too large',
    of({ validations: Array.from({ length: 5 }, () => ({ expression: `'${'x'.repeat(9_000)}' == ''` })) }),
    'spec: Invalid value: the expressions have 45040 characters together; at most 40000 are allowed',
  ],
  ['two annotations', ofAnnotation({ key: 'one', valueExpression }, { key: 'two', valueExpression: 'null' })],
  [
    'two annotations of one key',
    ofAnnotation({ key: 'one', valueExpression }, { key: 'one', valueExpression }),
    'spec.auditAnnotations[1].key: Duplicate value: "one"',
  ],
  [
    'an annotation that is a number',
    ofAnnotation({ key: 'one', valueExpression: '1' }),
    'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null] but got int',
  ],
]);

test('a variable cannot refer to later variables', () => {
  const variables = [
    { name: 'a', expression: 'variables.b' },
    { name: 'b', expression: '1' },
  ];
  const [problem = ''] = createProblems(validatingAdmissionPolicyResource, {
    ...policy,
    spec: { ...policy.spec, variables },
  });
  assert.match(
    problem,
    /^spec\.variables\[0\]\.expression: Invalid value: "variables\.b": compilation failed: ERROR: <input>:1:10: undefined field 'b'/,
  );
});

test('a policy gets the defaults of Kubernetes', () => {
  const { spec } = created(validatingAdmissionPolicyResource, policy);
  assert.equal(spec.failurePolicy, 'Fail');
  assert.deepEqual(spec.matchConstraints, {
    resourceRules: [{ ...rule, scope: '*' }],
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector: {},
  });
});

testCells(validatingAdmissionPolicyResource, 'number of validations', policy, {
  Name: 'guard',
  Validations: 1,
  ParamKind: '<unset>',
  Age: '95s',
});
testCells(
  validatingAdmissionPolicyResource,
  'kind of parameters',
  { spec: { ...policy.spec, paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } } },
  { ParamKind: 'v1/ConfigMap' },
);
