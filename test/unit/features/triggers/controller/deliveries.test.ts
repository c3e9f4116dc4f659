/** Events during and after their delivery, on a cache that lags. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newConflict, newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import type { ControllerContext } from '../../../../../src/controller-runtime/definition.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import {
  type TriggerEvent,
  triggerEventResource,
} from '../../../../../src/features/triggers/api/trigger-event.ts';
import { Deliveries, maxInAll } from '../../../../../src/features/triggers/controller/deliveries.ts';
import type { Failure } from '../../../../../src/features/triggers/controller/delivery-plan.ts';
import { triggerRights } from '../../../../../src/features/triggers/controller/trigger.ts';
import { meta } from '../../../controllers/objects.ts';
import { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const key = 'default/t';
const trigger = (name = 't') =>
  ({
    metadata: meta(name),
    spec: { retry: { maxAttempts: 3, minSeconds: 1, maxSeconds: 300 }, deadLetters: { limit: 2 } },
  }) as unknown as Trigger;

const event = (name: string, spec: object = {}, over: object = {}): TriggerEvent =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'TriggerEvent' },
    metadata: meta(name, over),
    spec: { trigger: 't', id: name, depth: 0, replays: 0, ...spec },
  }) as unknown as TriggerEvent;

function world() {
  const captured: { context?: ControllerContext } = {};
  const factory = (context: ControllerContext) => {
    captured.context = context;
    return { name: 'none', watches: [], reconcile: async () => undefined };
  };
  const server = new ScriptedWorld(factory, 0, [triggerRights]);
  const context = captured.context ?? assert.fail('it was not made');
  const term = new AbortController();
  const under = new Map<string, (failure: Failure | undefined) => void>();
  const woken: (readonly string[])[] = [];
  const deliveries = new Deliveries({
    ...context,
    deliver: (_, { metadata }) => new Promise((resolve) => under.set(metadata.name, resolve)),
    onChange: (keys) => void woken.push(keys),
  });
  const { clock } = server;
  return {
    ...{ server, deliveries, under, woken, clock, term },
    /** Stores an event and begins its delivery. */
    begin(one: TriggerEvent, of = trigger()): TriggerEvent {
      server.store(triggerEventResource, one);
      deliveries.begin(of, one, term.signal);
      return one;
    },
    async end(name: string, failure?: Failure): Promise<void> {
      await clock.settle();
      (under.get(name) ?? assert.fail(`${name} is not under way`))(failure);
      under.delete(name);
      await clock.settle();
    },
    stored: (name: string) => server.stored(triggerEventResource, `default/${name}`),
  };
}

describe('deliveries', () => {
  it('occupy a limited number of places, and release them at their end', async () => {
    const one = world();
    const places = one.deliveries.roomFor(key);
    assert.ok(places > 0 && places < maxInAll, 'one namespace does not have all');
    for (let i = 0; one.deliveries.roomFor(key) > 0; i++) one.begin(event(`e${i}`));
    const begun = one.deliveries.underWay(key);
    assert.ok(begun > 0 && begun < maxInAll);
    for (let i = 0; i < begun; i++) await one.end(`e${i}`, i % 2 ? undefined : { error: 'no' });
    assert.deepEqual([one.deliveries.roomFor(key), one.deliveries.underWay(key)], [places, 0]);
  });
  it('continue when another delivery ends, and their events stay busy', async () => {
    const one = world();
    const [, second] = [one.begin(event('e1')), one.begin(event('e2'))];
    await one.end('e1');
    assert.deepEqual([one.deliveries.underWay(key), one.deliveries.isBusy(key, second)], [1, true]);
    await one.end('e2');
    assert.equal(one.deliveries.underWay(key), 0);
  });
  it('are assigned to one waiting trigger for each free place, in order', async () => {
    const one = world();
    for (const name of ['e1', 'e2', 'e3']) one.begin(event(name));
    for (const waiting of ['default/a', 'default/b', 'default/a']) one.deliveries.wait(waiting);
    for (const name of ['e1', 'e2', 'e3']) await one.end(name);
    assert.deepEqual(one.woken, [[key, 'default/a'], [key, 'default/b'], [key]]);
    one.begin(event('e4'));
    one.deliveries.wait('default/gone');
    one.deliveries.forget('default/gone');
    await one.end('e4');
    assert.deepEqual(one.woken.at(-1), [key]);
  });
});

