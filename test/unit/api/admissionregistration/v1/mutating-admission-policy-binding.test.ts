import { mutatingAdmissionPolicyBindingResource } from '../../../../../src/api/admissionregistration/v1/mutating-admission-policy-binding.ts';
import { testCreate } from '../../../../fixtures/kinds.ts';
import { testCells } from '../../column-cells.ts';

const rule = { operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] };
const binding = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingAdmissionPolicyBinding',
  metadata: { name: 'grow' },
  spec: { policyName: 'grow' },
};
const of = (patch: object) => ({ spec: patch });

testCreate(mutatingAdmissionPolicyBindingResource, binding, [
  ['resources', of({ matchResources: { resourceRules: [rule] } })],
  ['no policy', of({ policyName: '' }), 'spec.policyName: Required value'],
  [
    'a policy with an invalid name',
    of({ policyName: 'A' }),
    `spec.policyName: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by '.', each of a-z, 0-9 and '-' with a letter or digit first and last, such as 'web.example.com' (it has to match '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
  ],
  [
    'resources that are deleted',
    of({ matchResources: { resourceRules: [{ ...rule, operations: ['DELETE'] }] } }),
    'spec.matchResources.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CREATE", "UPDATE"',
  ],
  [
    'parameters without parameterNotFoundAction',
    of({ paramRef: { name: 'limits' } }),
    'spec.paramRef.parameterNotFoundAction: Required value',
  ],
]);

testCells(
  mutatingAdmissionPolicyBindingResource,
  'with parameters in one namespace',
  {
    spec: {
      ...binding.spec,
      paramRef: { name: 'limits', namespace: 'web', parameterNotFoundAction: 'Deny' },
    },
  },
  { PolicyName: 'grow', ParamRef: 'web/limits', Age: '95s' },
);
