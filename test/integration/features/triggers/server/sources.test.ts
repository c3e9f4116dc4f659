/** Events of schedule, HTTP and function result triggers, on a real control plane. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gatewayApp } from '../../../../../src/features/functions/server/gateway-app.ts';
import { triggerResource } from '../../../../../src/features/triggers/api/trigger.ts';
import { triggerEventResource } from '../../../../../src/features/triggers/api/trigger-event.ts';
import { triggerPaths } from '../../../../../src/features/triggers/server/trigger-paths.ts';
import { admin } from '../../../../fixtures/api-server.ts';
import { World } from './world.ts';

const triggers = '/apis/minik8s.io/v1/namespaces/default/triggers';
const invoke = (name: string) => `${triggers}/${name}/invoke`;
const merge = { headers: { 'content-type': 'application/merge-patch+json' } };
const nobody = { user: { name: 'mallory', groups: ['system:authenticated'] } };

const world = new World('127.0.31');
before(() => world.start());
after(() => world.end());

const suspend = (name: string, isOn = true) =>
  world.call('PATCH', `${triggers}/${name}`, { spec: { suspend: isOn } }, merge);

describe('a trigger with a schedule', () => {
  it('reports each scheduled time once, and none while it is suspended', async () => {
    const seen = await world.noting('ticking');
    await world.trigger('tick', { target: { name: 'ticking' }, cron: { schedule: '@every 1s' } });
    await world.eventually('three times', () => seen.length >= 3);
    assert.equal(new Set(seen.map(({ id }) => id)).size, seen.length);
    const times = seen.map(({ data }) => Date.parse(data.scheduledTime ?? ''));
    // Several events are delivered concurrently, so the first may arrive last.
    assert.equal(new Set(times).size, times.length);
    assert.equal(seen[0]?.type, 'minik8s.io/cron');
    await suspend('tick');
    const condition = await world.eventually('the status reports it', async () => {
      const ready = await world.condition('tick', 'Ready');
      return ready?.status === 'False' && ready;
    });
    assert.equal(condition.reason, 'Suspended');
    assert.equal((await world.status('tick'))?.position, undefined);
  });
  it('reports that it is never due', async () => {
    await world.trigger('never', { target: { name: 'ticking' }, cron: { schedule: '0 0 30 2 *' } });
    await world.eventually(
      'the status reports it',
      async () => (await world.condition('never', 'Ready'))?.reason === 'NeverDue',
    );
  });
  it('is rejected if it is invalid', async () => {
    const spec = { target: { name: 'x' }, cron: { schedule: '61 * * * *', timeZone: 'Mars/Olympus' } };
    const answer = await world.call('POST', triggers, { metadata: { name: 'bad' }, spec });
    assert.equal(answer.status, 422);
    const fields = JSON.parse(answer.text).details.causes.map(({ field }: { field: string }) => field);
    assert.deepEqual(fields, ['spec.cron.schedule', 'spec.cron.timeZone']);
  });
});

describe('a trigger with a path', () => {
  const gateway = (path: string, given: RequestInit = {}) =>
    gatewayApp(world.plane.server.app, triggerPaths(world.plane.cache)).fetch(
      new Request(`https://gateway${path}`, { method: 'POST', ...given }),
      {},
    );

  it('serves all callers of the gateway if it is public; otherwise it serves no anonymous callers', async () => {
    const seen = await world.noting('asked');
    await world.trigger('open', {
      target: { name: 'asked' },
      http: { path: '/open/door', public: true, methods: ['PUT'] },
    });
    await world.trigger('closed', { target: { name: 'asked' }, http: { path: '/closed' } });
    await world.eventually(
      'the path is known',
      async () => (await gateway('/trigger/default/open/door')).status === 405,
    );
    const answer = await gateway('/trigger/default/open/door', { method: 'PUT', body: 'some text' });
    assert.equal(answer.status, 202);
    const event = await world.eventually('the change is reported', () => seen[0]);
    assert.equal((event.data as Record<string, unknown>).body, 'some text');
    assert.equal((await gateway('/trigger/default/closed')).status, 403);
    assert.equal((await gateway('/trigger/default/nowhere')).status, 404);
    assert.equal((await gateway('/trigger/other/open/door')).status, 404);
    assert.equal((await world.call('PUT', `${invoke('open')}/more`, {})).status, 404);
    assert.equal((await world.call('POST', invoke('closed'), {}, nobody)).status, 403);
  });
  it('stores no credentials of the sender', async () => {
    const seen = await world.noting('curious');
    await world.trigger('secrets', { target: { name: 'curious' }, http: { path: '/secrets' } });
    const forged = { 'function-call-id': 'r.1', 'function-trigger-depth': '3' };
    const headers = { authorization: 'Bearer secret', cookie: 'a=secret', 'x-own': 'yes', ...forged };
    assert.equal((await world.call('POST', invoke('secrets'), {}, { headers })).status, 202);
    const event = await world.eventually('the change is reported', () => seen[0]);
    assert.equal(JSON.stringify(event).includes('secret"'), false, JSON.stringify(event));
    const told = event.data.headers as Record<string, string> | undefined;
    assert.equal(told?.['x-own'], 'yes');
    assert.deepEqual(
      Object.keys(told ?? {}).filter((name) => name.startsWith('function-')),
      [],
    );
  });
  it('stores a request only once that is sent again with the same key', async () => {
    await world.noting('keyed', () => 500);
    await world.trigger('keyed', { target: { name: 'keyed' }, http: { path: '/keyed' } });
    const headers = { 'idempotency-key': 'order 7' };
    const answers = [1, 2].map(() => world.call('POST', invoke('keyed'), {}, { headers }));
    const [first, second] = await Promise.all(answers);
    assert.equal(first?.status, 202);
    assert.equal(first?.text, second?.text);
    assert.equal((await world.events('keyed')).length, 1);
  });
  it('stores a request of another sender, or another request, with the same key', async () => {
    await world.noting('guessed', () => 500);
    const http = { path: '/guessed', public: true, methods: ['POST', 'PUT'] };
    await world.trigger('guessed', { target: { name: 'guessed' }, http });
    const given = { headers: { 'idempotency-key': 'order-1' } };
    const ids = new Set<string>();
    for (const user of [nobody.user, admin])
      for (const body of [{ order: 1 }, { order: 2 }, { order: 1 }]) {
        const answer = await world.call('POST', invoke('guessed'), body, { user, ...given });
        assert.equal(answer.status, 202, answer.text);
        ids.add(JSON.parse(answer.text).id);
      }
    assert.equal(ids.size, 4);
    const other = await world.call(
      'POST',
      `${invoke('guessed')}?amount=9`,
      { order: 1 },
      { ...nobody, ...given },
    );
    ids.add(JSON.parse(other.text).id);
    assert.equal(ids.size, 5, 'with another query it is another request');
    const more = [
      ['POST', invoke('guessed'), { 'content-type': 'text/plain' }],
      ['PUT', invoke('guessed'), {}],
    ] as const;
    for (const [index, [method, path, headers]] of more.entries()) {
      const answer = await world.call(
        method,
        path,
        { order: 1 },
        { ...nobody, headers: { ...given.headers, ...headers } },
      );
      assert.equal(answer.status, 202, answer.text);
      ids.add(JSON.parse(answer.text).id);
      assert.equal(ids.size, 6 + index, `${method} ${path} ${JSON.stringify(headers)}`);
    }
  });
  it('starts no more runs for anonymous callers while a thousand have not ended', async () => {
    const definition = { StartAt: 'A', States: { A: { Type: 'Wait', Seconds: 9999, End: true } } };
    const workflows = '/apis/minik8s.io/v1/namespaces/default/workflows';
    const made = await world.call('POST', workflows, { metadata: { name: 'slow' }, spec: { definition } });
    assert.equal(made.status, 201, made.text);
    const target = { kind: 'Workflow', name: 'slow' };
    await world.trigger('flood', { target, http: { path: '/flood', public: true } });
    const runs = '/apis/minik8s.io/v1/namespaces/default/workflowruns';
    const labels = { 'minik8s.io/trigger': 'flood' };
    for (let i = 0; i < 1000; i++) {
      const run = { metadata: { name: `flood-${i}`, labels }, spec: { workflow: 'nothing' } };
      const { status, text } = await world.call('POST', runs, run);
      assert.equal(status, 201, text);
    }
    const stranger = { user: { name: 'system:anonymous', groups: ['system:unauthenticated'] } };
    assert.equal((await world.call('POST', invoke('flood'), {}, stranger)).status, 429);
    assert.equal((await world.call('POST', invoke('flood'), {})).status, 202);
  });
  it('stores JSON that is too deep or too large for an event as text', async () => {
    const seen = await world.noting('deep');
    await world.trigger('wells', { target: { name: 'deep' }, http: { path: '/wells' } });
    const bodies = [`${'['.repeat(60_000)}${']'.repeat(60_000)}`, `[${'1,'.repeat(60_000)}1]`];
    for (const body of bodies) {
      const { status, text } = await world.call('POST', invoke('wells'), body);
      assert.equal(status, 202, text);
    }
    await world.eventually('both changes are reported', () => seen.length === 2);
    assert.deepEqual(new Set(seen.map(({ data }) => data.body)), new Set(bodies));
  });
  it('rejects requests with a body that is too large, for a suspended trigger, and above the limit of waiting events', async () => {
    await world.trigger('full', { target: { name: 'keyed' }, http: { path: '/full' } });
    const large = await world.call('POST', invoke('full'), JSON.stringify('x'.repeat(200_000)));
    assert.equal(large.status, 413);
    await suspend('full');
    await world.eventually(
      'it is suspended',
      async () => (await world.call('POST', invoke('full'), {})).status === 503,
    );
    const trigger = await world.client.resource(triggerResource).get('full', 'default');
    const spec = { trigger: 'full', type: 't', source: 's', time: '2026-01-01T00:00:00Z' };
    for (let n = 0; n < 1000; n++) {
      const metadata = { name: `full-${n}`, namespace: 'default' };
      await world.client.resource(triggerEventResource).create({
        apiVersion: 'minik8s.io/v1',
        kind: 'TriggerEvent',
        metadata,
        spec: { ...spec, id: String(n) },
      } as never);
    }
    assert.equal(trigger.spec.http?.path, '/full');
    // These events have no owner, so no controller delivers them.
    await suspend('full', false);
    const refused = await world.eventually('it is full', async () => {
      const answer = await world.call('POST', invoke('full'), {});
      return answer.status !== 503 && answer;
    });
    assert.equal(refused.status, 429, refused.text);
    assert.match(refused.text, /1000 events of the trigger wait/);
  });
  it('keeps the path of an older trigger', async () => {
    await world.trigger('b-first', { target: { name: 'asked' }, http: { path: '/same' } });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await world.trigger('a-second', { target: { name: 'asked' }, http: { path: '/same' } });
    const ready = await world.eventually('the status reports it', async () => {
      const condition = await world.condition('a-second', 'Ready');
      return condition?.status === 'False' && condition;
    });
    assert.equal(ready.reason, 'PathTaken');
    assert.match(ready.message ?? '', /"b-first"/);
    await world.call('DELETE', `${triggers}/b-first`);
    await world.eventually(
      'the trigger has the path',
      async () => (await world.condition('a-second', 'Ready'))?.status === 'True',
    );
  });
});

describe('a trigger of results', () => {
  const call = (name: string, headers: Record<string, string> = {}) =>
    world.call('POST', `/apis/minik8s.io/v1/namespaces/default/functions/${name}/invoke`, {}, { headers });

  it('reports the selected outcomes, with the answer', async () => {
    const seen = await world.noting('after-all');
    const failures = await world.noting('after-failure');
    await world.noting('first', (count) => (count === 1 ? 200 : 418));
    await world.trigger('all', { target: { name: 'after-all' }, result: { function: 'first' } });
    await world.trigger('bad', {
      target: { name: 'after-failure' },
      result: { function: 'first', outcomes: ['Failure'] },
    });
    await world.eventually('both are known', async () =>
      Promise.all(['all', 'bad'].map((name) => world.condition(name, 'Ready'))).then((all) =>
        all.every((one) => one?.status === 'True'),
      ),
    );
    assert.equal((await call('first', { 'function-call-id': 'mine' })).text, '{"answer":1}');
    assert.equal((await call('first')).status, 418);
    await world.eventually('both changes are reported', () => seen.length === 2 && failures.length === 1);
    const [good] = seen.filter(({ type }) => type === 'minik8s.io/function.success');
    assert.deepEqual(good?.data as unknown, {
      function: 'first',
      outcome: 'Success',
      status: 200,
      callId: 'mine',
      body: { answer: 1 },
    });
    assert.equal(failures[0]?.type, 'minik8s.io/function.failure');
    assert.equal(Number(failures[0]?.data.status), 418);
  });
  it('gets a result whatever chain the caller sends', async () => {
    const seen = await world.noting('after-hidden');
    await world.noting('hidden');
    await world.trigger('hidden', { target: { name: 'after-hidden' }, result: { function: 'hidden' } });
    await world.eventually(
      'the trigger is known',
      async () => (await world.condition('hidden', 'Ready'))?.status === 'True',
    );
    await call('hidden', {
      'function-trigger-depth': '16',
      'function-trigger-retried': 'true',
      'function-trigger-chain': 'default/hidden,default/other',
    });
    const event = await world.eventually('the change is reported', () => seen[0]);
    assert.deepEqual(
      [event.headers['function-trigger-depth'], event.headers['function-trigger-chain']],
      ['1', 'default/hidden'],
    );
  });
  it('passes on a large answer whole, and its event reports only that there was an answer', async () => {
    const seen = await world.noting('after-large');
    const large = 'x'.repeat(1_000_000);
    await world.fn('large', (incoming, outgoing) => {
      incoming.resume();
      incoming.on('end', () => outgoing.end(large));
    });
    await world.trigger('large', { target: { name: 'after-large' }, result: { function: 'large' } });
    await world.eventually(
      'the trigger is known',
      async () => (await world.condition('large', 'Ready'))?.status === 'True',
    );
    assert.equal((await call('large')).text, large);
    const event = await world.eventually('the change is reported', () => seen[0]);
    assert.deepEqual(event.data as unknown, {
      function: 'large',
      outcome: 'Success',
      status: 200,
      truncated: true,
    });
  });
  it('passes on an answer that is nested too deep for an event, and reports it as a text', async () => {
    const seen = await world.noting('after-depths');
    const deep = `${'['.repeat(900)}${']'.repeat(900)}`;
    await world.fn('depths', (incoming, outgoing) => {
      incoming.resume();
      incoming.on('end', () => outgoing.writeHead(200, { 'content-type': 'application/json' }).end(deep));
    });
    await world.trigger('depths', { target: { name: 'after-depths' }, result: { function: 'depths' } });
    await world.eventually(
      'the trigger is known',
      async () => (await world.condition('depths', 'Ready'))?.status === 'True',
    );
    assert.deepEqual(await call('depths'), { status: 200, text: deep });
    const event = await world.eventually('the change is reported', () => seen[0]);
    assert.equal((event.data as Record<string, unknown>).body, deep);
  });
  it('that calls itself ends as a dead letter after sixteen calls', async () => {
    const seen = await world.noting('loop');
    await world.trigger('loop', { target: { name: 'loop' }, result: { function: 'loop' } });
    await world.eventually(
      'the trigger is known',
      async () => (await world.condition('loop', 'Ready'))?.status === 'True',
    );
    await call('loop');
    const dead = await world.eventually('it ends', async () =>
      (await world.events('loop')).find(({ status }) => status?.phase === 'Failed'),
    );
    assert.match(dead.status?.lastError ?? '', /more than 16 triggers/);
    assert.equal(seen.length, 17);
  });
  it('continues once from each event, even if its delivery fails several times', async () => {
    const seen = await world.noting('stumbling', (count) => (count <= 4 ? 500 : 200));
    await world.trigger('stumbling', {
      target: { name: 'stumbling' },
      result: { function: 'stumbling' },
      retry: { minSeconds: 1, maxSeconds: 1 },
    });
    await world.eventually(
      'the trigger is known',
      async () => (await world.condition('stumbling', 'Ready'))?.status === 'True',
    );
    assert.equal((await call('stumbling')).status, 500);
    await world.eventually('nothing is left but dead letters', async () => {
      const events = await world.events('stumbling');
      return events.length > 0 && events.every(({ status }) => status?.phase === 'Failed');
    });
    assert.equal((await world.events('stumbling')).length, 1);
    // Three attempts at the first event failed.
    assert.equal(seen.length, 17 + 3);
  });
  it('gets a failed delivery when it is not retried any more', async () => {
    const seen = await world.noting('after-attempts');
    const attempts = await world.noting('attempted', () => 500);
    await world.trigger('attempts', {
      target: { name: 'attempted' },
      http: { path: '/attempts' },
      retry: { maxAttempts: 2, minSeconds: 1, maxSeconds: 1 },
    });
    await world.trigger('given-up', {
      target: { name: 'after-attempts' },
      result: { function: 'attempted', outcomes: ['Failure'] },
    });
    await world.eventually('both are known', async () => {
      const all = await Promise.all(['attempts', 'given-up'].map((name) => world.condition(name, 'Ready')));
      return all.every((one) => one?.status === 'True');
    });
    assert.equal((await world.call('POST', invoke('attempts'), {})).status, 202);
    await world.eventually('the change is reported', () => seen.length > 0);
    assert.equal(attempts.length, 2);
    await world.eventually('all is delivered', async () => (await world.events('given-up')).length === 0);
    assert.equal(seen.length, 1);
  });
});
