/** Events that the server stores, and the retries and answers after a rejected write. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { KubeObject } from '../../../../../src/apimachinery/meta.ts';
import { StatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import type { Happening } from '../../../../../src/features/triggers/api/trigger-event-draft.ts';
import { Intake } from '../../../../../src/features/triggers/server/intake.ts';
import { fullMessage, isFull } from '../../../../../src/features/triggers/server/waiting-events.ts';
import type { Cache, IndexDeclaration } from '../../../../../src/storage/cache.ts';
import { meta } from '../../../controllers/objects.ts';

const trigger = (name = 't', spec: object = {}, over: object = {}) =>
  ({ metadata: meta(name, { namespace: 'shop', ...over }), spec }) as unknown as Trigger;
const happening: Happening = { key: ['k'], type: 'x', source: 's', time: 'T', data: { a: 1 } };
const event = (of: string, status: object = {}, namespace = 'shop') =>
  ({
    metadata: meta('e', { namespace }),
    spec: { trigger: of, replays: 0 },
    status,
  }) as unknown as KubeObject;

/** A server whose answers a test sets; undefined for a stored event. */
function world(objects: readonly KubeObject[] = []) {
  const asked: { method: string; path: string; type: string | null; agent: string | null; body: unknown }[] =
    [];
  const refusals: object[] = [];
  const prefixes = new Map<string, string>();
  const cache = {
    index: ({ name, prefix, keysOf }: IndexDeclaration) => {
      prefixes.set(name, prefix.split('/').filter(Boolean).at(-1) ?? '');
      return {
        get: (key: string) =>
          objects.filter((object) => [...keysOf(object)].includes(key)).map((object) => ({ object })),
      };
    },
  } as unknown as Cache;
  const intake = new Intake({
    cache,
    handler: async (request) => {
      const { method, url, headers } = request;
      const [type, agent] = ['content-type', 'user-agent'].map((name) => headers.get(name)) as [
        string,
        string,
      ];
      asked.push({ method, path: new URL(url).pathname, type, agent, body: await request.json() });
      const refusal = refusals.shift() as { code: number } | undefined;
      return refusal
        ? new Response(JSON.stringify(refusal), { status: refusal.code })
        : new Response('{}', { status: 201 });
    },
  });
  return { intake, cache, asked, refusals, prefixes };
}

const path = '/apis/minik8s.io/v1/namespaces/shop/triggerevents';
const full = Array.from({ length: 1000 }, () => event('t'));

describe('an event', () => {
  it('is stored in the namespace of its trigger, and identified by id and name', async () => {
    const { intake, asked } = world();
    const { id, name } = await intake.take(trigger(), happening);
    const { method, path: to, type, agent, body } = asked[0] ?? assert.fail();
    assert.deepEqual(
      [asked.length, method, to, type, agent],
      [1, 'POST', path, 'application/json', 'gateway'],
    );
    const { metadata, spec } = body as { metadata: { name: string }; spec: Record<string, unknown> };
    assert.deepEqual([metadata.name, spec.id, spec.trigger, spec.data], [name, id, 't', { a: 1 }]);
    assert.match(id, /^[0-9a-f]{32}$/);
    assert.equal(name, `t-${id.slice(0, 16)}`);
  });
  it('is the same for the same key, and another for another key or trigger', async () => {
    const { intake } = world();
    const id = async (of: Trigger, key: string) => (await intake.take(of, { ...happening, key: [key] })).id;
    const first = await id(trigger(), 'k');
    assert.equal(await id(trigger(), 'k'), first);
    assert.notEqual(await id(trigger(), 'l'), first);
    assert.notEqual(await id(trigger('t', {}, { uid: 'made-again' }), 'k'), first);
  });
  it('is rejected with the Status of the server', async () => {
    const { intake, refusals } = world();
    refusals.push({ reason: 'Forbidden', code: 403, message: 'exceeded quota' });
    await assert.rejects(intake.take(trigger(), happening), (error) => {
      assert.ok(error instanceof StatusError);
      assert.deepEqual([error.status.code, error.message], [403, 'exceeded quota']);
      return true;
    });
    assert.ok((await intake.take(trigger(), happening)).id, 'the next one is taken');
  });
  it('is rejected while a thousand wait, with a Retry-After', async () => {
    const { intake, asked } = world(full);
    await assert.rejects(intake.take(trigger(), happening), ({ status }: StatusError) => {
      assert.deepEqual(
        [status.code, status.message, status.details?.retryAfterSeconds],
        [429, '1000 events of the trigger wait to be delivered already', 5],
      );
      return true;
    });
    assert.deepEqual(asked, []);
    assert.ok(await intake.take(trigger('another'), happening), 'another trigger has its own thousand');
    assert.ok(await intake.take(trigger('t', {}, { namespace: 'other' }), happening));
  });
});

