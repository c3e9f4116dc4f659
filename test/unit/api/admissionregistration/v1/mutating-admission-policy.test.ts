import { mutatingAdmissionPolicyResource } from '../../../../../src/api/admissionregistration/v1/mutating-admission-policy.ts';
import { testCreate } from '../../../../fixtures/kinds.ts';
import { testCells } from '../../column-cells.ts';

const rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };
const apply = (expression: string) => ({
  patchType: 'ApplyConfiguration',
  applyConfiguration: { expression },
});
const json = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
const policy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingAdmissionPolicy',
  metadata: { name: 'grow' },
  spec: {
    matchConstraints: { resourceRules: [rule] },
    mutations: [apply('Object{spec: Object.spec{replicas: 3}}')],
    reinvocationPolicy: 'Never',
  },
};
const of = (patch: object) => ({ spec: patch });
const ofMutation = (mutation: object) => of({ mutations: [mutation] });
const ofRule = (patch: object) => of({ matchConstraints: { resourceRules: [{ ...rule, ...patch }] } });

testCreate(mutatingAdmissionPolicyResource, policy, [
  ['a JSON patch', ofMutation(json('[JSONPatch{op: "remove", path: "/spec/replicas"}]'))],
  [
    'variables and parameters in a mutation',
    of({
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      variables: [{ name: 'n', expression: 'int(params.data.n)' }],
      mutations: [apply('Object{spec: Object.spec{replicas: variables.n}}')],
    }),
  ],
  ['every operation', ofRule({ operations: ['*'] })],
  [
    'a rule for deletions and connections',
    ofRule({ operations: ['DELETE', 'CREATE', 'CONNECT'] }),
    'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CREATE", "UPDATE"',
    'spec.matchConstraints.resourceRules.operations: Unsupported value: "CONNECT": supported values: "*", "CREATE", "UPDATE"',
  ],
  ['no constraints', of({ matchConstraints: null }), 'spec.matchConstraints: Required value'],
  [
    'no mutations',
    of({ mutations: [] }),
    'spec.mutations: Required value: mutations must contain at least one item',
  ],
  ['no reinvocation policy', of({ reinvocationPolicy: null }), 'spec.reinvocationPolicy: Required value'],
  [
    'an unknown reinvocation policy',
    of({ reinvocationPolicy: 'Always' }),
    'spec.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"',
  ],
  [
    'a mutation without its expression',
    ofMutation({ patchType: 'JSONPatch' }),
    'spec.mutations[0].jsonPatch: Required value: must be specified when patchType is JSONPatch',
  ],
  [
    'a mutation with an empty expression',
    ofMutation(apply(' ')),
    'spec.mutations[0].applyConfiguration.expression: Required value',
  ],
  [
    'a mutation of both types',
    ofMutation({ ...apply('Object{}'), jsonPatch: { expression: '[]' } }),
    'spec.mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
  ],
  [
    'an unknown type of patch',
    ofMutation({ patchType: 'Merge' }),
    'spec.mutations[0].patchType: Unsupported value: "Merge": supported values: "ApplyConfiguration", "JSONPatch"',
  ],
  [
    'a configuration that is a map',
    ofMutation(apply('{"a": "b"}')),
    'spec.mutations[0].applyConfiguration.expression: Invalid value: "{\\"a\\": \\"b\\"}": must evaluate to Object but got map(string, string)',
  ],
  [
    'a JSON patch whose value is one operation instead of a list',
    ofMutation(json('JSONPatch{}')),
    'spec.mutations[0].jsonPatch.expression: Invalid value: "JSONPatch{}": must evaluate to list(JSONPatch) but got JSONPatch',
  ],
  [
    'objects in a match condition',
    of({ matchConditions: [{ name: 'a', expression: 'Object{} == Object{}' }] }),
    "spec.matchConditions[0].expression: Invalid value: \"Object{} == Object{}\": compilation failed: ERROR: <input>:1:7: undeclared reference to 'Object' (in container '')\n | Object{} == Object{}\n | ......^\nERROR: <input>:1:19: undeclared reference to 'Object' (in container '')\n | Object{} == Object{}\n | ..................^",
  ],
  [
    'expressions whose total length is too large',
    of({ mutations: Array.from({ length: 5 }, () => apply(`Object{a: '${'x'.repeat(9_000)}'}`)) }),
    'spec: Invalid value: the expressions have 45065 characters together; at most 40000 are allowed',
  ],
]);

testCells(mutatingAdmissionPolicyResource, 'without parameters', policy, {
  Mutations: 1,
  ParamKind: '<unset>',
  Age: '95s',
});
