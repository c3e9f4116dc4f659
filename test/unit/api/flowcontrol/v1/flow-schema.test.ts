import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flowSchemaResource } from '../../../../../src/api/flowcontrol/v1/flow-schema.ts';
import {
  cells,
  created,
  createProblems,
  testConditions,
  testCreate,
  testStatusMetadata,
  testUpdate,
} from '../../../../fixtures/kinds.ts';

const schema = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  metadata: { name: 'web' },
  spec: { priorityLevelConfiguration: { name: 'low' } },
};
const ann = { kind: 'User', user: { name: 'ann' } };
const rule = (fields: object) => ({ spec: { rules: [fields] } });
const of = (...subjects: object[]) =>
  rule({ subjects, nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a'] }] });
const resources = (fields: object) => rule({ subjects: [ann], resourceRules: [fields] });
const paths = (fields: object) => rule({ subjects: [ann], nonResourceRules: [fields] });

testCreate(flowSchemaResource, schema, [
  [
    'an invalid name',
    { metadata: { name: 'A' } },
    'metadata.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joined by \'.\', each of a-z',
  ],
  [
    'no specification',
    { spec: null },
    'spec.priorityLevelConfiguration.name: Required value: must reference a priority level',
  ],
  [
    'an invalid name of a level',
    { spec: { priorityLevelConfiguration: { name: 'A' } } },
    'spec.priorityLevelConfiguration.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of labels joi',
  ],
  [
    'a precedence below the minimum',
    { spec: { matchingPrecedence: -1 } },
    'spec.matchingPrecedence: Invalid value: -1: must be a positive value',
  ],
  [
    'the precedence of the schema exempt',
    { spec: { matchingPrecedence: 1 } },
    "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
  ],
  ['the second', { spec: { matchingPrecedence: 2 } }],
  ['the last', { spec: { matchingPrecedence: 10000 } }],
  [
    'a precedence above the maximum',
    { spec: { matchingPrecedence: 10001 } },
    'spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000',
  ],
  [
    'an invalid method',
    { spec: { distinguisherMethod: { type: 'X' } } },
    'spec.distinguisherMethod.type: Unsupported value: {"type":"X"}: supported values: "ByNamespace", "ByUser"',
  ],
  ['a method', { spec: { distinguisherMethod: { type: 'ByUser' } } }],
  [
    'an empty rule',
    { spec: { rules: [{}] } },
    'spec.rules[0].subjects: Required value: subjects must contain at least one value',
    'spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules must be non-empty',
  ],
  [
    'a subject without a kind',
    of({}),
    'spec.rules[0].subjects[0].kind: Unsupported value: "": supported values: "Group", "ServiceAccount", "User"',
  ],
  [
    'a user without a name, beside other subjects',
    of({ kind: 'User', user: {}, group: { name: 'a' }, serviceAccount: {} }),
    'spec.rules[0].subjects[0].user.name: Required value',
    "spec.rules[0].subjects[0].serviceAccount: Forbidden: serviceAccount is forbidden when subject kind is not 'Ser",
    "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
  ],
  [
    'no user',
    of({ kind: 'User' }),
    "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
  ],
  [
    'a group subject with a user',
    of({ kind: 'Group', user: { name: 'a' } }),
    "spec.rules[0].subjects[0].group: Required value: group is required when subject kind is 'Group'",
    "spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'",
  ],
  [
    'a group without a name, with an account',
    of({ kind: 'Group', group: {}, serviceAccount: { name: 'a', namespace: 'b' } }),
    'spec.rules[0].subjects[0].group.name: Required value',
    "spec.rules[0].subjects[0].serviceAccount: Forbidden: serviceAccount is forbidden when subject kind is not 'Ser",
  ],
  [
    'no account',
    of({ kind: 'ServiceAccount' }),
    "spec.rules[0].subjects[0].serviceAccount: Required value: serviceAccount is required when subject kind is 'Ser",
  ],
  [
    'an account without any field, beside other subjects',
    of({ kind: 'ServiceAccount', serviceAccount: {}, user: { name: 'a' }, group: { name: 'b' } }),
    'spec.rules[0].subjects[0].serviceAccount.name: Required value',
    'spec.rules[0].subjects[0].serviceAccount.namespace: Required value: must specify namespace for service account',
    "spec.rules[0].subjects[0].user: Forbidden: user is forbidden when subject kind is not 'User'",
    "spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'",
  ],
  [
    'all accounts of a namespace',
    of({ kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'a' } }),
  ],
  [
    'an invalid account',
    of({ kind: 'ServiceAccount', serviceAccount: { name: 'A', namespace: 'B' } }),
    'spec.rules[0].subjects[0].serviceAccount.name: Invalid value: "A": a lowercase RFC 1123 subdomain is made of l',
    'spec.rules[0].subjects[0].serviceAccount.namespace: Invalid value: "B": a lowercase RFC 1123 label holds a-z, ',
  ],
  ['resources', resources({ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['*'] })],
  [
    'no resources',
    resources({ verbs: [], apiGroups: [], resources: [], namespaces: [] }),
    'spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one value',
    'spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group',
    'spec.rules[0].resourceRules[0].resources: Required value: resource rules must supply at least one resource',
    'spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must sup',
  ],
  [
    'all resources beside single ones',
    resources({ verbs: ['*', 'get'], apiGroups: ['*', ''], resources: ['*', 'a'], namespaces: ['*', 'a'] }),
    'spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if \'*\' is present, must not specify other verbs',
    'spec.rules[0].resourceRules[0].apiGroups: Invalid value: ["*",""]: if \'*\' is present, must not specify other a',
    'spec.rules[0].resourceRules[0].resources: Invalid value: ["*","a"]: if \'*\' is present, must not specify other ',
    'spec.rules[0].resourceRules[0].namespaces: Invalid value: ["*","a"]: if \'*\' is present, must not specify other',
  ],
  [
    'invalid verbs and namespaces',
    resources({ verbs: ['X', 'get'], apiGroups: [''], resources: ['pods'], namespaces: ['A', 'b'] }),
    'spec.rules[0].resourceRules[0].verbs: Unsupported value: ["X","get"]: supported values: "create", "delete", "d',
    'spec.rules[0].resourceRules[0].namespaces[0]: Invalid value: "A": each member of this list must be \'*\' or a DN',
  ],
  [
    'resources without a namespace',
    resources({ verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: [], clusterScope: true }),
  ],
  [
    'resources with and without a namespace',
    resources({ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }),
  ],
  [
    'no paths',
    paths({ verbs: [], nonResourceURLs: [] }),
    'spec.rules[0].nonResourceRules[0].verbs: Required value: verbs must contain at least one value',
    'spec.rules[0].nonResourceRules[0].nonResourceURLs: Required value: nonResourceURLs must contain at least one value',
  ],
  ['all paths', paths({ verbs: ['*'], nonResourceURLs: ['*'] })],
  [
    'all paths beside single ones',
    paths({ verbs: ['get'], nonResourceURLs: ['*', 'a'] }),
    'spec.rules[0].nonResourceRules[0].nonResourceURLs: Invalid value: ["*","a"]: if \'*\' is present, must not speci',
  ],
  [
    'invalid paths',
    paths({
      verbs: ['X'],
      nonResourceURLs: ['', '/', 'a', '/a b', '/a//b', '/a*', '/a/*', '/*/a', '/*', '/a/**'],
    }),
    'spec.rules[0].nonResourceRules[0].verbs: Unsupported value: ["X"]: supported values: "create", "delete", "dele',
    'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "": must not be empty',
    'spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "a": must start with slash',
    'spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "/a b": must not contain white-space',
    'spec.rules[0].nonResourceRules[0].nonResourceURLs[4]: Invalid value: "/a//b": must not contain double slash',
    'spec.rules[0].nonResourceRules[0].nonResourceURLs[5]: Invalid value: "/a*": wildcard can only do suffix matching',
    'spec.rules[0].nonResourceRules[0].nonResourceURLs[7]: Invalid value: "/*/a": wildcard can only do suffix matching',
    'spec.rules[0].nonResourceRules[0].nonResourceURLs[9]: Invalid value: "/a/**": wildcard can only do suffix matching',
  ],
  [
    'a change of the schema exempt',
    { metadata: { name: 'exempt' }, spec: { matchingPrecedence: 1 } },
    'spec: Invalid value: {"priorityLevelConfiguration":{"name":"low"},"matchingPrecedence":1}: spec of \'exempt\' mu',
  ],
  [
    'a change of the schema catch-all',
    { metadata: { name: 'catch-all' } },
    'spec: Invalid value: {"priorityLevelConfiguration":{"name":"low"},"matchingPrecedence":1000}: spec of \'catch-a',
  ],
]);

testUpdate(flowSchemaResource, schema, [
  ['another place', { spec: { matchingPrecedence: 5 } }],
  ['another level', { spec: { priorityLevelConfiguration: { name: 'high' } } }],
]);

test('the two schemas of every cluster are valid', () => {
  const everything = {
    resourceRules: [
      { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] },
    ],
    nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  };
  const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }));
  const problems = (name: string, spec: object) =>
    createProblems(flowSchemaResource, { ...schema, metadata: { name }, spec });
  const priorityLevelConfiguration = { name: 'exempt' };
  const rules = [{ subjects: groups('system:masters'), ...everything }];
  assert.deepEqual(problems('exempt', { priorityLevelConfiguration, matchingPrecedence: 1, rules }), []);
  assert.deepEqual(
    problems('catch-all', {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: 10_000,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...everything }],
    }),
    [],
  );
});