describe('a result, which cannot happen later', () => {
  it('waits like any event if there is room', async () => {
    const { intake, asked } = world();
    await intake.takeAnyway(trigger(), happening, 'NOW');
    assert.deepEqual(
      asked.map(({ method }) => method),
      ['POST'],
    );
  });
  it('is a dead letter at once if a thousand events wait', async () => {
    const { intake, asked } = world(full);
    await intake.takeAnyway(trigger(), happening, 'NOW');
    const [stored, marked] = asked;
    const { name } = ((stored ?? assert.fail()).body as { metadata: { name: string } }).metadata;
    assert.deepEqual(marked, {
      ...{
        method: 'PATCH',
        path: `${path}/${name}/status`,
        type: 'application/merge-patch+json',
        agent: 'gateway',
      },
      body: {
        status: {
          ...{ phase: 'Failed', failedTime: 'NOW' },
          lastError: '1000 events of the trigger wait to be delivered already',
        },
      },
    });
    assert.equal(asked.length, 2);
  });
  it('whose write fails is an error and is not counted', async () => {
    const { intake, asked, refusals } = world(full);
    refusals.push({ reason: 'InternalError', code: 500, message: 'away' });
    await assert.rejects(intake.takeAnyway(trigger(), happening, 'NOW'), { message: 'away' });
    assert.equal(asked.length, 1);
  });
});

describe('the events that wait', () => {
  it('are the events of the trigger in its namespace, without dead letters', () => {
    const dead = event('t', { phase: 'Failed' });
    const { cache } = world([...full.slice(1), dead, dead, event('t', {}, 'other'), event('u')]);
    assert.equal(isFull(cache, 'shop/t'), false);
    assert.equal(isFull(cache, 'shop/t', 1), true);
    assert.equal(isFull(cache, 'shop/u', 998), false);
    assert.equal(isFull(cache, 'shop/u', 999), true);
    assert.equal(isFull(world(full).cache, 'shop/t'), true);
    assert.equal(fullMessage, '1000 events of the trigger wait to be delivered already');
  });
  it('are not read one by one while there are fewer than a thousand', () => {
    const count = (length: number) => {
      let read = 0;
      const one = {
        get object() {
          read++;
          return event('t');
        },
      };
      const cache = { index: () => ({ get: () => Array(length).fill(one) }) } as unknown as Cache;
      isFull(cache, 'shop/t');
      return read;
    };
    assert.deepEqual([count(999), count(1000)], [0, 1000]);
  });
  it('are counted only while they are being stored, also if that fails', async () => {
    const answers: ((answer: Response) => void)[] = [];
    const { cache } = world(full.slice(2));
    const intake = new Intake({ cache, handler: () => new Promise((resolve) => void answers.push(resolve)) });
    const take = () =>
      intake.take(trigger(), happening).then(
        () => 'taken',
        ({ status }: StatusError) => status.code,
      );
    /** An event that is being stored waits for its answer; one that is rejected does not. */
    const soon = (taken: Promise<unknown>) =>
      Promise.race([taken, setImmediate().then(() => 'is being stored')]);
    const fail = () => new Response('{"reason":"InternalError","code":500}', { status: 500 });
    for (let round = 0; round < 3; round++) {
      const two = [take(), take()];
      assert.equal(await soon(take()), 429);
      answers.shift()?.(fail());
      assert.equal(await two[0], 500);
      const third = take();
      assert.equal(await soon(take()), 429);
      for (const answer of answers.splice(0)) answer(new Response('{}'));
      assert.deepEqual(await Promise.all([two[1], third]), ['taken', 'taken']);
    }
  });
});

it('each look-up has an index of the right kind', () => {
  const { intake, cache, prefixes } = world();
  intake.triggersOfResults('shop', 'f');
  isFull(cache, 'shop/t');
  assert.deepEqual([...prefixes.values()], ['triggers.minik8s.io', 'triggerevents.minik8s.io']);
  assert.ok([...prefixes.keys()].every((name) => name !== ''));
});

it('the only trigger of the results of a function is found', () => {
  const { intake } = world([trigger('t', { result: { function: 'f', outcomes: ['Success'] } })]);
  assert.deepEqual(
    intake.triggersOfResults('shop', 'f').map(({ metadata }) => metadata.name),
    ['t'],
  );
});

it('a trigger with another source matches no function of any name', () => {
  const { intake } = world([trigger('t', { http: { path: '/x' } })]);
  assert.deepEqual(intake.triggersOfResults('shop', 'undefined'), []);
});
