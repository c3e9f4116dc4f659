/** Deliveries in progress among those that many triggers request. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { silentLogger } from '../../../../../src/base/log.ts';
import type { Trigger } from '../../../../../src/features/triggers/api/trigger.ts';
import type { TriggerEvent } from '../../../../../src/features/triggers/api/trigger-event.ts';
import {
  Deliveries,
  type DeliveriesOptions,
} from '../../../../../src/features/triggers/controller/deliveries.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

it('slow functions of one namespace do not block the deliveries of other namespaces', async () => {
  const clock = new FakeClock();
  const told: string[][] = [];
  const ends: (() => void)[] = [];
  const deliveries = new Deliveries({
    clock,
    log: silentLogger,
    random: { next: () => 0, uuid: () => '' },
    // This test ignores the outcome of deliveries: all events have been deleted.
    client: { resource: () => ({ delete: async () => undefined }) },
    events: { event: () => undefined },
    deliver: () => new Promise<undefined>((resolve) => ends.push(() => resolve(undefined))),
    onChange: (keys: readonly string[]) => told.push([...keys]),
  } as unknown as DeliveriesOptions);
  const signal = new AbortController().signal;
  const begin = (namespace: string, name: string) => {
    const trigger = { metadata: { namespace, name } } as Trigger;
    for (let i = 0; deliveries.roomFor(`${namespace}/${name}`) > 0 && i < 10; i++) {
      const event = {
        metadata: { namespace, name: `${name}-${i}`, uid: `${name}-${i}` },
        spec: { depth: 0 },
      };
      deliveries.begin(trigger, event as unknown as TriggerEvent, signal);
    }
    return deliveries.underWay(`${namespace}/${name}`);
  };
  const triggers = ['1', '2', '3', '4', '5', '6'];
  assert.deepEqual(
    triggers.map((name) => begin('slow', name)),
    [10, 10, 10, 10, 10, 0],
  );
  assert.equal(begin('other', 'one'), 10);
  deliveries.wait('slow/6');
  deliveries.wait('other/two');
  await clock.settle();
  for (const end of ends.slice(0, 1)) end();
  await clock.settle();
  assert.deepEqual(told, [['slow/1', 'slow/6']]);
  assert.deepEqual([begin('slow', '6'), begin('other', 'two')], [1, 10]);
  assert.equal(deliveries.roomFor('third/one'), 5);
});