test('a new object has the default values and an empty status', () => {
  const make = (matchingPrecedence?: number) =>
    created(flowSchemaResource, {
      ...schema,
      spec: { ...schema.spec, matchingPrecedence },
      status: { conditions: [{}] },
    });
  assert.equal(make().spec.matchingPrecedence, 1000);
  assert.equal(make(0).spec.matchingPrecedence, 1000);
  assert.deepEqual(make().status, {});
});

test('a write is answered with the warning that the kind has no effect', () => {
  assert.deepEqual(flowSchemaResource.strategy.warnings?.(created(flowSchemaResource, schema), undefined), [
    'FlowSchema is stored and not acted on yet: requests are not sorted by it',
  ]);
});

testStatusMetadata(flowSchemaResource, schema);
testConditions(flowSchemaResource, schema);

test('the columns show the fields of the specification', () => {
  const made = created(flowSchemaResource, schema);
  const shown = {
    Name: 'web',
    PriorityLevel: 'low',
    MatchingPrecedence: 1000,
    DistinguisherMethod: '<none>',
    Age: '<unknown>',
    MissingPL: '?',
  };
  assert.deepEqual(cells(flowSchemaResource, made, 0), shown);
  made.spec.distinguisherMethod = { type: 'ByUser' };
  made.status = { conditions: [{ type: 'Other' }, { type: 'Dangling', status: 'True' }] };
  assert.deepEqual(cells(flowSchemaResource, made, 0), {
    ...shown,
    DistinguisherMethod: 'ByUser',
    MissingPL: 'True',
  });
});
