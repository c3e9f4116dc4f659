/** The list of custom resource definitions exists and is always empty. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.stop());

test('is empty, and of now', async () => {
  const answer = await server.call('GET', definitions);
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json(), {
    kind: 'CustomResourceDefinitionList',
    apiVersion: 'apiextensions.k8s.io/v1',
    metadata: { resourceVersion: String(server.cache.revision) },
    items: [],
  });
  assert.ok(answer.headers.get('audit-id'));
  assert.equal((await server.call('HEAD', definitions)).status, 200);
});

describe('is nothing more', () => {
  const none = /^customresourcedefinitions\.apiextensions\.k8s\.io "x" not found$/;
  const unsupported = /^minik8s does not support custom resources/;
  for (const [method, path, status, message] of [
    ['GET', `${definitions}/x`, 404, none],
    ['PUT', `${definitions}/x`, 405, unsupported],
    ['DELETE', `${definitions}/x`, 405, unsupported],
    ['POST', definitions, 405, unsupported],
    ['DELETE', definitions, 405, unsupported],
    ['GET', `${definitions}?watch=true`, 405, unsupported],
  ] as const)
    test(`${method} ${path} is ${status}`, async () => {
      const answer = await server.call(method, path, method === 'GET' ? undefined : {});
      assert.equal(answer.status, status);
      assert.match(answer.json<{ message: string }>().message, message);
    });

  test('HEAD of one is refused too', async () => {
    assert.equal((await server.call('HEAD', `${definitions}/x`)).status, 404);
  });

  for (const path of [
    definitions.replace('/v1/', '/v1beta1/'),
    definitions.replace('apiextensions', 'other'),
    definitions.replace('customresourcedefinitions', 'others'),
    '/apis/apiextensions.k8s.io/v1/namespaces/default/customresourcedefinitions',
  ])
    test(`${path} is no address`, async () => {
      const answer = await server.call('GET', path);
      assert.deepEqual([answer.status, answer.text], [404, '404 page not found\n']);
    });
});
