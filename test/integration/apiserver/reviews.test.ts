import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SelfSubjectAccessReview } from '../../../src/api/authorization/v1/self-subject-access-review.ts';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const node: UserInfo = { name: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
/** A node whose Node does not exist yet. */
const early: UserInfo = { name: 'system:node:n2', groups: ['system:nodes', 'system:authenticated'] };
const bob: UserInfo = { name: 'bob', groups: ['system:authenticated'] };
const root: UserInfo = { name: 'root', groups: ['system:masters', 'system:authenticated'] };

describe('a SelfSubjectAccessReview', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    await server.call('POST', '/api/v1/nodes', { metadata: { name: 'n1' } });
  });
  after(() => server.stop());

  const ownPods = { key: 'spec.nodeName', operator: 'In', values: ['n2'] };
  const listPods = { verb: 'list', resource: 'pods' };
  const rows: readonly [string, UserInfo, object, boolean, string?][] = [
    [
      'an administrator, anything',
      root,
      { resourceAttributes: { verb: '*', resource: '*', group: '*' } },
      true,
    ],
    ['an administrator, any path', root, { nonResourceAttributes: { verb: 'get', path: '/x' } }, true],
    ['nobody, pods', bob, { resourceAttributes: { ...listPods, namespace: 'default' } }, false],
    ['nobody, discovery', bob, { nonResourceAttributes: { verb: 'get', path: '/apis' } }, true],
    ['nobody, metrics', bob, { nonResourceAttributes: { verb: 'get', path: '/metrics' } }, false],
    ['an anonymous user, an empty review', bob, { resourceAttributes: {} }, false],
    [
      'an anonymous user, this review',
      bob,
      {
        resourceAttributes: {
          verb: 'create',
          group: 'authorization.k8s.io',
          resource: 'selfsubjectaccessreviews',
        },
      },
      true,
    ],
    [
      'a node, its own Node',
      node,
      { resourceAttributes: { verb: 'get', resource: 'nodes', name: 'n1' } },
      true,
    ],
    [
      'a node, the status of another node',
      node,
      { resourceAttributes: { verb: 'patch', resource: 'nodes', subresource: 'status', name: 'n2' } },
      false,
    ],
    [
      'a node, its own status',
      node,
      { resourceAttributes: { verb: 'patch', resource: 'nodes', subresource: 'status', name: 'n1' } },
      true,
    ],
    ['a node, all pods', node, { resourceAttributes: listPods }, true],
    ['a node without its Node, all pods', early, { resourceAttributes: listPods }, false],
    ['a node, every single pod', node, { resourceAttributes: { verb: 'get', resource: 'pods' } }, false],
    [
      'a node, deleting the pods of a namespace',
      node,
      { resourceAttributes: { verb: 'delete', resource: 'pods', namespace: 'default' } },
      false,
    ],
    [
      'a node without its Node, its own pods',
      early,
      { resourceAttributes: { ...listPods, fieldSelector: { requirements: [ownPods] } } },
      true,
    ],
    [
      'a node without its Node, its own pods by rawSelector',
      early,
      { resourceAttributes: { ...listPods, fieldSelector: { rawSelector: 'spec.nodeName=n2' } } },
      true,
    ],
    [
      'a node without its Node, its own pods and others',
      early,
      {
        resourceAttributes: {
          ...listPods,
          fieldSelector: { requirements: [{ ...ownPods, values: ['n1', 'n2'] }] },
        },
      },
      false,
      'spec.resourceAttributes.fieldSelector ignored due to parse error',
    ],
    [
      'a node without its Node, an invalid selector',
      early,
      { resourceAttributes: { ...listPods, fieldSelector: { rawSelector: 'spec.nodeName~n2' } } },
      false,
      'spec.resourceAttributes.fieldSelector ignored due to parse error',
    ],
    [
      'a node without its Node, its own pods with a further requirement',
      early,
      {
        resourceAttributes: {
          ...listPods,
          version: 'v1',
          fieldSelector: { requirements: [ownPods] },
          labelSelector: { requirements: [{ key: 'app', operator: 'In', values: ['web'] }] },
        },
      },
      true,
    ],
    [
      'a node without its Node, all pods except those of one node',
      early,
      {
        resourceAttributes: {
          ...listPods,
          fieldSelector: { requirements: [{ ...ownPods, operator: 'NotIn' }] },
          labelSelector: { rawSelector: 'app in (web),!canary' },
        },
      },
      false,
    ],
    [
      'a node without its Node, partly and completely invalid selectors',
      early,
      {
        resourceAttributes: {
          ...listPods,
          fieldSelector: { requirements: [ownPods, { key: 'a', operator: 'Exists' }] },
          labelSelector: { rawSelector: 'a in b' },
        },
      },
      true,
      'spec.resourceAttributes.fieldSelector partially ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error',
    ],
  ];
  for (const [what, user, spec, allowed, evaluationError] of rows) {
    it(`answers ${allowed} for ${what}`, async () => {
      const answer = await server.call('POST', reviews, { spec }, { user });
      assert.equal(answer.status, 201, answer.text);
      const review = answer.json<SelfSubjectAccessReview>();
      const head = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
      const metadata = { creationTimestamp: null };
      const role = what.includes('discovery') ? 'system:discovery' : 'system:basic-user';
      // The reason names the binding of a role; administrators and nodes are allowed by their groups.
      const reason = `RBAC: allowed by ClusterRoleBinding "${role}" of ClusterRole "${role}" to Group "system:authenticated"`;
      const byRole = allowed && user === bob;
      const status = { allowed, ...(byRole && { reason }), ...(evaluationError && { evaluationError }) };
      assert.deepEqual(review, { ...head, metadata, spec, status } as unknown);
      assert.equal(answer.headers.get('warning'), null);
    });
  }

  it('ignores a status in the request', async () => {
    const question = { spec: { resourceAttributes: listPods }, status: { allowed: true } };
    const answer = await server.call('POST', reviews, question, { user: bob });
    assert.deepEqual(answer.json<SelfSubjectAccessReview>().status, { allowed: false });
  });

  it('contains exactly one of resource and non-resource attributes', async () => {
    const both = { resourceAttributes: listPods, nonResourceAttributes: { verb: 'get', path: '/' } };
    for (const [body, message] of [
      [{}, 'spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or'],
      [
        { spec: {} },
        'spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or',
      ],
      [
        { spec: both },
        'spec.nonResourceAttributes: Invalid value: {"verb":"get","path":"/"}: cannot be specified in combination with resourceAttributes',
      ],
    ] as const) {
      const answer = await server.call('POST', reviews, body);
      assert.equal(answer.status, 422, answer.text);
      assert.ok(answer.json<Status>().message?.includes(message), answer.text);
    }
  });

  for (const [what, fieldSelector, message] of [
    [
      'in both forms',
      { rawSelector: 'spec.nodeName=n2', requirements: [ownPods] },
      'fieldSelector.rawSelector: Invalid value: "spec.nodeName=n2": may not specified at the same time as requirements',
    ],
    [
      'in neither form',
      { rawSelector: '' },
      'fieldSelector.requirements: Required value: when spec.resourceAttributes.fieldSelector is specified, requirements or rawSelector is required',
    ],
    [
      'that names no field',
      { requirements: [{ ...ownPods, key: '' }] },
      'fieldSelector.requirements[0].key: Required value: must be specified',
    ],
    [
      'In without values',
      { requirements: [ownPods, { key: 'a', operator: 'In' }] },
      "fieldSelector.requirements[1].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
    [
      'Exists with values',
      { requirements: [{ ...ownPods, operator: 'Exists' }] },
      "fieldSelector.requirements[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    ],
  ] as const) {
    it(`rejects a field selector ${what}`, async () => {
      const spec = { resourceAttributes: { ...listPods, fieldSelector } };
      const answer = await server.call('POST', reviews, { spec }, { user: node });
      assert.equal(answer.status, 422, answer.text);
      assert.ok(answer.json<Status>().message?.includes(`spec.resourceAttributes.${message}`), answer.text);
    });
  }

  for (const [what, labelSelector, message] of [
    [
      'in both forms',
      { rawSelector: 'a=b', requirements: [{ key: 'a', operator: 'Exists' }] },
      'labelSelector.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements',
    ],
    [
      'in neither form',
      {},
      'labelSelector.requirements: Required value: when spec.resourceAttributes.labelSelector is specified, requirements or rawSelector is required',
    ],
    [
      'with an invalid label',
      { requirements: [{ key: 'a b', operator: 'Exists' }] },
      'labelSelector.requirements[0].key: Invalid value: "a b"',
    ],
    [
      'In without values',
      { requirements: [{ key: 'a', operator: 'In' }] },
      "labelSelector.requirements[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    ],
  ] as const) {
    it(`rejects a label selector ${what}`, async () => {
      const spec = { resourceAttributes: { ...listPods, labelSelector } };
      const answer = await server.call('POST', reviews, { spec }, { user: node });
      assert.equal(answer.status, 422, answer.text);
      assert.ok(answer.json<Status>().message?.includes(`spec.resourceAttributes.${message}`), answer.text);
    });
  }

  it('accepts a field selector with an operator that it does not support', async () => {
    const fieldSelector = { requirements: [{ ...ownPods, operator: 'Near' }] };
    const spec = { resourceAttributes: { ...listPods, fieldSelector } };
    const answer = await server.call('POST', reviews, { spec }, { user: early });
    assert.equal(answer.json<SelfSubjectAccessReview>().status?.allowed, false, answer.text);
  });

  for (const metadata of [
    { name: 'n' },
    { generateName: 'n-' },
    { labels: { a: 'b' } },
    { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u' }] },
    { generation: 1, managedFields: [] },
  ]) {
    it(`rejects metadata with ${Object.keys(metadata).join()}`, async () => {
      const question = { metadata, spec: { resourceAttributes: listPods } };
      const answer = await server.call('POST', reviews, question);
      assert.equal(answer.status, 422, answer.text);
      const { message = '', details } = answer.json<Status>();
      assert.ok(message.startsWith('SelfSubjectAccessReview.authorization.k8s.io "" is invalid: metadata: '));
      assert.deepEqual(
        details?.causes?.map(({ field, reason }) => [field, reason]),
        [['metadata', 'FieldValueInvalid']],
      );
      assert.match(details?.causes?.[0]?.message ?? '', /^Invalid value: \{.*\}: must be empty$/);
    });
  }

  it('accepts empty metadata, and managedFields', async () => {
    const metadata = {
      ...{ name: '', creationTimestamp: null, labels: {}, finalizers: [], generation: 0 },
      managedFields: [{ manager: 'm', operation: 'Update' }],
    };
    const question = { metadata, spec: { resourceAttributes: listPods } };
    const answer = await server.call('POST', reviews, question);
    assert.equal(answer.status, 201, answer.text);
  });

  it('is not stored, read, updated or listed', async () => {
    const question = { spec: { resourceAttributes: listPods } };
    assert.equal((await server.call('POST', reviews, question)).status, 201);
    const { items } = await server.store.list('/registry/selfsubjectaccessreviews');
    assert.deepEqual(items, []);
    for (const [method, path] of [
      ['GET', reviews],
      ['GET', `${reviews}?watch=true`],
      ['DELETE', reviews],
      ['GET', `${reviews}/kept`],
      ['PUT', `${reviews}/kept`],
      ['DELETE', `${reviews}/kept`],
    ] as const) {
      const body = method === 'PUT' ? { metadata: { name: 'kept' }, ...question } : undefined;
      const answer = await server.call(method, path, body);
      // Single objects have no URL.
      assert.equal(answer.status, path.endsWith('/kept') ? 404 : 405, `${method} ${path}`);
    }
  });

  it('is answered in protobuf too', async () => {
    const accept = 'application/vnd.kubernetes.protobuf';
    const question = { spec: { resourceAttributes: listPods } };
    const answer = await server.call('POST', reviews, question, { headers: { accept } });
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.headers.get('content-type'), accept);
    assert.match(answer.text, /^k8s\0/);
  });

  it('has no table', async () => {
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    const question = { spec: { resourceAttributes: listPods } };
    const answer = await server.call('POST', reviews, question, { headers: { accept } });
    assert.equal(answer.status, 406, answer.text);
    assert.equal(answer.json<Status>().reason, 'NotAcceptable');
  });

  it('has no metadata', async () => {
    const ask = (metadata: object) =>
      server.call('POST', reviews, { metadata, spec: { resourceAttributes: listPods } });
    for (const metadata of [{ name: 'a' }, { labels: { a: 'b' } }, { finalizers: ['a/b'] }, { uid: 'u' }]) {
      const answer = await ask(metadata);
      assert.equal(answer.status, 422, answer.text);
      assert.match(answer.json<Status>().message ?? '', /metadata: Invalid value: .*: must be empty$/);
    }
    const empty = { namespace: 'x', labels: {}, creationTimestamp: null, managedFields: [{ manager: 'm' }] };
    const answer = await ask(empty);
    assert.equal(answer.status, 201, answer.text);
    assert.deepEqual(answer.json().metadata, { creationTimestamp: null } as unknown);
  });
});