describe('an event', () => {
  it('is deleted after its delivery, and is busy until the cache shows the deletion', async () => {
    const one = world();
    const e = one.begin(event('e'));
    assert.equal(one.deliveries.isBusy(key, e), true);
    await one.end('e');
    assert.equal(one.stored('e'), undefined);
    assert.equal(one.deliveries.isBusy(key, e), true);
    assert.equal(one.deliveries.isBusy(key, event('e', {}, { uid: 'another' })), false, 'one of that name');
    one.deliveries.gone(event('e', {}, { uid: 'another' }));
    one.deliveries.gone(e);
    assert.equal(one.deliveries.isBusy(key, e), false);
    assert.deepEqual(one.deliveries.counts(key).delivered, 1);
  });
  it('after a failure is busy until the cache shows the write about it', async () => {
    const one = world();
    const e = one.begin(event('e'));
    await one.end('e', { error: 'no', status: 503 });
    const written = one.stored('e') ?? assert.fail('it is gone');
    assert.deepEqual(
      [written.status?.phase, written.status?.attempts, written.status?.lastStatus],
      ['Pending', 1, 503],
    );
    assert.equal(one.deliveries.isBusy(key, e), true);
    assert.equal(one.deliveries.isBusy(key, written), false);
    assert.equal(one.deliveries.isBusy(key, written), false);
  });
  it('is a dead letter after its last attempt, without the messages of earlier ones, and is counted once', async () => {
    const one = world();
    const status = { phase: 'Pending', attempts: 2, nextTime: '2026-01-01T00:00:00Z', lastStatus: 500 };
    one.begin({ ...event('e'), status } as TriggerEvent);
    await one.end('e', { error: 'no answer' });
    assert.deepEqual(one.stored('e')?.status, {
      ...{ phase: 'Failed', attempts: 3, replays: 0, lastError: 'no answer' },
      failedTime: '2026-01-01T00:00:00Z',
    });
    assert.equal(one.deliveries.counts(key).failed, 1);
    assert.deepEqual(one.server.told, [
      'Warning DeadLetter t: TriggerEvent e is a dead letter after 3 attempts: no answer',
    ]);
  });
  it('at the end of a chain that is too long is a dead letter at once, without a call', async () => {
    const one = world();
    one.begin(event('e', { depth: 17 }));
    await one.clock.settle();
    assert.equal(one.under.size, 0);
    assert.equal(one.stored('e')?.status?.phase, 'Failed');
  });
  it('is neither removed, written nor counted if another event of its name replaced it', async () => {
    for (const failure of [undefined, { error: 'no', isFinal: true }]) {
      const one = world();
      one.begin(event('e'));
      const other = event('e', {}, { uid: 'another', resourceVersion: '7' });
      one.server.store(triggerEventResource, other);
      await one.end('e', failure);
      assert.deepEqual(one.stored('e'), other);
      assert.deepEqual(one.deliveries.counts(key), { delivered: 0, failed: 0, discarded: 0 });
      assert.equal(one.deliveries.underWay(key), 0, 'it is not tried again');
      assert.deepEqual(one.server.log.of('warn'), []);
    }
  });
  it('that was deleted in the meantime is not counted', async () => {
    const one = world();
    one.begin(event('e'));
    one.server.take(triggerEventResource, 'default/e');
    await one.end('e');
    assert.equal(one.deliveries.counts(key).delivered, 0);
    assert.deepEqual([one.deliveries.underWay(key), one.server.log.of('warn')], [0, []]);
    const dead = event('dead');
    await one.deliveries.discard(trigger(), dead);
    assert.equal(one.deliveries.counts(key).discarded, 0);
  });
  it('is not delivered again if the outcome of its delivery cannot be written', async () => {
    for (const failure of [undefined, { error: 'no' }]) {
      const one = world();
      const e = one.begin(event('e'));
      let refusals = 3;
      one.server.refuse = () =>
        refusals-- > 0 ? newStatusError('InternalError', 'the store is away') : undefined;
      await one.end('e', failure);
      assert.equal(one.deliveries.isBusy(key, e), true);
      await one.clock.advance(60_000);
      assert.equal(one.stored('e')?.status?.attempts, failure && 1);
      assert.equal(one.under.size, 0);
      assert.equal(one.deliveries.underWay(key), 0);
    }
  });
  it('is unchanged when the term of this master ends', async () => {
    const one = world();
    const e = one.begin(event('e'));
    one.server.refuse = () => newStatusError('InternalError', 'the store is away');
    await one.end('e');
    one.term.abort();
    await one.clock.advance(60_000);
    assert.deepEqual(one.stored('e'), e);
    assert.equal(one.deliveries.underWay(key), 0);
  });
});

