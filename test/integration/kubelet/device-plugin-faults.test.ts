/**
 * Faulty device plugins: answers that are errors, lost, late or missing, and two plugins at once; allocations
 * stay correct.
 */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { framed } from '../../../src/grpc/frames.ts';
import { DevicePlugins } from '../../../src/kubelet/devices/device-plugins.ts';
import { NodeDevices } from '../../../src/kubelet/devices/node-devices.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import {
  deviceList,
  FakeDevicePlugin,
  pluginOptions,
  preferring,
} from '../../fixtures/fake-device-plugin.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { makePod } from '../../unit/kubelet/builders.ts';

const resource = 'example.com/gpu';
const podWith = (uid: string, count: number) =>
  makePod(
    { containers: [{ name: 'main', image: 'app:1', resources: { limits: { [resource]: String(count) } } }] },
    { uid },
  );

/** Starts a node; a test starts plugins in the node's directory. */
async function start(context: TestContext) {
  const base = mkdtempSync(join(tmpdir(), 'minik8s-plugin-faults-'));
  const [clock, log, active] = [new FakeClock(), new RecordingLogger(), new Set<string>()];
  const pluginDirectory = join(base, 'plugins');
  const devices = new NodeDevices({
    ...{ settings: { rules: [], pluginDirectory }, dataDir: join(base, 'data'), clock, log },
    containers: () => [],
    isActive: (uid) => active.has(uid),
    hasRuntime: () => false,
  });
  await devices.load();
  const stop = new AbortController();
  const running = devices.run(stop.signal);
  const plugins: FakeDevicePlugin[] = [];
  context.after(async () => {
    stop.abort();
    await running;
    await Promise.all(plugins.map((plugin) => plugin.end()));
    rmSync(base, { recursive: true, force: true });
  });
  const sees = (what: string, probe: () => boolean) => eventually(systemClock, what, probe);
  await sees('the socket of the agent', () => existsSync(join(pluginDirectory, 'kubelet.sock')));
  return {
    ...{ clock, log, active, sees, base },
    async plugin(endpoint: string, ...ids: readonly string[]) {
      const plugin = await FakeDevicePlugin.start(pluginDirectory, endpoint, ...ids);
      plugins.push(plugin);
      return plugin;
    },
    counted: (capacity: number, allocatable: number) =>
      sees(`${allocatable} of ${capacity}`, () => {
        const count = devices.manager.counts.value.get(resource);
        return count?.capacity === capacity && count.allocatable === allocatable;
      }),
    give: async (uid: string, count = 1) => {
      active.add(uid);
      return (await devices.manager.giveTo(podWith(uid, count), 'main')).ids[resource];
    },
  };
}

test('a plugin gets only the calls that its options request, and the call for its preference only if there is a choice', async (context) => {
  const { plugin, counted, give, active, log } = await start(context);
  const plain = await plugin('plain.sock', 'a', 'b');
  await plain.register(resource);
  await counted(2, 2);
  assert.deepEqual(await give('one'), ['a']);
  assert.deepEqual(plain.asked, ['options', 'devices', 'allocate']);
  active.clear();
  const able = await plugin('able.sock', 'x', 'y');
  able.answers.options = () => pluginOptions(true, true);
  able.answers.preferred = () => preferring('y', 'z');
  await able.register(resource);
  await counted(2, 2);
  assert.deepEqual(await give('two'), ['y']);
  assert.deepEqual(able.asked.slice(2), ['preferred', 'allocate', 'beforeStart']);
  assert.deepEqual(await give('two'), ['y'], 'a container that starts again keeps its devices');
  assert.deepEqual(await give('three'), ['x'], 'one is left: there is no choice');
  assert.deepEqual(able.asked.slice(5), ['allocate', 'beforeStart', 'allocate', 'beforeStart']);
  const gone = log.of('info').filter(({ message }) => message === 'a device plugin has gone');
  assert.deepEqual(gone, [], 'a plugin that was replaced is not reported as gone');
  assert.deepEqual([log.of('warn'), log.of('debug')], [[], []]);
});

