/** Calls of functions through the API, and the right to make them. */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { Agent } from 'node:https';
import { describe, it } from 'node:test';
import { functions } from '../../../apiserver/gateway-world.ts';
import { call, echo, fn, instance, serveFunctions, server, until, world } from './gateway-server.ts';

serveFunctions();

describe('a call', () => {
  it('reaches the program with its method, path, query and body, and brings its answer back', async () => {
    const one = await fn();
    await instance(one, echo);
    const answer = await call(`/function/default/${one.metadata.name}/a%20b/c?x=1`, {
      method: 'PUT',
      body: '{"n":1}',
      headers: { 'content-type': 'application/json', 'x-more': 'm' },
    });
    assert.deepEqual([answer.status, answer.headers['x-own']], [200, 'yes'], answer.text);
    const seen = JSON.parse(answer.text);
    assert.deepEqual([seen.method, seen.url, seen.body], ['PUT', '/a%20b/c?x=1', '{"n":1}']);
    assert.equal(seen.headers['x-more'], 'm');
    assert.equal(seen.headers['function-name'], one.metadata.name);
    assert.match(seen.headers['function-call-id'], /^[0-9a-f-]{36}$/);
  });
  it('in the namespace default needs no namespace', async () => {
    const one = await fn();
    await instance(one, echo);
    assert.equal((await call(`/function/${one.metadata.name}`)).status, 200);
  });
  it('counts as a request to the API, too', async () => {
    const one = await fn();
    await instance(one, echo);
    const answer = await server.call('POST', `${functions}/${one.metadata.name}/invoke`, { n: 2 });
    assert.deepEqual([answer.status, answer.json<{ body: string }>().body], [200, '{"n":2}'], answer.text);
  });
  it('passes no credentials of the caller to the program', async () => {
    const one = await fn();
    await instance(one, echo);
    const headers = {
      'impersonate-user': 'jane',
      'impersonate-group': 'system:masters',
      'x-remote-user': 'x',
    };
    const { headers: seen } = JSON.parse((await call(`/function/${one.metadata.name}`, { headers })).text);
    assert.deepEqual(
      Object.keys(seen).filter((name) => /^(impersonate|x-remote|authorization)/.test(name)),
      [],
    );
  });
  it('with a body of unknown length is passed on as it arrives', async () => {
    const one = await fn();
    await instance(one, echo);
    const body = 'x'.repeat(1_000_000);
    const answer = await call(`/function/${one.metadata.name}`, {
      body,
      headers: { 'transfer-encoding': 'chunked' },
    });
    assert.equal(JSON.parse(answer.text).body.length, 1_000_000);
  });
  it('above the limit is rejected, and reaches no program', async () => {
    const one = await fn();
    let calls = 0;
    await instance(one, (_, outgoing) => {
      calls += 1;
      outgoing.end();
    });
    const headers = { 'content-length': String(17 * 1024 * 1024) };
    const answer = await call(`/function/${one.metadata.name}`, {
      body: Buffer.alloc(17 * 1024 * 1024),
      headers,
    }).catch((error: Error) => error);
    // The client is still sending when the request is rejected, and may not be able to read the answer.
    if (!(answer instanceof Error)) assert.equal(answer.status, 413);
    assert.equal(calls, 0);
  });
  it('of a missing function is not found, and creates no demand', async () => {
    const before = world.demands.length;
    assert.equal((await call('/function/default/nobody')).status, 404);
    assert.equal(world.demands.length, before);
  });
  it("is answered with the program's own failure", async () => {
    const one = await fn();
    await instance(one, (_, outgoing) => outgoing.writeHead(500).end('{"error":"ValueError: no"}'));
    const { status, text } = await call(`/function/${one.metadata.name}`);
    assert.deepEqual([status, text], [500, '{"error":"ValueError: no"}']);
  });
  it('without an answer in time is answered by the gateway', async () => {
    const one = await fn({ timeoutSeconds: 1 });
    await instance(one, () => undefined);
    const { status, text } = await call(`/function/${one.metadata.name}`);
    assert.equal(status, 504, text);
    assert.match(text, /did not answer within its timeoutSeconds of 1/);
  });
  it('to a program that ends during the call is not sent to another instance', async () => {
    const one = await fn();
    let calls = 0;
    const dying: RequestListener = (incoming) => {
      calls += 1;
      incoming.socket.destroy();
    };
    await instance(one, dying);
    await instance(one, dying);
    const { status, text } = await call(`/function/${one.metadata.name}`, { body: '{}' });
    assert.equal(status, 502, text);
    assert.equal(calls, 1);
  });
  it('ends with a cut connection for its caller if the answer of the program is cut off', async () => {
    const one = await fn();
    await instance(one, (_, outgoing) => {
      outgoing.writeHead(200, { 'content-length': '100' }).write('half', () => outgoing.destroy());
    });
    await assert.rejects(call(`/function/${one.metadata.name}`));
  });
  it('ends for the program, too, if its caller disconnects, and frees the place', async () => {
    const one = await fn({ concurrency: 1 });
    let gone = 0;
    let isFirst = true;
    await instance(one, (incoming, outgoing) => {
      if (!isFirst) return void outgoing.end('next');
      isFirst = false;
      incoming.socket.once('close', () => {
        gone += 1;
      });
    });
    const leaving = new AbortController();
    const left = call(`/function/${one.metadata.name}`, {
      signal: leaving.signal,
      agent: new Agent({ ...world.asAdmin.options }),
    });
    await until('the program has the call', () => !isFirst);
    leaving.abort();
    await assert.rejects(left);
    await until('the connection is closed', () => gone === 1);
    assert.equal((await call(`/function/${one.metadata.name}`)).text, 'next');
  });
});

