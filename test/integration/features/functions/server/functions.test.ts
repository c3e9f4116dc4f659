/**
 * Calls of functions through the API and the gateway's port. The programs listen on addresses of the loopback
 * network.
 */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { Agent } from 'node:https';
import { after, afterEach, before, describe, it } from 'node:test';
import { systemClock } from '../../../../../src/base/clock.ts';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import { eventually } from '../../../../fixtures/eventually.ts';
import type { HttpsTestServer } from '../../../../fixtures/https-api-server.ts';
import {
  type Asked,
  functions,
  type GatewayWorld,
  merge,
  pods,
  startGatewayWorld,
} from '../../../apiserver/gateway-world.ts';

let world: GatewayWorld;
let server: HttpsTestServer;

before(async () => {
  world = await startGatewayWorld();
  server = world.server;
});
after(() => world.stop());
afterEach(() => world.cleanUp());

const call = (path: string, asked?: Asked) => world.call(path, asked);
const fn = (spec?: Partial<Fn['spec']>, ready?: boolean) => world.fn(spec, ready);
const instance = (of: Fn, answer?: RequestListener) => world.instance(of, answer);
const until = (what: string, probe: () => boolean | Promise<boolean>) => eventually(systemClock, what, probe);

const echo: RequestListener = (incoming, outgoing) => {
  let body = '';
  incoming.on('data', (chunk) => {
    body += chunk;
  });
  incoming.on('end', () => {
    const { method, url, headers } = incoming;
    outgoing.setHeader('x-own', 'yes').end(JSON.stringify({ method, url, headers, body }));
  });
};

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
  it('is one of the API too', async () => {
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
  it('with a body of unknown length is passed on as it comes', async () => {
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
  it('to a program that ends during the call is not given to another', async () => {
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
  it('with an answer that is cut off is cut off for its caller', async () => {
    const one = await fn();
    await instance(one, (_, outgoing) => {
      outgoing.writeHead(200, { 'content-length': '100' }).write('half', () => outgoing.destroy());
    });
    await assert.rejects(call(`/function/${one.metadata.name}`));
  });
  it('with a caller that leaves ends for the program too, and frees the place', async () => {
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

describe('instances', () => {
  it('are requested by the first call, which waits for one', async () => {
    const one = await fn();
    const { name } = one.metadata;
    const waiting = call(`/function/${name}`);
    await until('an instance is asked for', () => world.demands.includes(`default/${name} 1`));
    await until('the status says it', async () => {
      const found = await server.call('GET', `${functions}/${name}`);
      return found.json<Fn>().status?.demand?.here === 1;
    });
    await instance(one, (_, outgoing) => outgoing.end('at last'));
    assert.equal((await waiting).text, 'at last');
  });
  it('that do not listen yet are retried until they do', async () => {
    const one = await fn();
    const { ip } = await instance(one);
    const waiting = call(`/function/${one.metadata.name}`, { body: '{"n":1}' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    await world.listening(ip, echo);
    assert.equal(JSON.parse((await waiting).text).body, '{"n":1}');
  });
  it('that report no room do not get the call', async () => {
    const one = await fn();
    let refusals = 0;
    await instance(one, (incoming, outgoing) => {
      incoming.resume();
      refusals += 1;
      outgoing.writeHead(503, { 'function-not-called': 'busy' }).end();
    });
    const waiting = call(`/function/${one.metadata.name}`, { body: '{"n":1}' });
    await until('it has refused', () => refusals > 0);
    await instance(one, echo);
    assert.equal(JSON.parse((await waiting).text).body, '{"n":1}');
  });
  it('share the calls, none getting more than its number, and each call is made once', async () => {
    const one = await fn({ concurrency: 5 });
    const seen: string[] = [];
    let most = 0;
    const working = (): RequestListener => {
      let underWay = 0;
      return (incoming, outgoing) => {
        underWay += 1;
        most = Math.max(most, underWay);
        seen.push(String(incoming.url));
        setTimeout(() => {
          underWay -= 1;
          outgoing.end('{}');
        }, 5);
      };
    };
    for (let i = 0; i < 3; i++) await instance(one, working());
    const paths = Array.from({ length: 200 }, (_, i) => `/call-${i}`);
    const answers = await Promise.all(
      paths.map((path) => call(`/function/default/${one.metadata.name}${path}`)),
    );
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.deepEqual(seen.toSorted(), paths.toSorted());
    assert.ok(most <= 5, String(most));
  });
  it('of a version that is not active get no calls', async () => {
    const one = await fn();
    await world.instance(one, (_, outgoing) => outgoing.end('new'), { version: 'v2' });
    await instance(one, (_, outgoing) => outgoing.end('old'));
    const answers = await Promise.all([1, 2, 3, 4].map(() => call(`/function/${one.metadata.name}`)));
    assert.deepEqual(new Set(answers.map(({ text }) => text)), new Set(['old']));
  });
  it('that are foreign pods with the same label get no calls', async () => {
    const one = await fn();
    await world.instance(one, (_, outgoing) => outgoing.end('stolen'), { owned: false });
    await instance(one, (_, outgoing) => outgoing.end('own'));
    assert.equal((await call(`/function/${one.metadata.name}`)).text, 'own');
  });
  it('of a function that was never built are not awaited', async () => {
    const one = await fn({}, false);
    const conditions = [
      {
        type: 'Ready',
        status: 'False',
        reason: 'FunctionBuildFailed',
        message: 'no such package',
        lastTransitionTime: new Date().toISOString(),
      },
    ];
    await server.call('PATCH', `${functions}/${one.metadata.name}/status`, { status: { conditions } }, merge);
    const { status, text, headers } = await call(`/function/${one.metadata.name}`);
    assert.deepEqual([status, headers['retry-after']], [503, '1']);
    assert.match(text, /cannot be called: no such package/);
  });
  it('are not awaited when the function is deleted', async () => {
    const one = await fn();
    const waiting = call(`/function/${one.metadata.name}`);
    await until('an instance is asked for', () => world.demands.includes(`default/${one.metadata.name} 1`));
    await server.call('DELETE', `${functions}/${one.metadata.name}`);
    assert.equal((await waiting).status, 404);
  });
  it('are removed after the idle time', async () => {
    const one = await fn({ idleSeconds: 1 });
    await instance(one, echo);
    await call(`/function/${one.metadata.name}`);
    await until('it asks for none', () => world.demands.includes(`default/${one.metadata.name} null`));
    const found = await server.call('GET', `${functions}/${one.metadata.name}`);
    assert.deepEqual(found.json<Fn>().status?.demand, {});
  });
});

describe('the right to call', () => {
  const agentOf = (user: string) => world.agentOf(user);
  const stranger = () => world.stranger();

  it('is missing without a role, and general if the function is public', async () => {
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
  it('requires the verb create on functions/invoke, whatever the method', async () => {
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
  it('of functions is all that is served on the port of the gateway', async () => {
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

describe('a call that is placed before it is made', () => {
  const program = {
    image: undefined as unknown as string,
    runtime: 'python' as const,
    files: { 'main.py': '' },
  };
  const forever = new AbortController().signal;
  const given = ({ metadata }: Fn, id = 'c-1') => ({ namespace: 'default', function: metadata.name, id });
  const calls = () => {
    assert.ok(server.placedCalls);
    return server.placedCalls;
  };
  const sent = (of: Fn, at: string, more: object = {}) =>
    calls().send(
      { ...given(of), instance: at, place: undefined, ageMs: 1500, body: '{"n":1}', ...more },
      forever,
    );
  const uidOf = async (name: string) =>
    (await server.call('GET', `${pods}/${name}`)).json<{ metadata: { uid: string } }>().metadata.uid;

  it('is sent to the instance of its place, with its id and as a first attempt', async () => {
    const one = await fn(program);
    const { name } = await instance(one, echo);
    assert.equal(calls().hasRoom(given(one)), true);
    const place = await calls().place(given(one), forever);
    assert.equal(place.instance, await uidOf(name));
    const outcome = await sent(one, place.instance, { place });
    assert.ok(outcome.type === 'answered' && outcome.status === 200);
    const { headers, body, method } = JSON.parse(outcome.body.toString());
    assert.deepEqual(
      [method, body, headers['function-call-id'], headers['function-once']],
      ['POST', '{"n":1}', 'c-1', '0'],
    );
  });
  it('has the time of the sending if it may have been sent', async () => {
    const one = await fn(program);
    const { name } = await instance(one, echo);
    const outcome = await sent(one, await uidOf(name));
    assert.ok(outcome.type === 'answered');
    assert.equal(JSON.parse(outcome.body.toString()).headers['function-once'], '1.500');
  });
  it('is lost with its instance, and if the instance has no record of it', async () => {
    const one = await fn(program);
    assert.equal((await sent(one, 'gone')).type, 'lost');
    const { name } = await instance(one, (_, outgoing) => {
      outgoing.writeHead(404, { 'Function-Not-Called': 'unknown' }).end('{}');
    });
    assert.equal((await sent(one, await uidOf(name))).type, 'lost');
  });
  it('to an image without a memory of calls is not sent again', async () => {
    const one = await fn();
    let asked = 0;
    const { name } = await instance(one, (_, outgoing) => {
      asked++;
      outgoing.end('{}');
    });
    assert.equal((await sent(one, await uidOf(name))).type, 'lost');
    assert.equal(asked, 0);
    const place = await calls().place(given(one), forever);
    assert.equal((await sent(one, place.instance, { place })).type, 'answered');
  });
  it('counts as not made if its instance ended before the call, or refuses it', async () => {
    const one = await fn(program);
    const { name } = await instance(one, (_, outgoing) => {
      outgoing.writeHead(503, { 'Function-Not-Called': 'stopping' }).end('{}');
    });
    const place = await calls().place(given(one), forever);
    assert.equal((await sent(one, place.instance, { place })).type, 'notMade');
    assert.equal((await sent(one, await uidOf(name))).type, 'notMade');
    const other = await fn(program);
    const held = { instance: 'never', release: () => undefined };
    assert.equal((await sent(other, 'never', { place: held })).type, 'notMade');
  });
  it('may have been made before, if a repeated sending finds a full or stopped instance', async () => {
    const one = await fn(program);
    const { name } = await instance(one, (_, outgoing) => {
      outgoing.writeHead(503, { 'Function-Not-Called': 'full' }).end('{}');
    });
    assert.equal((await sent(one, await uidOf(name))).type, 'unclear');
    const other = await fn(program);
    const silent = await instance(other);
    assert.equal((await sent(other, await uidOf(silent.name))).type, 'unclear');
  });
  it('over a connection that is cut may have been made', async () => {
    const one = await fn(program);
    await instance(one, (incoming) => void incoming.socket.destroy());
    const place = await calls().place(given(one), forever);
    assert.equal((await sent(one, place.instance, { place })).type, 'unclear');
  });
  it("takes no longer than the function's timeout, and returns its error", async () => {
    const one = await fn({ ...program, timeoutSeconds: 1 });
    const { name } = await instance(one, () => undefined);
    assert.equal((await sent(one, await uidOf(name))).type, 'late');
    const other = await fn(program);
    const { name: second } = await instance(other, (_, outgoing) => {
      outgoing.writeHead(500, { 'Function-Error': 'NoMoney' }).end('{"error":"NoMoney: none"}');
    });
    const outcome = await sent(other, await uidOf(second));
    assert.ok(outcome.type === 'answered' && outcome.error === 'NoMoney');
  });
  it('has no place without a function, and frees it when the caller leaves', async () => {
    await assert.rejects(
      calls().place({ namespace: 'default', function: 'none', id: 'a' }, forever),
      /not found/,
    );
    const one = await fn({ ...program, concurrency: 1 });
    await instance(one, echo);
    const place = await calls().place(given(one), forever);
    assert.equal(calls().hasRoom(given(one)), false);
    const leaving = new AbortController();
    const waiting = calls().place(given(one, 'c-2'), leaving.signal);
    leaving.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
    place.release();
    assert.equal(calls().hasRoom(given(one)), true);
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
