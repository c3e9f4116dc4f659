/**
 * Allocation of devices over restarts of containers, of sources and of the agent; and NVIDIA cards by the
 * files of their driver.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { DeviceManager } from '../../../src/kubelet/devices/device-manager.ts';
import type { DeviceSource } from '../../../src/kubelet/devices/device-source.ts';
import { NvidiaCards } from '../../../src/kubelet/devices/nvidia-cards.ts';
import type { ContainerState } from '../../../src/kubelet/runtime/runtime.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { nvidiaDriver } from '../../fixtures/nvidia-driver.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { makePod } from '../../unit/kubelet/builders.ts';

const resource = 'example.com/gpu';
const asking = (uid: string, count = 1, of = resource) =>
  makePod(
    { containers: [{ name: 'main', image: 'app:1', resources: { limits: { [of]: String(count) } } }] },
    { uid },
  );

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

const directories: string[] = [];
// The hooks of a test run in the order in which they were set: what the test started may write to the
// directory until the last hook.
after(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

function directoryOf(): string {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-device-manager-'));
  directories.push(directory);
  return directory;
}

function start(context: TestContext, dataDir = directoryOf()) {
  const clock = new FakeClock();
  const active = new Set<string>();
  const containers: ContainerState[] = [];
  const log = new RecordingLogger();
  const manager = new DeviceManager({
    ...{ dataDir, clock, log },
    containers: () => containers,
    isActive: (uid) => active.has(uid),
  });
  context.after(() => manager.close());
  return {
    ...{ manager, clock, active, log, dataDir },
    count: () => manager.counts.value.get(resource),
    async give(uid: string, count = 1): Promise<readonly string[] | undefined> {
      active.add(uid);
      return (await manager.giveTo(asking(uid, count), 'main')).ids[resource];
    },
    /** Adds a container to the engine. */
    has(uid: string, createdAt: number, ...ids: string[]): void {
      const pod = { uid, name: uid, namespace: 'default' };
      containers.push({
        pod,
        name: 'main',
        createdAt,
        devices: { [resource]: ids },
      } as unknown as ContainerState);
    },
  };
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
  assert.ok(manager.counts.value.has(resource), 'the Node is told that it has none');
  await assert.rejects(give('one'), /its device plugin is not registered/);
  manager.set(source);
  assert.deepEqual(await give('one'), ['a']);
});

test('a device that returns in time stays', async (context) => {
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

test('a device that returned and disappears again has five minutes from then', async (context) => {
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

test('the later of two sources counts, however the other changes', async (context) => {
  const { manager, give, count } = start(context);
  const [first, second] = [new Source('a'), new Source('x', 'y')];
  manager.set(first);
  manager.set(second);
  manager.away(first);
  assert.deepEqual(count(), { capacity: 2, allocatable: 2 });
  assert.deepEqual(await give('one'), ['x']);
});

test('concurrent requests get different devices, and a failing one delays no other', async (context) => {
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

test('the latest devices are on disk, and are missing after a restart without the file', async (context) => {
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

test('a source whose devices change all the time has the newest written, and not each of them', async (context) => {
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

test("the manager determines whether the engine itself can provide NVIDIA's cards", async (context) => {
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

test('an NVIDIA driver folder that describes no card is ignored, and hides no other', async (context) => {
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

test("cards that NVIDIA's own plugin offers are left to it, and not taken back", async (context) => {
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
  assert.equal(manager.get(nvidia), cards, 'when it is away the driver says what there is');
  stop.abort();
  await running;
});

test('cards are checked every half minute, in the order of their names, and not more often', async (context) => {
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
