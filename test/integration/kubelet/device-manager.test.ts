/** The device manager: what is allocated, remembered and reported. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DeviceSource } from '../../../src/kubelet/devices/device-source.ts';
import { asking, directoryOf, removeDirectories, resource, start } from './device-sources.ts';

removeDirectories();

/** Source of devices; devices whose names begin with `sick` are unhealthy. */
class Source implements DeviceSource {
  readonly resource = resource;
  ids: readonly string[];
  fault: string | undefined;
  constructor(...ids: string[]) {
    this.ids = ids;
  }
  get devices() {
    return this.ids.map((id) => ({ id: id.replace('sick ', ''), healthy: !id.startsWith('sick ') }));
  }
  async give() {
    // A second request arrives during these turns.
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
    if (this.fault) throw new Error(this.fault);
    return {};
  }
}

const minute = 60_000;

test('an absent device is not allocated, stays in the capacity for five minutes, and no container starts with it', async (context) => {
  const { manager, clock, give, count } = start(context);
  const source = new Source('a', 'b');
  manager.set(source);
  assert.deepEqual(count(), { capacity: 2, allocatable: 2 });
  manager.away(source);
  assert.deepEqual(count(), { capacity: 2, allocatable: 0 });
  await assert.rejects(give('one'), /its device plugin is not registered/);
  await clock.advance(5 * minute - 1);
  assert.deepEqual(count(), { capacity: 2, allocatable: 0 });
  await clock.advance(1);
  assert.equal(count(), undefined);
  assert.ok(manager.counts.value.has(resource), 'the Node reports that it has none');
  await assert.rejects(give('one'), /its device plugin is not registered/);
  manager.set(source);
  assert.deepEqual(await give('one'), ['a']);
});

test('a device that returns within five minutes stays', async (context) => {
  const { manager, clock, count } = start(context);
  const source = new Source('a');
  manager.set(source);
  manager.away(source);
  await clock.advance(4 * minute);
  manager.set(source);
  await clock.advance(60 * minute);
  assert.deepEqual(count(), { capacity: 1, allocatable: 1 });
  manager.away(source);
  await clock.advance(4 * minute);
  assert.deepEqual(count(), { capacity: 1, allocatable: 0 });
});

test('a device that returns and disappears again stays in the capacity for another five minutes', async (context) => {
  const { manager, clock, count, log } = start(context);
  const source = new Source('a');
  manager.set(source);
  manager.away(source);
  await clock.advance(4 * minute);
  manager.set(source);
  manager.away(source);
  await clock.advance(5 * minute - 1);
  assert.deepEqual([count(), log.of('info')], [{ capacity: 1, allocatable: 0 }, []]);
  await clock.advance(1);
  assert.equal(count(), undefined);
  assert.equal(log.of('info').length, 1);
  assert.deepEqual(manager.allocatable(), {});
});

test('the later of two sources is used, even if the other one changes', async (context) => {
  const { manager, give, count } = start(context);
  const [first, second] = [new Source('a'), new Source('x', 'y')];
  manager.set(first);
  manager.set(second);
  manager.away(first);
  assert.deepEqual(count(), { capacity: 2, allocatable: 2 });
  assert.deepEqual(await give('one'), ['x']);
});

test('concurrent requests get different devices, and a failing request delays no other', async (context) => {
  const { manager, give } = start(context);
  const source = new Source('a', 'b', 'c');
  manager.set(source);
  assert.deepEqual(await Promise.all([give('one'), give('two'), give('three')]), [['a'], ['b'], ['c']]);
  await assert.rejects(give('four'), /Requested: 1, Available: 0/);
  source.fault = 'broken';
  await assert.rejects(give('one'), /cannot allocate 1 of example.com\/gpu: broken/);
  source.fault = undefined;
  assert.deepEqual(await give('one'), ['a']);
});

