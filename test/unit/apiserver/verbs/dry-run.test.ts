/** An unknown value of dryRun is rejected before anything is read, on every path with a dry run. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Status } from '../../../../src/apimachinery/status-error.ts';
import { startTestServer, type TestServer } from '../../../fixtures/api-server.ts';

describe('a dryRun other than All is rejected', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  const pods = '/api/v1/namespaces/default/pods';
  const deployment = '/apis/apps/v1/namespaces/default/deployments/d';
  for (const [method, path, kind] of [
    ['POST', pods, 'CreateOptions'],
    ['PUT', `${pods}/p`, 'UpdateOptions'],
    ['PATCH', `${pods}/p`, 'PatchOptions'],
    ['DELETE', `${pods}/p`, 'DeleteOptions'],
    ['DELETE', pods, 'DeleteOptions'],
    ['PUT', `${pods}/p/status`, 'UpdateOptions'],
    ['PATCH', `${pods}/p/status`, 'PatchOptions'],
    ['POST', `${pods}/p/binding`, 'CreateOptions'],
    ['POST', `${pods}/p/eviction`, 'CreateOptions'],
    ['PUT', `${deployment}/scale`, 'UpdateOptions'],
    ['PATCH', `${deployment}/scale`, 'PatchOptions'],
    ['PUT', '/api/v1/namespaces/default/finalize', 'UpdateOptions'],
  ] as const)
    test(`${method} ${path}`, async () => {
      const body = method === 'DELETE' ? undefined : '{not read';
      const answer = await server.call(method, `${path}?dryRun=Some`, body);
      const { code, message, details } = answer.json<Status>();
      assert.deepEqual([answer.status, code, details?.kind, details?.group], [422, 422, kind, 'meta.k8s.io']);
      assert.match(message ?? '', /dryRun: Unsupported value: "Some": supported values: "All"$/);
    });

  for (const [method, path, kind] of [
    ['POST', pods, 'CreateOptions'],
    ['PUT', `${pods}/p`, 'UpdateOptions'],
    ['PATCH', `${pods}/p`, 'PatchOptions'],
    ['PUT', `${pods}/p/status`, 'UpdateOptions'],
    ['PUT', '/api/v1/namespaces/default/finalize', 'UpdateOptions'],
  ] as const)
    test(`${method} ${path}, together with an unknown fieldValidation`, async () => {
      const answer = await server.call(method, `${path}?fieldValidation=Some`, '{not read');
      assert.equal(answer.status, 422);
      assert.equal(answer.json<Status>().details?.kind, kind);
    });
});
