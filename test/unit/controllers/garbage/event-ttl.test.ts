import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Event, eventResource } from '../../../../src/api/core/v1/event/event.ts';
import { eventTtl } from '../../../../src/controllers/garbage/event-ttl.ts';
import { leftOf } from '../../../../src/controllers/garbage/event-ttl-plan.ts';
import { at, meta, start } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const key = 'default/e';
const event = (more: object = {}, fields: object = {}) =>
  ({ metadata: meta('e', more), involvedObject: {}, source: {}, ...fields }) as unknown as Event;

describe('an Event', () => {
  for (const [title, one, seconds] of [
    ['is kept for an hour after its creation', event(), 60],
    [
      'is kept for an hour after its last occurrence',
      event({}, { firstTimestamp: at(10), lastTimestamp: at(30) }),
      90,
    ],
    [
      'is kept for an hour after the last observation of its series',
      event({}, { series: { lastObservedTime: at(20) } }),
      80,
    ],
    [
      'is kept for an hour after its creation, if it occurred before',
      event({}, { eventTime: at(-9999) }),
      60,
    ],
    ['is not kept longer by times in the future', event({}, { eventTime: at(9999) }), 60],
    ['may have invalid times', event({}, { lastTimestamp: 'x', firstTimestamp: null }), 60],
  ] as const)
    it(title, () => assert.equal(leftOf(one, 60_000, start), seconds * 1000));

  it('is deleted when it expires, and not before', async () => {
    const world = new ScriptedWorld(eventTtl(60_000));
    world.put(eventResource, event());
    assert.deepEqual(await world.reconcile(key), { requeueAfter: 60_000 });
    await world.clock.advance(60_000);
    assert.equal(await world.reconcile(key), undefined);
    assert.equal(world.stored(eventResource, key), undefined);
    assert.equal(await world.reconcile(key), undefined);
  });

  it('is kept if it occurred again and the cache does not show that yet', async () => {
    const world = new ScriptedWorld(eventTtl(60_000));
    world.seen.put(eventResource, event());
    world.store(eventResource, event({ resourceVersion: '2' }, { lastTimestamp: at(60) }));
    await world.clock.advance(60_000);
    await assert.rejects(world.reconcile(key), /it is another by now/);
    assert.ok(world.stored(eventResource, key));
  });
});