describe('the right to call', () => {
  const agentOf = (user: string) => world.agentOf(user);
  const stranger = () => world.stranger();

  it('is missing without a role, and belongs to everyone if the function is public', async () => {
    const [own, open] = [await fn(), await fn({ public: true })];
    for (const one of [own, open]) await instance(one, echo);
    const jane = await agentOf('jane');
    const statuses = async (agent: Agent) => [
      (await call(`/function/${own.metadata.name}`, { agent })).status,
      (await call(`/function/${open.metadata.name}`, { agent })).status,
    ];
    assert.deepEqual(await statuses(jane), [403, 200]);
    assert.deepEqual(await statuses(stranger()), [403, 200]);
  });
  it('requires the verb create on functions/invoke for any method', async () => {
    const one = await fn();
    await instance(one, echo);
    const { name } = one.metadata;
    const role = {
      metadata: { name },
      rules: [
        {
          apiGroups: ['minik8s.io'],
          resources: ['functions/invoke'],
          resourceNames: [name],
          verbs: ['create'],
        },
      ],
    };
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
    assert.equal((await server.call('POST', `${rbac}/roles`, role)).status, 201);
    const binding = {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'User', name: 'joe', apiGroup: 'rbac.authorization.k8s.io' }],
    };
    assert.equal((await server.call('POST', `${rbac}/rolebindings`, binding)).status, 201);
    const agent = await agentOf('joe');
    for (const method of ['POST', 'GET', 'DELETE', 'PUT'])
      assert.equal((await call(`/function/${name}`, { agent, method })).status, 200, method);
    const other = await fn();
    assert.equal((await call(`/function/${other.metadata.name}`, { agent })).status, 403);
  });
  it('is missing with wrong credentials, also for a public function', async () => {
    const open = await fn({ public: true });
    const answer = await call(`/function/${open.metadata.name}`, {
      agent: stranger(),
      headers: { authorization: 'Bearer wrong' },
    });
    assert.equal(answer.status, 401);
  });
  it('gives access to nothing but calls of functions on the port of the gateway', async () => {
    for (const path of [
      '/api/v1/namespaces',
      '/version',
      '/metrics',
      '/function',
      '/apis/minik8s.io/v1/namespaces/default/functions',
    ])
      assert.equal((await call(path, { method: 'GET' })).status, 404, path);
    assert.equal((await call('/healthz', { method: 'GET', agent: stranger() })).text, 'ok');
  });
});

describe('a public workflow', () => {
  const workflows = '/apis/minik8s.io/v1/namespaces/default/workflows';
  it('is called without credentials, and any other workflow is not', async () => {
    const definition = { StartAt: 'A', States: { A: { Type: 'Succeed' } } };
    for (const open of [true, false]) {
      const metadata = { name: `w-${open}` };
      const made = await server.call('POST', workflows, { metadata, spec: { definition, public: open } });
      assert.equal(made.status, 201, made.text);
      world.later(() => server.call('DELETE', `${workflows}/w-${open}`));
      const anybody = new Agent({ ca: server.authority.certificate });
      world.later(async () => anybody.destroy());
      const { status } = await call(`/workflow/w-${open}?timeoutSeconds=0`, { agent: anybody, body: '{}' });
      assert.equal(status, open ? 202 : 403);
    }
  });
});