it('that are counted during a write of the status are in the next status', async () => {
  const one = world();
  one.begin(event('e1'));
  one.begin(event('e2'));
  await one.end('e1');
  const written = { ...one.deliveries.counts(key) };
  await one.end('e2');
  one.deliveries.written(key, written);
  assert.equal(one.deliveries.counts(key).delivered, 1);
  await one.deliveries.discard(trigger(), one.begin(event('e3')));
  assert.equal(one.deliveries.counts(key).discarded, 1);
});

it('the deletion of another event of the same name in the cache leaves a removed event busy', async () => {
  const one = world();
  const e = one.begin(event('e'));
  await one.end('e');
  one.deliveries.gone(event('e', {}, { uid: 'another' }));
  assert.equal(one.deliveries.isBusy(key, e), true);
  one.deliveries.gone(e);
  assert.equal(one.deliveries.isBusy(key, e), false);
});

it('an event is not busy if the cache shows a later state than the written one', async () => {
  const one = world();
  const e = one.begin(event('e'));
  await one.end('e', { error: 'no' });
  const { metadata } = one.stored('e') ?? assert.fail('it is gone');
  const at = (resourceVersion: number) =>
    one.deliveries.isBusy(key, { ...e, metadata: { ...metadata, resourceVersion: String(resourceVersion) } });
  const written = Number(metadata.resourceVersion);
  assert.deepEqual([at(written - 1), at(written + 1), at(written - 1)], [true, false, false]);
});

it('a delivery has its time, and its end is written although other clients write the event', async () => {
  for (const failure of [undefined, { error: 'no' }]) {
    const one = world();
    one.begin(event('e'));
    let races = 2;
    one.server.refuse = (verb) =>
      verb !== 'get' && races-- > 0 ? newConflict(triggerEventResource, 'e', 'it has changed') : undefined;
    await one.end('e', failure);
    await one.clock.advance(60_000);
    assert.equal(one.stored('e')?.status?.attempts, failure && 1);
    const { delivered, lastTime } = one.deliveries.counts(key);
    assert.equal(delivered, failure ? 0 : 1);
    assert.match(lastTime ?? 'none', failure ? /none/ : /^2026-01-01T00:00:0\dZ$/);
    assert.deepEqual(
      one.server.log.of('warn').map(({ message, fields }) => [message, fields.event]),
      [1, 2].map(() => ['the outcome of a delivery cannot be written; trying again', 'default/e']),
    );
    assert.equal(one.server.asked.filter((asked) => asked.startsWith('get')).length, 2);
  }
});

it('an event is queried only if another may have its name', async () => {
  const one = world();
  one.begin(event('e'));
  let refusals = 1;
  one.server.refuse = () =>
    refusals-- > 0 ? newStatusError('InternalError', 'the store is away') : undefined;
  await one.end('e');
  await one.clock.advance(60_000);
  assert.deepEqual(one.server.asked, ['delete TriggerEvent e', 'delete TriggerEvent e']);
});

it('a namespace without deliveries has as many places as before its deliveries', async () => {
  const one = world();
  const before = one.deliveries.roomFor(key);
  one.begin(event('e'));
  assert.equal(one.deliveries.roomFor(key), before - 1);
  await one.end('e');
  assert.equal(one.deliveries.roomFor(key), before);
  assert.equal(one.deliveries.roomFor('other/t'), before);
});

it('a free place is assigned to the first trigger whose namespace may use it', async () => {
  const one = world();
  const other = { ...trigger(), metadata: meta('o', { namespace: 'other' }) } as Trigger;
  one.begin(event('theirs', {}, { namespace: 'other' }), other);
  for (let i = 0; one.deliveries.roomFor(key) > 0; i++) one.begin(event(`e${i}`));
  for (const waiting of ['default/a', 'other/b']) one.deliveries.wait(waiting);
  await one.end('theirs');
  assert.deepEqual(one.woken.at(-1), ['other/o', 'other/b']);
});
