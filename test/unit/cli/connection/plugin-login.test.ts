import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loginTransport, PluginLogin } from '../../../../src/cli/connection/plugin-login.ts';
import type { PluginCredentials } from '../../../../src/client/exec-credential.ts';
import type { Transport } from '../../../../src/client/transport.ts';

const request = { method: 'GET', path: '/' } as const;

/** A plugin with the credentials `t0`, `t1`, …, a transport that uses them, and the tokens that were sent. */
function started(credentialsOf: (token: string) => PluginCredentials = (token) => ({ token })) {
  let [runs, now, status, closed] = [0, 0, 200, 0];
  const sent: (string | undefined)[] = [];
  const login = new PluginLogin(async () => credentialsOf(`t${runs++}`), { now: () => now });
  const transport = loginTransport(
    login,
    ({ token }): Transport => ({
      async request() {
        sent.push(token);
        return { status, header: () => undefined, body: (async function* () {})() };
      },
      close() {
        closed++;
      },
    }),
  );
  return {
    ...{ login, transport, sent },
    runs: () => runs,
    closed: () => closed,
    at: (ms: number) => {
      now = ms;
    },
    answer: (code: number) => {
      status = code;
    },
  };
}

test('the plugin runs once for all requests, also for those at the same time', async () => {
  const { transport, sent, runs } = started();
  await Promise.all([transport.request(request), transport.request(request)]);
  await transport.request(request);
  assert.deepEqual([runs(), sent], [1, ['t0', 't0', 't0']]);
});

test('the plugin runs again when its credentials have expired', async () => {
  const { transport, sent, at, closed } = started((token) => ({
    token,
    expires: token === 't0' ? 1000 : 9000,
  }));
  for (const ms of [0, 999, 1000, 5000]) {
    at(ms);
    await transport.request(request);
  }
  assert.deepEqual(sent, ['t0', 't0', 't1', 't1']);
  assert.equal(closed(), 0, 'a watch may use the first connection');
  transport.close();
  assert.equal(closed(), 2);
});

test('a 401 is passed on, and the request after it has new credentials, once', async () => {
  const { transport, sent, answer, runs } = started();
  await transport.request(request);
  answer(401);
  const rejected = await Promise.all([transport.request(request), transport.request(request)]);
  assert.deepEqual(
    rejected.map(({ status }) => status),
    [401, 401],
  );
  assert.equal(runs(), 1, 'no run without another request');
  answer(200);
  await transport.request(request);
  await transport.request(request);
  assert.deepEqual(sent, ['t0', 't0', 't0', 't1', 't1']);
});

test('a late 401 for earlier credentials does not reject newer ones', async () => {
  const { login, runs } = started();
  const first = await login.current();
  login.reject(first);
  const second = await login.current();
  login.reject(first);
  assert.equal(await login.current(), second);
  assert.equal(runs(), 2);
});

test('a plugin that failed runs again for the next request', async () => {
  let runs = 0;
  const login = new PluginLogin(
    async () => {
      if (runs++ === 0) throw new Error('no network');
      return { token: 't' };
    },
    { now: () => 0 },
  );
  await assert.rejects(login.current(), /no network/);
  assert.deepEqual(await login.current(), { token: 't' });
});
