/** Requests that the gateway's port serves. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiServer } from '../../../../../src/apiserver/app.ts';
import { callPath, gatewayApp } from '../../../../../src/features/functions/server/gateway-app.ts';

async function ask(url: string) {
  const asked: { request: Request; env: unknown }[] = [];
  const app = {
    fetch: (request: Request, env: unknown) => {
      asked.push({ request, env });
      return new Response('served');
    },
  } as unknown as Pick<ApiServer['app'], 'fetch'>;
  const request = new Request(url);
  const triggerPath = (path: string) => (path === '/trigger/shop/x' ? '/the-trigger' : undefined);
  const answer = await gatewayApp(app, triggerPath).fetch(request, { remoteAddress: '192.0.2.1' } as never);
  for (const one of asked) assert.equal(one.request, request);
  return { status: answer.status, text: await answer.text(), env: asked[0]?.env };
}

describe('the port of the gateway', () => {
  for (const [path, address] of [
    ['/function/f', '/apis/minik8s.io/v1/namespaces/default/functions/f/invoke'],
    ['/function/shop/f/a?b=1', '/apis/minik8s.io/v1/namespaces/shop/functions/f/invoke/a'],
    ['/workflow/w', '/apis/minik8s.io/v1/namespaces/default/workflows/w/invoke'],
    ['/trigger/shop/x?b=1', '/the-trigger'],
  ])
    it(`serves ${path} as ${address}, also for anonymous users`, async () => {
      const { text, env } = await ask(`http://h${path}`);
      assert.equal(text, 'served');
      assert.deepEqual(env, { remoteAddress: '192.0.2.1', address, mayBeAnonymous: true });
    });
  it('answers its readiness check', async () => {
    assert.deepEqual(await ask('http://h/healthz'), { status: 200, text: 'ok', env: undefined });
  });
  for (const path of [
    '/',
    '/function',
    '/function/',
    '/api/v1/pods',
    '/trigger/shop/y',
    '/healthz/',
    '/Function/f',
  ])
    it(`answers ${path} with the path of functions`, async () => {
      const { status, text, env } = await ask(`http://h${path}`);
      assert.deepEqual([status, env], [404, undefined]);
      assert.match(text, /\/function\/NAME .* \/workflow\/NAME .* \/trigger\/NAMESPACE and their path\n$/);
    });
});

describe('the path of a call', () => {
  for (const path of [
    'function/f',
    '',
    '/constructor/f',
    '/toString/f',
    '/__proto__/f',
    '/functions/f',
    '//f',
    '/function//f',
  ])
    it(`is not ${path || 'an empty path'}`, () => assert.equal(callPath(path), undefined));
});
