/** Instances of functions, and calls that reserve an instance before they are made. */
import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { describe, it } from 'node:test';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import { functions, merge, pods } from '../../../apiserver/gateway-world.ts';
import { call, echo, fn, instance, serveFunctions, server, until, world } from './gateway-server.ts';

serveFunctions();

describe('instances', () => {
  it('are requested by the first call, which waits for one', async () => {
    const one = await fn();
    const { name } = one.metadata;
    const waiting = call(`/function/${name}`);
    await until('an instance is asked for', () => world.demands.includes(`default/${name} 1`));
    await until('the status shows the demand', async () => {
      const found = await server.call('GET', `${functions}/${name}`);
      return found.json<Fn>().status?.demand?.here === 1;
    });
    await instance(one, (_, outgoing) => outgoing.end('at last'));
    assert.equal((await waiting).text, 'at last');
  });
  it('that do not listen yet are tried again until they listen', async () => {
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
    await until('the full instance has refused the call', () => refusals > 0);
    await instance(one, echo);
    assert.equal(JSON.parse((await waiting).text).body, '{"n":1}');
  });
  it('share the calls within their limits, and each call is made once', async () => {
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
    await until('no instance is asked for any more', () =>
      world.demands.includes(`default/${one.metadata.name} null`),
    );
    const found = await server.call('GET', `${functions}/${one.metadata.name}`);
    assert.deepEqual(found.json<Fn>().status?.demand, {});
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

  it('is sent to the instance with its place, with its id and as a first attempt', async () => {
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
  it('has the time at which it was sent if it may have been sent', async () => {
    const one = await fn(program);
    const { name } = await instance(one, echo);
    const outcome = await sent(one, await uidOf(name));
    assert.ok(outcome.type === 'answered');
    assert.equal(JSON.parse(outcome.body.toString()).headers['function-once'], '1.500');
  });
  it('is lost if its instance ends, or if the instance has no record of it', async () => {
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
  it('was not made if its instance ended before the call, or rejects it', async () => {
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
  it('may have been made before if a repeated attempt reaches a full or stopped instance', async () => {
    const one = await fn(program);
    const { name } = await instance(one, (_, outgoing) => {
      outgoing.writeHead(503, { 'Function-Not-Called': 'full' }).end('{}');
    });
    assert.equal((await sent(one, await uidOf(name))).type, 'unclear');
    const other = await fn(program);
    const silent = await instance(other);
    assert.equal((await sent(other, await uidOf(silent.name))).type, 'unclear');
  });
  it('counts as possibly made if its connection is cut', async () => {
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
  it('gets no place if the function does not exist, and frees its place when the caller disconnects', async () => {
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
