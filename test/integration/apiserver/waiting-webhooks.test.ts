/** Requests that wait for a webhook are not counted in the limit of concurrent requests. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RequestCredentials } from '../../../src/apiserver/authentication/authenticator.ts';
import { mastersGroup } from '../../../src/apiserver/request/user.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { startTestServer, type TestServer } from '../../fixtures/api-server.ts';
import { until } from '../../fixtures/eventually.ts';
import { startWebhookServer, type WebhookServer } from '../../fixtures/webhook-server.ts';

const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] };

describe('requests that wait for a webhook', () => {
  let server: TestServer;
  let hook: WebhookServer;
  let answer: () => void = () => undefined;
  before(async () => {
    const authenticate = ({ authorization = '' }: RequestCredentials) => ({
      name: authorization.replace('Bearer ', ''),
      groups: [mastersGroup],
    });
    server = await startTestServer({
      clock: systemClock,
      authenticate,
      limits: { requests: 4, watches: 4 },
    });
    hook = await startWebhookServer();
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    hook.answer(async () => {
      await answered;
      return { allowed: true };
    });
    const clientConfig = { url: hook.url, caBundle: hook.caBundle };
    const reviewed = {
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      rules: [rule],
      timeoutSeconds: 30,
    };
    const webhooks = [{ name: 'slow.example.com', clientConfig, ...reviewed }];
    const made = await server.call('POST', configurations, { metadata: { name: 'slow' }, webhooks });
    assert.equal(made.status, 201, made.text);
    await server.call('GET', configurations);
  });
  after(async () => {
    await hook.stop();
    await server.stop();
  });

  const create = (user: string, kind: string, name: string) =>
    server.app.fetch(
      new Request(`https://apiserver/api/v1/namespaces/default/${kind}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json' },
        body: JSON.stringify({ metadata: { name } }),
      }),
      { remoteAddress: '127.0.0.1' },
    );

  it('leave room for other requests, and are limited themselves', async () => {
    const waiting = [];
    for (const user of ['a', 'b'])
      for (let index = 0; index < 4; index++) {
        waiting.push(create(user, 'configmaps', `${user}-${index}`));
        await until(() => hook.requests.length === waiting.length);
      }
    assert.equal((await create('c', 'secrets', 'c')).status, 201);
    assert.equal((await create('a', 'secrets', 'a')).status, 201);
    // Eight requests wait without being counted as concurrent; further ones are counted.
    for (const user of ['c', 'd', 'e', 'f']) {
      waiting.push(create(user, 'configmaps', user));
      await until(() => hook.requests.length === waiting.length);
    }
    assert.equal((await create('g', 'secrets', 'g')).status, 429);
    answer();
    for (const { status } of await Promise.all(waiting)) assert.equal(status, 201);
    assert.equal((await create('g', 'secrets', 'g')).status, 201);
  });
});
