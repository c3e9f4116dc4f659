/** Device sources that a node's settings configure, and the files that the node leaves behind. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { serveUnary } from '../../../src/grpc/server.ts';
import { removePluginSocket } from '../../../src/kubelet/devices/device-plugins.ts';
import { FileDevices, numberOf } from '../../../src/kubelet/devices/file-devices.ts';
import { type DeviceSettings, NodeDevices } from '../../../src/kubelet/devices/node-devices.ts';
import { parseDeviceRules } from '../../../src/kubelet/devices/plan/device-rules.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { nvidiaDriver } from '../../fixtures/nvidia-driver.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { makePod } from '../../unit/kubelet/builders.ts';

const directories: string[] = [];
// The hooks of a test run in the order in which they were set: what the test started may write to the
// directory until the last hook.
after(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

function directoryOf(): string {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-node-devices-'));
  directories.push(directory);
  return directory;
}

function node(base: string, settings: DeviceSettings | undefined) {
  const [clock, log] = [new FakeClock(), new RecordingLogger()];
  const devices = new NodeDevices({
    ...{ settings, dataDir: join(base, 'data'), clock, log },
    ...{ containers: () => [], isActive: () => true, hasRuntime: () => false },
  });
  const stop = new AbortController();
  let running = Promise.resolve();
  return {
    ...{ devices, clock, log },
    run: () => {
      running = devices.run(stop.signal);
    },
    end: async () => {
      stop.abort();
      await running;
    },
  };
}

const mknod = (path: string, type: 'b' | 'c', major: number, minor: number) =>
  execFileSync('mknod', [path, type, String(major), String(minor)]);

test('a node without settings of devices forgets the devices of an earlier agent after five minutes', async () => {
  const base = directoryOf();
  mkdirSync(join(base, 'data'));
  writeFileSync(join(base, 'data/devices.json'), '{"example.com/gpu":2}');
  const { devices, run, end, clock } = node(base, undefined);
  await devices.load();
  run();
  await clock.advance(299_999);
  assert.deepEqual(devices.manager.counts.value.get('example.com/gpu'), { capacity: 2, allocatable: 0 });
  await clock.advance(1);
  assert.equal(devices.manager.counts.value.get('example.com/gpu'), undefined);
  await end();
});

test('present devices are found before the first status of the Node, and are recorded in a file that only root can read', async () => {
  const base = directoryOf();
  mkdirSync(join(base, 'dev'));
  mknod(join(base, 'dev/gpu0'), 'c', 1, 3);
  const { devices, run, end, log } = node(base, {
    rules: parseDeviceRules(`example.com/gpu=${base}/dev/gpu*`),
  });
  await devices.load();
  assert.deepEqual(Object.fromEntries(devices.manager.counts.value), {
    'example.com/gpu': { capacity: 1, allocatable: 1 },
  });
  assert.deepEqual(devices.manager.allocatable(), { 'example.com/gpu': '1' });
  run();
  await end();
  assert.deepEqual(
    readdirSync(base).toSorted(),
    ['data', 'dev'],
    'no plugin can register without a directory in the settings',
  );
  assert.deepEqual(log.of('warn'), []);
  assert.equal(statSync(join(base, 'data/devices.json')).mode & 0o777, 0o600);
});

test('a node without device settings has no devices, and its agent stops on request', async () => {
  const base = directoryOf();
  const { devices, run, end } = node(base, undefined);
  await devices.load();
  assert.deepEqual([...devices.manager.counts.value], []);
  run();
  await end();
});

test('a container gets the devices of all its resources, including block devices, or none of them', async () => {
  const base = directoryOf();
  for (const [name, type] of [
    ['gpu0', 'c'],
    ['disk0', 'b'],
  ] as const)
    mknod(join(base, name), type, 7, 99);
  assert.deepEqual(
    [await numberOf(join(base, 'gpu0')), await numberOf(join(base, 'disk0')), await numberOf(base)].map(
      (number) => number?.replace(/\d+/, 'N'),
    ),
    ['character N', 'block N', undefined],
  );
  const rules = `example.com/gpu=${base}/gpu*,example.com/disk=${base}/disk*`;
  const { devices, end } = node(base, { rules: parseDeviceRules(rules) });
  await devices.load();
  const limits = { 'example.com/gpu': '1', 'example.com/disk': '1' };
  const pod = (uid: string) =>
    makePod({ containers: [{ name: 'main', image: 'app:1', resources: { limits } }] }, { uid });
  const { ids } = await devices.manager.giveTo(pod('one'), 'main');
  assert.deepEqual(ids, {
    'example.com/gpu': [join(base, 'gpu0')],
    'example.com/disk': [join(base, 'disk0')],
  });
  await assert.rejects(devices.manager.giveTo(pod('two'), 'main'), /Requested: 1, Available: 0/);
  await end();
});

test('a directory of devices that is created later is found', async (context) => {
  const base = directoryOf();
  const { devices, clock, run, end } = node(base, {
    rules: parseDeviceRules(`example.com/x=${base}/dev/x*`),
  });
  context.after(end);
  await devices.load();
  run();
  await clock.advance(1000);
  mkdirSync(join(base, 'dev'));
  mknod(join(base, 'dev/x1'), 'c', 1, 3);
  await eventually(systemClock, 'it is found', async () => {
    await clock.advance(30_000);
    return devices.manager.counts.value.get('example.com/x')?.capacity === 1;
  });
});

test('reset removes the plugin socket that a killed agent left, and its directory if that is empty', async () => {
  const base = directoryOf();
  const plugins = join(base, 'plugins');
  await removePluginSocket(plugins);
  mkdirSync(plugins);
  await removePluginSocket(plugins);
  assert.ok(!existsSync(plugins));
  mkdirSync(plugins);
  writeFileSync(join(plugins, 'other.sock'), '');
  await removePluginSocket(plugins);
  assert.deepEqual(readdirSync(plugins), ['other.sock']);
  const server = await serveUnary({ path: join(plugins, 'kubelet.sock'), methods: {}, maxMessageBytes: 10 });
  await removePluginSocket(plugins);
  assert.deepEqual(readdirSync(plugins), ['kubelet.sock', 'other.sock'], 'a socket that is served stays');
  await server.close();
  symlinkSync(plugins, join(base, 'link'));
  await removePluginSocket(join(base, 'link'));
  assert.deepEqual(readdirSync(join(base, 'link')), ['other.sock'], 'a symbolic link stays');
  writeFileSync(join(base, 'file'), '');
  await assert.rejects(removePluginSocket(join(base, 'file')), { code: 'ENOTDIR' });
});

test('devices are reported at first and on each change; an unreadable directory leaves them unchanged', async () => {
  const base = directoryOf();
  const dev = join(base, 'dev');
  mkdirSync(dev);
  mknod(join(dev, 'x1'), 'c', 1, 3);
  mknod(join(dev, 'x2'), 'c', 1, 3);
  mknod(join(dev, 'y1'), 'c', 1, 5);
  writeFileSync(join(dev, 'x3'), 'no device');
  const [rule] = parseDeviceRules(`example.com/x=${dev}/x*`);
  const [log, told] = [new RecordingLogger(), [] as string[][]];
  const manager = { set: (source: FileDevices) => void told.push(source.devices.map(({ id }) => id)) };
  const devices = new FileDevices({
    ...{ rule: rule ?? assert.fail(), log, clock: new FakeClock() },
    manager: manager as never,
  });
  for (let i = 0; i < 2; i++) await devices.look();
  assert.deepEqual(told, [[join(dev, 'x1')]], 'a second name of a device is not a second device');
  mknod(join(dev, 'x4'), 'c', 1, 5);
  await devices.look();
  const both = [join(dev, 'x1'), join(dev, 'x4')];
  assert.deepEqual(told.slice(1), [both]);
  assert.deepEqual(
    (await devices.give(both)).nodes,
    both.map((path) => ({ source: path, target: path, permissions: 'rwm' })),
  );
  await assert.rejects(devices.give([join(dev, 'x3')]), /x3 is no device of this machine/);
  rmSync(dev, { recursive: true });
  writeFileSync(dev, '');
  await devices.look();
  assert.deepEqual(
    log.of('warn').map(({ message, fields }) => [message, fields.resource]),
    [['cannot look for devices', 'example.com/x']],
  );
  assert.match(String(log.of('warn')[0]?.fields.error), /ENOTDIR/);
  assert.deepEqual([devices.devices.map(({ id }) => id), told.length], [both, 2]);
  rmSync(dev);
  await devices.look();
  assert.deepEqual(told.slice(2), [[]], 'without the directory there is no device');
});

test('the absence of devices is reported once', async () => {
  const base = directoryOf();
  const [rule] = parseDeviceRules(`example.com/x=${base}/none/x*`);
  let count = 0;
  const devices = new FileDevices({
    ...{ rule: rule ?? assert.fail(), log: new RecordingLogger(), clock: new FakeClock() },
    manager: { set: () => void count++ },
  });
  for (let i = 0; i < 3; i++) await devices.look();
  assert.equal(count, 1);
});

test('a device includes the shared files of its resource, and is missing if one of them is missing', async () => {
  const base = directoryOf();
  const [device, shared] = [join(base, 'x1'), join(base, 'ctl')];
  mknod(device, 'c', 1, 3);
  const [rule] = parseDeviceRules(`example.com/x=${base}/x*+${shared}`);
  const devices = new FileDevices({
    ...{ rule: rule ?? assert.fail(), log: new RecordingLogger(), clock: new FakeClock() },
    manager: { set: () => undefined },
  });
  await devices.look();
  await assert.rejects(devices.give([device]), /ctl is no device of this machine/);
  mknod(shared, 'c', 1, 5);
  const { nodes } = await devices.give([device]);
  assert.deepEqual(
    nodes.map(({ source, target }) => [source, target]),
    [
      [device, device],
      [shared, shared],
    ],
  );
});

test('a directory of devices is read again a moment after it changes, and each minute', async (context) => {
  const base = directoryOf();
  const { devices, clock, run, end } = node(base, { rules: parseDeviceRules(`example.com/x=${base}/x*`) });
  context.after(end);
  await devices.load();
  run();
  // The cards of the machine are checked every 30 seconds.
  const waits = (ms: number) => eventually(systemClock, `${ms} ms`, () => clock.nextIn === ms);
  await waits(30_000);
  await eventually(systemClock, 'the directory is watched', () => clock.pending === 2);
  mknod(join(base, 'x1'), 'c', 1, 3);
  await waits(200);
  assert.equal(devices.manager.counts.value.get('example.com/x')?.capacity, 0);
  await clock.advance(200);
  await eventually(
    systemClock,
    'it is found',
    () => devices.manager.counts.value.get('example.com/x')?.capacity === 1,
  );
  await eventually(systemClock, 'the directory is watched', () => clock.pending === 2);
  await clock.advance(29_800);
  await waits(30_000);
  await clock.advance(30_000);
  await waits(200);
});

test('a node with device settings offers the cards of NVIDIA, and the runtime nvidia provides them if it is installed', async () => {
  for (const [settings, runtime] of [
    [{ rules: [] }, 'nvidia'],
    [{ rules: [] }, 'runc'],
    [undefined, 'nvidia'],
  ] as const) {
    const base = directoryOf();
    const driver = nvidiaDriver(base);
    const card = driver.card(1);
    const devices = new NodeDevices({
      ...{
        settings,
        driver,
        dataDir: join(base, 'data'),
        clock: new FakeClock(),
        log: new RecordingLogger(),
      },
      ...{ containers: () => [], isActive: () => true, hasRuntime: (name: string) => name === runtime },
    });
    await devices.load();
    const source = devices.manager.get('nvidia.com/gpu');
    assert.deepEqual(source?.devices, settings && [{ id: card, healthy: true }]);
    const given = await source?.give([card]);
    assert.deepEqual(given?.nvidia, settings && runtime === 'nvidia' ? [card] : undefined);
    await devices.manager.close();
  }
});