test('a device whose plugin refuses it, fails or loses its answer is not allocated, and is available afterwards', async (context) => {
  for (const method of ['allocate', 'beforeStart', 'preferred'] as const)
    for (const manner of ['an error', 'a connection that is cut', 'garbage'] as const) {
      const { plugin, counted, give } = await start(context);
      const one = await plugin('one.sock', 'a', 'b');
      one.answers.options = () => pluginOptions(true, true);
      await one.register(resource);
      await counted(2, 2);
      one.answers[method] = () => {
        if (manner === 'an error') throw new Error('the card is hot');
        return manner === 'garbage' && method !== 'beforeStart'
          ? framed(3, (writer) => writer.string(1, 'x'))
          : undefined;
      };
      const why =
        manner === 'an error'
          ? /cannot allocate 1 of example.com\/gpu: .*the card is hot/
          : /cannot allocate 1 of/;
      await assert.rejects(give('first'), why, `${method}, ${manner}`);
      delete one.answers[method];
      if (manner !== 'an error') {
        // The device stream may have ended with its connection.
        await one.register(resource);
        await counted(2, 2);
      }
      assert.deepEqual(await give('second'), ['a'], `${method}, ${manner}`);
      assert.deepEqual(await give('first'), ['b'], `${method}, ${manner}`);
    }
});

test('a plugin that does not answer delays each container for at most half a minute', async (context) => {
  const { plugin, counted, give, clock, sees } = await start(context);
  const one = await plugin('one.sock', 'a');
  await one.register(resource);
  await counted(1, 1);
  one.answers.allocate = () => new Promise(() => undefined);
  let [failed, isOver] = ['', false];
  void give('first')
    .catch((error: Error) => {
      failed = error.message;
    })
    .finally(() => {
      isOver = true;
    });
  await sees('it is asked', () => one.asked.includes('allocate'));
  assert.deepEqual(await give('none', 0), undefined, 'a container without devices does not wait');
  const second = give('second');
  await clock.advance(29_000);
  assert.equal(isOver, false);
  delete one.answers.allocate;
  await clock.advance(1000);
  await sees('it is given up', () => isOver);
  assert.match(failed, /cannot allocate 1 of example.com\/gpu/);
  assert.deepEqual(await second, ['a']);
});

test('the options of a plugin are awaited for ten seconds, and the plugin can register afterwards', async (context) => {
  const { plugin, counted, clock, sees } = await start(context);
  const one = await plugin('one.sock', 'a');
  one.answers.options = () => new Promise(() => undefined);
  let failed = '';
  void one.register(resource).catch((error: Error) => {
    failed = error.message;
  });
  await sees('it is asked', () => one.asked.includes('options'));
  await clock.advance(9999);
  assert.equal(failed, '');
  await clock.advance(1);
  await sees('it is refused', () => failed !== '');
  assert.match(failed, /no answer in 10000 ms/);
  delete one.answers.options;
  await one.register(resource);
  await counted(1, 1);
});

test('a plugin whose options call fails is not registered, and gets the error', async (context) => {
  const { plugin, log, give, sees } = await start(context);
  const one = await plugin('one.sock', 'a');
  one.answers.options = () => {
    throw new Error('no driver');
  };
  await assert.rejects(one.register(resource), /^GrpcError: 2 UNKNOWN: no driver$/);
  one.answers.options = () => undefined;
  await assert.rejects(one.register(resource));
  assert.equal(log.of('warn').length, 2);
  await sees('no connection to it is left', () => one.connections === 0);
  assert.equal(await give('first'), undefined, 'it is no resource of devices');
});

test('a plugin whose list ends or cannot be read is unavailable until it registers again', async (context) => {
  const { plugin, counted, give, sees, log } = await start(context);
  const one = await plugin('one.sock', 'a', 'sick b');
  await one.register(resource);
  await counted(2, 1);
  one.tell('a', 'b', 'c');
  await counted(3, 3);
  one.say(framed(3, (writer) => writer.string(1, '\u0009')));
  await counted(3, 0);
  await sees('the fault is reported', () =>
    log.of('info').some(({ message }) => message === 'a device plugin has gone'),
  );
  await assert.rejects(give('one'), /nothing on this node offers example.com\/gpu now/);
  await sees('no connection to it is left', () => one.connections === 0);
  one.say(deviceList('a'));
  await one.register(resource);
  await counted(1, 1);
  one.cut();
  await counted(1, 0);
  await one.register(resource);
  await counted(1, 1);
  assert.deepEqual(await give('one'), ['a']);
});

test('of several plugins that register at the same time, one is registered in the end and is not removed by the others', async (context) => {
  const { plugin, counted, give } = await start(context);
  const all = await Promise.all(
    ['a', 'b', 'c'].map((name) => plugin(`${name}.sock`, `${name}1`, `${name}2`)),
  );
  await Promise.all(all.map((one) => one.register(resource)));
  await counted(2, 2);
  const [first, second] = [await give('one'), await give('two')];
  const of = first?.[0]?.[0] ?? '';
  assert.deepEqual([first, second], [[`${of}1`], [`${of}2`]]);
  for (const one of all) if (!one.asked.includes('allocate')) await one.end();
  await counted(2, 2);
});