test('a container keeps its devices after a restart and after a device was unhealthy', async (context) => {
  const { manager, give } = start(context);
  const source = new Source('a', 'b', 'c');
  manager.set(source);
  assert.deepEqual(await give('one'), ['a']);
  source.ids = ['sick a', 'b', 'c'];
  assert.deepEqual(await give('one'), ['b']);
  source.ids = ['a', 'b', 'c'];
  assert.deepEqual(await give('two'), ['a']);
  assert.deepEqual(await give('one'), ['b']);
});

test("the preference of a source is requested if there is a choice beyond the container's earlier devices", async (context) => {
  const { manager, give } = start(context);
  const source = new Source('a', 'b', 'c');
  const asked: unknown[] = [];
  const preferring = Object.assign(source, {
    preferred: async (...question: unknown[]) => {
      asked.push(question);
      return ['c', 'a'];
    },
  });
  manager.set(preferring);
  assert.deepEqual(await give('one', 1), ['c']);
  assert.deepEqual(await give('one', 2), ['c', 'a']);
  assert.deepEqual(await give('one', 3), ['c', 'a', 'b'], 'there is no choice');
  assert.deepEqual(asked, [
    [['a', 'b', 'c'], [], 1],
    [['c', 'a', 'b'], ['c'], 2],
  ]);
});

test('the containers of the engine determine the allocations after a restart of the agent', async (context) => {
  const { manager, give, active, has } = start(context);
  manager.set(new Source('a', 'b', 'c', 'd'));
  has('one', 2, 'b');
  has('one', 1, 'a');
  has('one', 3, 'c');
  has('ended', 1, 'a');
  active.add('two');
  has('two', 1, 'b');
  // The newest of the pod's own containers counts, and the active ones of other pods.
  assert.deepEqual(await give('one'), ['c']);
  assert.deepEqual(await give('three'), ['a']);
  assert.deepEqual(await give('four'), ['d']);
  // A newer allocation takes precedence over the devices of an older container.
  active.delete('three');
  has('four', 9, 'a');
  assert.deepEqual(await give('four'), ['d']);
});

test('a pod that is not yet active keeps the devices of its containers', async (context) => {
  const { manager, has } = start(context);
  manager.set(new Source('a', 'b'));
  has('one', 1, 'b');
  const { ids } = await manager.giveTo(asking('one'), 'main');
  assert.deepEqual(ids, { [resource]: ['b'] });
});

test('the number of devices is kept in a file, and is unknown if the file is damaged', async (context) => {
  const first = start(context);
  const source = new Source('a');
  for (let i = 0; i < 20; i++) {
    source.ids = Array.from({ length: i }, (_, index) => String(index));
    first.manager.set(source);
  }
  await first.manager.close();
  const file = join(first.dataDir, 'devices.json');
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { [resource]: 19 });
  assert.deepEqual(first.log.of('warn'), []);
  const second = start(context, first.dataDir);
  await second.manager.load();
  assert.deepEqual(second.count(), { capacity: 19, allocatable: 0 });
  await second.clock.advance(5 * minute);
  await second.manager.close();
  assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), {});
  for (const text of ['not JSON', '[]', `{"${resource}":"x"}`]) {
    writeFileSync(file, text);
    const third = start(context, first.dataDir);
    await third.manager.load();
    assert.equal(third.count(), undefined, text);
    const why = text === 'not JSON' ? ['cannot read the stored devices'] : [];
    assert.deepEqual(
      third.log.of('warn').map(({ message }) => message),
      why,
    );
    await third.manager.close();
  }
});

test('for a source whose devices change all the time only the newest state is stored', async (context) => {
  const file = join(directoryOf(), 'file');
  writeFileSync(file, '');
  // Each write fails and logs that.
  const { manager, log } = start(context, join(file, 'data'));
  const source = new Source('a');
  for (let i = 0; i < 500; i++) manager.set(source);
  await manager.close();
  const { length } = log.of('warn');
  assert.ok(length >= 1 && length <= 2, `${length} writes`);
});
