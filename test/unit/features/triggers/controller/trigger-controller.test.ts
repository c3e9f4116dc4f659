/** Actions of the trigger controller for the objects in its cache: events, times, watches. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { serviceAccountResource } from '../../../../../src/api/core/v1/service-account/service-account.ts';
import {
  newAlreadyExists,
  newForbidden,
  newNotFound,
  newStatusError,
} from '../../../../../src/apimachinery/status-error.ts';
import {
  type FolderWatch,
  folderWatchResource,
} from '../../../../../src/features/triggers/api/folder-watch.ts';
import { type Trigger, triggerResource } from '../../../../../src/features/triggers/api/trigger.ts';
import { triggerEventResource } from '../../../../../src/features/triggers/api/trigger-event.ts';
import { at, meta } from '../../../controllers/objects.ts';
import type { ScriptedWorld } from '../../../controllers/scripted-world.ts';
import { event, key, trigger, world } from './trigger-world.ts';

describe('events', () => {
  it('of an earlier trigger with the same name are not delivered', async () => {
    const { server, calls, put } = world();
    server.put(triggerEventResource, event('old', 'uid-before'));
    server.put(triggerEventResource, event('own'));
    await put(trigger({ http: { path: '/x' } }));
    assert.deepEqual(
      calls.map(({ headers }) => headers['function-call-id']),
      ['own'],
    );
    assert.deepEqual(server.names(triggerEventResource), ['old']);
  });
});

describe('the status', () => {
  const http = { http: { path: '/x' } };
  it('counts each delivery once, even if the status is written several times', async () => {
    const { server, put, look } = world();
    const count = () => server.stored(triggerResource, key)?.status?.delivered;
    await put(trigger(http));
    for (const [name, sum] of [
      ['one', 1],
      ['two', 2],
    ] as const) {
      server.put(triggerEventResource, event(name));
      await look();
      server.sync(triggerEventResource);
      await server.clock.advance(2000);
      await look();
      server.sync(triggerResource);
      assert.equal(count(), sum);
    }
  });
  it('is not written again while the cache is behind the last write', async () => {
    const { server, look } = world();
    server.put(triggerResource, trigger(http));
    const writes = () => server.asked.filter((one) => one === 'updateStatus Trigger t').length;
    await look();
    assert.equal(writes(), 1);
    server.put(triggerEventResource, event('one'));
    await server.clock.advance(2000);
    const asked = server.asked.length;
    await look();
    assert.equal(writes(), 1, 'the cache shows the trigger as it was before');
    assert.ok(!server.asked.slice(asked).some((one) => one.startsWith('delete TriggerEvent')));
    server.sync(triggerResource);
    await look();
    assert.deepEqual(server.names(triggerEventResource), [], 'it is delivered now');
  });
});

describe('times', () => {
  const cron = { cron: { schedule: '@every 1m' } };
  it('wait while too many events wait, and afterwards the last of them is reported', async () => {
    const { server, put, look, answer } = world();
    answer.status = 500;
    for (let i = 0; i < 1000; i++) server.seen.put(triggerEventResource, event(`e${i}`));
    const before = await put(trigger(cron));
    await server.clock.advance(180_000);
    await look();
    assert.deepEqual(server.names(triggerEventResource), [], 'none of them is stored');
    assert.equal(server.stored(triggerResource, key)?.status?.position?.lastScheduleTime, undefined);
    assert.ok(before.status?.position);
    for (let i = 0; i < 1000; i++) server.seen.remove(triggerEventResource, `default/e${i}`);
    await server.clock.advance(5000);
    server.sync(triggerResource);
    await look();
    assert.equal(server.all(triggerEventResource).length, 1);
    assert.equal(server.stored(triggerResource, key)?.status?.position?.lastScheduleTime, at(180));
  });
  it('are not past before their event is stored', async () => {
    const { server, put, look } = world();
    await put(trigger(cron));
    await server.clock.advance(60_000);
    server.refuse = (verb) => (verb === 'create' ? newStatusError('InternalError', 'away') : undefined);
    await assert.rejects(look(), /away/);
    assert.equal(server.stored(triggerResource, key)?.status?.position?.lastScheduleTime, undefined);
    server.refuse = () => undefined;
    await look();
    assert.equal(server.all(triggerEventResource).length, 1);
  });
  it('continue from their position when the account changes, which only sources of objects use', async () => {
    const { server, put, look } = world();
    await put(trigger(cron));
    await server.clock.advance(60_000);
    await look();
    server.sync(triggerResource);
    const before = server.stored(triggerResource, key) ?? assert.fail();
    assert.equal(before.status?.position?.lastScheduleTime, at(60));
    server.put(triggerResource, {
      ...before,
      spec: { ...before.spec, serviceAccountName: 'other' },
    });
    await server.clock.advance(2000);
    await look();
    const { position } = server.stored(triggerResource, key)?.status ?? {};
    assert.deepEqual(position, before.status.position);
  });
  it('count as recorded if their event is stored already', async () => {
    const { server, put, look } = world();
    await put(trigger(cron));
    await server.clock.advance(60_000);
    server.refuse = (verb) =>
      verb === 'create' ? newAlreadyExists(triggerEventResource, 'made before a restart') : undefined;
    await look();
    assert.equal(server.stored(triggerResource, key)?.status?.position?.lastScheduleTime, at(60));
  });
  it('are treated as past if the namespace accepts no more events', async () => {
    for (const error of [
      newNotFound(triggerEventResource, 'x'),
      newForbidden(triggerEventResource, 'x', 'it is being terminated', [
        { reason: 'NamespaceTerminating', message: '', field: '' } as never,
      ]),
    ]) {
      const { server, put, look } = world();
      await put(trigger(cron));
      await server.clock.advance(60_000);
      server.refuse = (verb) => (verb === 'create' ? error : undefined);
      await look();
      assert.equal(server.stored(triggerResource, key)?.status?.position?.lastScheduleTime, at(60));
    }
  });
});

describe('results', () => {
  it('are reported only of a function that exists', async () => {
    const { server, put, look } = world();
    const ready = () =>
      server.stored(triggerResource, key)?.status?.conditions?.find(({ type }) => type === 'Ready');
    await put(trigger({ result: { function: 'f', outcomes: ['Failure'] } }));
    assert.equal(ready()?.status, 'True');
    server.put(triggerResource, trigger({ result: { function: 'g', outcomes: ['Failure'] } }));
    await server.clock.advance(2000);
    await look();
    assert.deepEqual(
      [ready()?.reason, ready()?.message],
      ['FunctionMissing', 'spec.result.function: there is no function "g" in the namespace'],
    );
  });
});

describe('watches', () => {
  const object = { object: { apiVersion: 'v1', kind: 'ConfigMap', types: ['Created'] } };
  it('of objects end with the trigger, its suspension, and its account', async () => {
    for (const [end, left] of [
      [(one: ScriptedWorld) => one.seen.remove(triggerResource, key), []],
      [
        (one: ScriptedWorld) =>
          one.put(triggerResource, trigger(object, { deletionTimestamp: at(0), finalizers: ['x'] })),
        [],
      ],
      [(one: ScriptedWorld) => one.put(triggerResource, trigger({ ...object, suspend: true })), []],
      [(one: ScriptedWorld) => one.seen.remove(serviceAccountResource, 'default/default'), []],
      [(one: ScriptedWorld) => one.put(triggerResource, trigger({ http: { path: '/x' } })), []],
    ] as const) {
      const { server, watches, put, look } = world();
      await put(trigger(object));
      assert.deepEqual([...watches], ['default from 1']);
      await look();
      assert.equal(watches.size, 1, 'it goes on');
      end(server);
      await look();
      assert.deepEqual([...watches], left);
    }
  });
  for (const [apiVersion, kind] of [
    ['v1', 'Nothing'],
    ['apps/v1', 'Pod'],
    ['v1', 'ComponentStatus'],
    ['authorization.k8s.io/v1', 'SubjectAccessReview'],
  ] as const)
    it(`of objects do not exist if ${apiVersion} ${kind} cannot be watched, which the status reports`, async () => {
      const { put, watches } = world();
      const { status } = await put(trigger({ object: { apiVersion, kind, changes: ['Created'] } }));
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      assert.deepEqual([ready?.status, ready?.reason], ['False', 'KindNotServed']);
      assert.equal(ready?.message, `spec.object: ${apiVersion} ${kind} is not served, or cannot be watched`);
      assert.deepEqual([...watches], []);
    });
  it('of objects are restarted for another account, other objects, and another trigger of the name', async () => {
    for (const [next, wanted] of [
      [trigger({ ...object, serviceAccountName: 'other' }, { resourceVersion: '7' }), 'other from 7'],
      [
        trigger({ object: { ...object.object, labelSelector: 'a=b' } }, { resourceVersion: '7' }),
        'default from 7',
      ],
      [trigger(object, { resourceVersion: '7', uid: 'another' }), 'default from 7'],
    ] as const) {
      const { server, watches, put, look } = world();
      const { status } = await put(trigger(object));
      const hasStatus = next.metadata.uid === 'uid-t';
      server.put(triggerResource, { ...next, ...(hasStatus && { status }) } as Trigger);
      await look();
      assert.deepEqual([...watches], [wanted]);
    }
  });
  it('of files are removed before others are created', async () => {
    const { server, put, look } = world();
    const file = { folder: '/srv', types: ['Created'], recursive: false, includeContent: false };
    const reference = [{ uid: 'uid-t', controller: true } as never];
    const watch = (name: string, over: object = {}) =>
      server.put(folderWatchResource, {
        ...{ kind: 'FolderWatch', metadata: meta(name, { ownerReferences: reference, ...over }) },
        spec: { trigger: 't', nodeName: 'gone' },
      } as unknown as FolderWatch);
    watch('old');
    await put(trigger({ file }));
    assert.deepEqual(server.names(folderWatchResource), []);
    watch('other');
    server.put(triggerResource, trigger({ file, suspend: true }));
    await look();
    assert.deepEqual(server.names(folderWatchResource), []);
    // The watch that the cache still shows is not the one that has its name by now.
    watch('same');
    server.store(folderWatchResource, {
      ...(server.stored(folderWatchResource, 'default/same') as FolderWatch),
      metadata: meta('same', { uid: 'another' }),
    });
    await look();
    assert.deepEqual(server.names(folderWatchResource), ['same']);
  });
});
