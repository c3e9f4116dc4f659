/** NVIDIA's cards as devices: found in the driver's files, left to NVIDIA's plugin, or given by Docker. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import type { DeviceSource } from '../../../src/kubelet/devices/device-source.ts';
import { NvidiaCards } from '../../../src/kubelet/devices/nvidia-cards.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { nvidiaDriver } from '../../fixtures/nvidia-driver.ts';
import { asking, directoryOf, removeDirectories, start } from './device-sources.ts';

removeDirectories();

const nvidia = 'nvidia.com/gpu';

test("NVIDIA's cards are offered; a card that the driver no longer has stays as unhealthy", async (context) => {
  const { manager, active } = start(context);
  const machine = nvidiaDriver(directoryOf());
  const cards = new NvidiaCards({
    ...machine,
    manager,
    clock: new FakeClock(),
    log: silentLogger,
    hasHook: () => false,
  });
  await cards.look();
  assert.equal(manager.get(nvidia), undefined, 'without a driver nothing is offered');
  const [one, two] = [machine.card(1), machine.card(2)];
  machine.card(3, false);
  machine.node('nvidiactl');
  await cards.look();
  assert.deepEqual(manager.counts.value.get(nvidia), { capacity: 3, allocatable: 2 });
  active.add('pod');
  const given = await manager.giveTo(asking('pod', 2, nvidia), 'main');
  assert.deepEqual(given.ids, { [nvidia]: [one, two] });
  assert.deepEqual(
    given.nodes.map(({ source, permissions }) => [source.slice(machine.dev.length), permissions]),
    ['/nvidia1', '/nvidia2', '/nvidiactl'].map((path) => [path, 'rwm']),
  );
  assert.deepEqual(given.env, { NVIDIA_VISIBLE_DEVICES: `${one},${two}` });
  machine.lose(1);
  await cards.look();
  assert.deepEqual(manager.counts.value.get(nvidia), { capacity: 3, allocatable: 1 });
  let changes = 0;
  manager.counts.onChange(() => void changes++);
  await cards.look();
  assert.equal(changes, 0, 'a look that finds the same cards changes nothing');
  machine.card(4);
  await cards.look();
  assert.deepEqual(manager.counts.value.get(nvidia), { capacity: 4, allocatable: 2 });
  assert.equal(changes, 1);
});

test("NVIDIA's cards have their files in /dev", async (context) => {
  const { manager } = start(context);
  const { directory, card } = nvidiaDriver(directoryOf());
  const options = { directory, manager, clock: new FakeClock(), log: silentLogger };
  const cards = new NvidiaCards({ ...options, hasHook: () => false });
  const one = card(7, false);
  await cards.look();
  assert.equal((await cards.give([one])).nodes?.[0]?.source, '/dev/nvidia7');
});

test("NVIDIA's cards are provided by the engine itself if it can", async (context) => {
  const { manager, active } = start(context);
  const machine = nvidiaDriver(directoryOf());
  const one = machine.card(1);
  const cards = new NvidiaCards({
    ...machine,
    manager,
    clock: new FakeClock(),
    log: silentLogger,
    hasHook: () => true,
  });
  await cards.look();
  active.add('pod');
  const given = await manager.giveTo(asking('pod', 1, nvidia), 'main');
  assert.deepEqual([given.nvidia, given.nodes, given.env], [[one], [], {}]);
});

test('an NVIDIA driver folder that describes no card is ignored, and other cards are still found', async (context) => {
  const { manager } = start(context);
  const machine = nvidiaDriver(directoryOf());
  mkdirSync(join(machine.directory, '0000:09:00.0'), { recursive: true });
  const one = machine.card(1);
  const options = { ...machine, manager, clock: new FakeClock(), log: silentLogger };
  const cards = new NvidiaCards({ ...options, hasHook: () => false });
  await cards.look();
  assert.deepEqual(cards.devices, [{ id: one, healthy: true }]);
});

test("a card of NVIDIA's that the driver no longer has is not allocated", async (context) => {
  const { manager } = start(context);
  const machine = nvidiaDriver(directoryOf());
  const one = machine.card(1);
  const options = { ...machine, manager, clock: new FakeClock(), log: silentLogger };
  const cards = new NvidiaCards({ ...options, hasHook: () => false });
  await cards.look();
  assert.equal((await cards.give([one])).nodes?.length, 1);
  await assert.rejects(cards.give([one, 'GPU-none']), /the driver has no card GPU-none any more/);
});

test("cards that NVIDIA's own plugin offers are left to the plugin until it disconnects", async (context) => {
  const { manager } = start(context);
  const machine = nvidiaDriver(directoryOf());
  const clock = new FakeClock();
  const cards = new NvidiaCards({ ...machine, manager, clock, log: silentLogger, hasHook: () => false });
  machine.card(1);
  await cards.look();
  const plugin: DeviceSource = { resource: nvidia, devices: [], give: async () => ({}) };
  manager.set(plugin);
  machine.card(2);
  await cards.look();
  assert.equal(manager.get(nvidia), plugin);
  manager.away(plugin);
  const stop = new AbortController();
  const running = cards.run(stop.signal);
  await clock.advance(30_000);
  while (manager.get(nvidia) === undefined) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(manager.get(nvidia), cards, 'once the plugin has disconnected, the driver offers its cards');
  stop.abort();
  await running;
});

test('cards are checked every half minute and not more often, and are listed in the order of their names', async (context) => {
  const machine = nvidiaDriver(directoryOf());
  const clock = new FakeClock();
  let looks = 0;
  const manager = {
    set: () => undefined,
    get: () => {
      looks++;
      return undefined;
    },
  };
  const cards = new NvidiaCards({ ...machine, manager, clock, log: silentLogger, hasHook: () => false });
  const [two, one] = [machine.card(2), machine.card(1)];
  const stop = new AbortController();
  const running = cards.run(stop.signal);
  context.after(async () => {
    stop.abort();
    await running;
  });
  for (const wanted of [1, 2]) {
    await clock.advance(29_999);
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(looks, wanted - 1);
    await clock.advance(1);
    await eventually(systemClock, 'it has looked', () => looks === wanted);
  }
  assert.deepEqual(
    cards.devices.map(({ id }) => id),
    [one, two],
  );
  machine.lose(1);
  await cards.look();
  assert.deepEqual(
    cards.devices.map(({ id, healthy }) => [id, healthy]),
    [
      [one, false],
      [two, true],
    ],
  );
});
