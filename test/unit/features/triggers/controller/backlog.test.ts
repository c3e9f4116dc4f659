/**
 * Number of waiting events of a trigger, and the time at which a source that has filled the limit continues.
 */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import {
  type TriggerEvent,
  triggerEventResource,
} from '../../../../../src/features/triggers/api/trigger-event.ts';
import { Backlog } from '../../../../../src/features/triggers/controller/backlog.ts';
import { ScriptedInformers } from '../../../../fixtures/scripted-informers.ts';
import { meta } from '../../../controllers/objects.ts';

const key = 'default/t';
const event = (name: string) =>
  ({ metadata: meta(name), spec: { trigger: 't', replays: 0 } }) as unknown as TriggerEvent;

function world(count: number) {
  const seen = new ScriptedInformers();
  const backlog = new Backlog(seen.informerFor(triggerEventResource));
  for (let i = 0; i < count; i++) seen.put(triggerEventResource, event(`e${i}`));
  return { seen, backlog };
}

describe('a source that has reached the limit', () => {
  it('continues when half of it is free, not after each deleted event', async () => {
    const { seen, backlog } = world(1000);
    let isOn = false;
    const { signal } = new AbortController();
    const waiting = backlog.room(key, signal).then(() => {
      isOn = true;
    });
    for (let i = 0; i < 499; i++) seen.remove(triggerEventResource, `default/e${i}`);
    await Promise.resolve();
    assert.ok(!isOn && backlog.waits(key));
    seen.remove(triggerEventResource, 'default/e499');
    await waiting;
    assert.ok(isOn && !backlog.waits(key));
    assert.equal(getEventListeners(signal, 'abort').length, 0);
  });
  it('is full with the thousandth event; stored events that the cache does not show are counted once', () => {
    const { seen, backlog } = world(999);
    assert.ok(!backlog.isFull(key));
    backlog.stored(event('own'));
    backlog.stored(event('own'));
    assert.ok(backlog.isFull(key));
    seen.put(triggerEventResource, event('own'));
    assert.equal(backlog.pending(key), 1000);
  });
  it('stops waiting when it ends', async () => {
    const { backlog } = world(1000);
    const end = new AbortController();
    const waiting = backlog.room(key, end.signal);
    end.abort(new Error('over'));
    await assert.rejects(waiting, /over/);
    assert.ok(!backlog.waits(key));
  });
  it('continues at once if there is room; other sources keep waiting when one ends', async () => {
    const { backlog } = world(500);
    await backlog.room(key, new AbortController().signal);
    const full = world(1000).backlog;
    const [first, second] = [new AbortController(), new AbortController()];
    const left = full.room(key, first.signal);
    void full.room(key, second.signal).catch(() => undefined);
    first.abort(new Error('over'));
    await assert.rejects(left, /over/);
    assert.ok(full.waits(key));
    second.abort();
    assert.ok(!full.waits(key));
  });
});

describe('events that were stored', () => {
  it('are counted separately until the cache shows them', () => {
    const { seen, backlog } = world(1);
    backlog.stored(event('e0'));
    assert.equal(backlog.pending(key), 1);
    for (const name of ['a', 'b', 'c']) backlog.stored(event(name));
    assert.equal(backlog.pending(key), 4);
    seen.put(triggerEventResource, event('a'));
    seen.put(triggerEventResource, event('b'));
    assert.equal(backlog.pending(key), 4);
    seen.remove(triggerEventResource, 'default/a');
    assert.equal(backlog.pending(key), 3);
  });
  it('are not counted for a deleted trigger', () => {
    const { backlog } = world(0);
    backlog.stored(event('a'));
    backlog.forget(key);
    assert.equal(backlog.pending(key), 0);
  });
});