test('the last list of a plugin is on disk, even if it sends lists often', async (context) => {
  const { plugin, counted, sees, base } = await start(context);
  const one = await plugin('one.sock', 'a');
  await one.register(resource);
  for (let count = 1; count <= 200; count++) one.tell(...Array.from({ length: count }, (_, id) => `d${id}`));
  await counted(200, 200);
  const file = join(base, 'data/devices.json');
  // The first write may not have ended yet.
  await sees('it is on disk', () => existsSync(file) && readFileSync(file, 'utf8') === `{"${resource}":200}`);
});

test('no plugin can register in a directory of another user, or one that others may write to', async (context) => {
  for (const [mode, isOwn, isOpen] of [
    [0o750, true, true],
    [0o755, true, true],
    [0o755, false, false],
    [0o770, true, false],
    [0o702, true, false],
  ] as const) {
    const base = mkdtempSync(join(tmpdir(), 'minik8s-plugin-directory-'));
    context.after(() => rmSync(base, { recursive: true, force: true }));
    const directory = join(base, 'plugins');
    mkdirSync(directory);
    chmodSync(directory, mode);
    const user = process.getuid?.() ?? 0;
    // The directory belongs to the user who runs the tests, so the agent is made another user.
    const agent = context.mock.method(process as { getuid: () => number }, 'getuid', () =>
      isOwn ? user : user + 1,
    );
    const log = new RecordingLogger();
    const manager = { set: () => undefined, away: () => undefined };
    const stop = new AbortController();
    const running = new DevicePlugins({ ...{ directory, manager, log }, clock: new FakeClock() }).run(
      stop.signal,
    );
    const socket = join(directory, 'kubelet.sock');
    await eventually(
      systemClock,
      'it is served or refused',
      () => existsSync(socket) || log.of('warn').length > 0,
    );
    const what = `${mode.toString(8)}, ${isOwn ? 'own' : 'of another user'}`;
    assert.equal(existsSync(socket), isOpen, what);
    assert.deepEqual(
      log.of('warn').map(({ fields }) => fields.error),
      isOpen ? [] : [`other users can write to ${directory}: change its owner or its mode`],
      what,
    );
    stop.abort();
    await running;
    agent.mock.restore();
  }
});

test('a registration is refused with the reason: another version, no resource, or no socket beside the agent', async (context) => {
  const { plugin, log, base } = await start(context);
  assert.equal(statSync(join(base, 'plugins')).mode & 0o777, 0o750);
  const one = await plugin('one.sock', 'a');
  writeFileSync(join(base, 'plugins/file'), '');
  const socket = 'is not the name of a socket beside the agent';
  for (const [name, endpoint, version, why] of [
    [
      resource,
      'one.sock',
      'v1alpha',
      'this agent has version v1beta1 of the device plugin API, not "v1alpha"',
    ],
    ['gpu', 'one.sock', 'v1beta1', '"gpu" cannot be the name of a resource of devices'],
    ['kubernetes.io/gpu', 'one.sock', 'v1beta1', 'cannot be the name of a resource'],
    ['example.com/-gpu', 'one.sock', 'v1beta1', 'cannot be the name of a resource'],
    ['example.com/a b', 'one.sock', 'v1beta1', 'cannot be the name of a resource'],
    [`example.com/${'x'.repeat(64)}`, 'one.sock', 'v1beta1', 'cannot be the name of a resource'],
    [resource, '../one.sock', 'v1beta1', socket],
    [resource, '.', 'v1beta1', socket],
    [resource, '..', 'v1beta1', socket],
    [resource, '', 'v1beta1', socket],
    [resource, 'kubelet.sock', 'v1beta1', socket],
    [resource, 'file', 'v1beta1', 'file is no socket'],
    [resource, 'none', 'v1beta1', 'none is no socket'],
  ] as const) {
    await assert.rejects(one.register(name, endpoint, version), (error: Error) => {
      assert.ok(error.message.includes(why), `${error.message} says nothing of ${why}`);
      assert.equal((error as { status?: unknown }).status, 'INVALID_ARGUMENT');
      return true;
    });
  }
  assert.equal(log.of('warn').length, 13);
  assert.deepEqual(one.asked, [], 'it is not connected to');
  await one.register(resource);
});
