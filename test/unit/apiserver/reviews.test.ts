/** Questions of a SelfSubjectAccessReview to the authorizer, and the review's status. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { AccessRequest } from '../../../src/apiserver/authorization/authorizer.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const bob: UserInfo = { name: 'bob', groups: ['system:authenticated'] };

let server: TestServer;
let asked: AccessRequest[];
let allowed: boolean;
before(async () => {
  server = await startTestServer({
    bare: true,
    authorize: async (request) => {
      // The right to create the review itself is not part of this test.
      if (request.type === 'resource' && request.resource === 'selfsubjectaccessreviews') return true;
      asked.push(request);
      return allowed;
    },
  });
});
after(() => server.stop());
beforeEach(() => {
  asked = [];
  allowed = true;
});

const nothing = {
  type: 'resource',
  user: bob,
  verb: '',
  group: '',
  resource: '',
  namespace: '',
  name: '',
  fieldSelector: [],
};
const requirement = (over: object) => ({ key: 'spec.nodeName', operator: 'In', values: ['n1'], ...over });
const selected = [{ field: 'spec.nodeName', operator: '=', value: 'n1' }];

describe('the attributes of a review', () => {
  for (const [what, spec, request] of [
    ['nothing', { resourceAttributes: {} }, nothing],
    [
      'all of its requirements',
      {
        resourceAttributes: {
          verb: 'patch',
          group: 'apps',
          version: 'v1',
          resource: 'deployments',
          subresource: 'scale',
          namespace: 'a',
          name: 'd',
        },
      },
      {
        ...nothing,
        ...{ verb: 'patch', group: 'apps', resource: 'deployments/scale', namespace: 'a', name: 'd' },
      },
    ],
    [
      'a kind without a subresource',
      { resourceAttributes: { resource: 'pods', subresource: '' } },
      { ...nothing, resource: 'pods' },
    ],
    ['no path', { nonResourceAttributes: {} }, { type: 'path', user: bob, verb: '', path: '' }],
    [
      'a path',
      { nonResourceAttributes: { path: '/metrics', verb: 'get' } },
      { type: 'path', user: bob, verb: 'get', path: '/metrics' },
    ],
  ] as const)
    test(what, async () => {
      const answer = await server.call('POST', reviews, { spec }, { user: bob });
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(asked, [request]);
    });

  for (const [what, fieldSelector, expected] of [
    ['one value', { requirements: [requirement({})] }, selected],
    ['one value in a text', { rawSelector: 'spec.nodeName=n1' }, selected],
    ['a text that cannot be parsed', { rawSelector: 'spec.nodeName~n1' }, []],
    ['two values', { requirements: [requirement({ values: ['n1', 'n2'] })] }, []],
    [
      'every other value',
      { requirements: [requirement({ operator: 'NotIn' })] },
      [{ field: 'spec.nodeName', operator: '!=', value: 'n1' }],
    ],
    ['any value', { requirements: [requirement({ operator: 'Exists', values: [] })] }, []],
    [
      'the known ones of several requirements',
      { requirements: [requirement({ operator: 'Near', key: 'a' }), requirement({})] },
      selected,
    ],
  ] as const)
    test(`contain a field selector with ${what}`, async () => {
      const spec = { resourceAttributes: { resource: 'pods', fieldSelector } };
      const answer = await server.call('POST', reviews, { spec }, { user: bob });
      assert.equal(answer.status, 201, answer.text);
      assert.deepEqual(asked, [{ ...nothing, resource: 'pods', fieldSelector: expected }]);
    });
});

test('a review has the answer of the authorizer', async () => {
  for (const says of [true, false]) {
    allowed = says;
    const question = { spec: { resourceAttributes: { resource: 'pods' } } };
    const { status } = (await server.call('POST', reviews, question, { user: bob })).json();
    assert.deepEqual(status, { allowed: says });
  }
});
