import { clusterRoleResource } from '../../../../src/api/rbac/v1/cluster-role.ts';
import { roleResource } from '../../../../src/api/rbac/v1/role.ts';
import { testCreate, testUpdate } from '../../../fixtures/kinds.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const pods = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
const health = { nonResourceURLs: ['/healthz'], verbs: ['get'] };
const role = {
  apiVersion,
  kind: 'Role',
  metadata: { name: 'reader', namespace: 'default' },
  rules: [pods],
};
const clusterRole = {
  apiVersion,
  kind: 'ClusterRole',
  metadata: { name: 'reader' },
  rules: [pods, health],
};
const rules = (...all: object[]) => ({ rules: all });
const bothSorts =
  'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: rules cannot apply to both regular resources and non-resource URLs';

/** Cases for both kinds: a name is a segment of a path, and a rule has verbs and resources. */
const common = [
  ['no rules', { rules: null }],
  ['a name with colons', { metadata: { name: 'system:Controller:x_y' } }],
  ['a name ..', { metadata: { name: '..' } }, `metadata.name: Invalid value: "..": may not be '..'`],
  [
    'a name with a slash',
    { metadata: { name: 'a/b%' } },
    `metadata.name: Invalid value: "a/b%": may not contain '/'`,
    `metadata.name: Invalid value: "a/b%": may not contain '%'`,
  ],
  ['names of resources', rules({ ...pods, resourceNames: ['a'] })],
  [
    'a rule without verbs',
    rules({ ...pods, verbs: [] }),
    'rules[0].verbs: Required value: verbs must contain at least one value',
  ],
  [
    'an empty rule',
    rules(pods, {}),
    'rules[1].verbs: Required value: verbs must contain at least one value',
    'rules[1].apiGroups: Required value: resource rules must supply at least one api group',
    'rules[1].resources: Required value: resource rules must supply at least one resource',
  ],
] as const;

testCreate(roleResource, role, [
  ...common,
  [
    'paths, which belong to no namespace',
    rules(health),
    'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs',
  ],
]);

const selector = (fields: object) => ({ aggregationRule: { clusterRoleSelectors: [fields] } });

testCreate(clusterRoleResource, clusterRole, [
  ...common,
  ['paths and groups', rules({ ...health, apiGroups: [''] }), bothSorts],
  ['paths and resources', rules({ ...health, resources: ['pods'] }), bothSorts],
  ['paths and names', rules({ ...health, resourceNames: ['a'] }), bothSorts],
  ['aggregated rules', selector({ matchLabels: { a: 'b' } })],
  ['aggregated rules with an empty selector', selector({})],
  [
    'an aggregationRule without selectors',
    { aggregationRule: {} },
    'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
  ],
  [
    'an invalid selector',
    selector({ matchLabels: { 'a b': 'c' } }),
    'aggregationRule.clusterRoleSelectors[0].matchLabels: Invalid value: "a b": name part',
    'aggregationRule.clusterRoleSelectors[0]: Invalid value: "null": invalid label selector.',
  ],
]);

testUpdate(roleResource, role, [['other rules', rules({ ...pods, verbs: ['*'] })]]);
testUpdate(clusterRoleResource, clusterRole, [
  ['other rules', rules(health)],
  ['aggregated rules', selector({ matchLabels: { a: 'b' } })],
]);
