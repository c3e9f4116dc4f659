/** Devices of a machine: device files, and device plugins over Kubernetes' own gRPC protocol. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { GrpcClient } from '../../../src/grpc/client.ts';
import { framed } from '../../../src/grpc/frames.ts';
import { NodeDevices } from '../../../src/kubelet/devices/node-devices.ts';
import { parseDeviceRules } from '../../../src/kubelet/devices/plan/device-rules.ts';
import { pluginMethods } from '../../../src/kubelet/devices/plan/plugin-messages.ts';
import { type PluginPlace, RunningPlugin, unlessGo } from '../../fixtures/device-plugin.ts';
import { eventually } from '../../fixtures/eventually.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { makePod } from '../../unit/kubelet/builders.ts';

const resource = 'example.com/gpu';

/** Waits until the assertion no longer throws; rejects with its last error. */
async function becomes(assertion: () => void): Promise<void> {
  let last: unknown;
  const holds = () => {
    try {
      assertion();
      return true;
    } catch (error) {
      last = error;
      return false;
    }
  };
  await eventually(systemClock, 'the assertion', holds).catch(() => {
    throw last;
  });
}

const podWith = (uid: string, count: number, name = resource) =>
  makePod(
    { containers: [{ name: 'main', image: 'app:1', resources: { limits: { [name]: String(count) } } }] },
    { uid },
  );

const directories: string[] = [];
// The hooks of a test run in the order in which they were set: what the test started may write to the
// directory until the last hook.
after(() => {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
});

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-devices-'));
  directories.push(directory);
  return directory;
}

/** Starts the device management of a node without its other parts. */
async function start(context: TestContext, directory: string, rules = '') {
  const active = new Set<string>();
  const log = new RecordingLogger();
  const pluginDirectory = join(directory, 'plugins');
  const devices = new NodeDevices({
    settings: { rules: parseDeviceRules(rules), pluginDirectory },
    dataDir: join(directory, 'data'),
    clock: systemClock,
    log,
    containers: () => [],
    isActive: (uid) => active.has(uid),
    hasRuntime: () => false,
  });
  await devices.load();
  const stop = new AbortController();
  const running = devices.run(stop.signal);
  const end = async () => {
    stop.abort();
    await running;
  };
  context.after(end);
  const give = (uid: string, count: number, name?: string) => {
    active.add(uid);
    return devices.manager.giveTo(podWith(uid, count, name), 'main');
  };
  const count = (name = resource) => devices.manager.counts.value.get(name);
  const counted = (capacity: number, allocatable: number) =>
    becomes(() => assert.deepEqual(count(), { capacity, allocatable }));
  return { give, count, counted, active, log, end, pluginDirectory };
}

async function plugin(context: TestContext, place: PluginPlace): Promise<RunningPlugin> {
  const running = new RunningPlugin(place);
  context.after(() => running.end());
  await becomes(() => {
    assert.equal(running.problem, '');
    assert.ok(running.asked.includes(`registered "${place.resource}"`));
  });
  return running;
}

test('each device file is offered to one container at a time', async (context) => {
  const directory = makeDirectory();
  const dev = join(directory, 'dev');
  mkdirSync(dev);
  const make = (name: string, minor: number) =>
    execFileSync('mknod', [join(dev, name), 'c', '1', String(minor)]);
  make('gpu0', 3);
  make('gpu1', 5);
  make('ctl', 7);
  writeFileSync(join(dev, 'gpu2'), 'a plain file is no device');
  symlinkSync('gpu0', join(dev, 'gpu9'));
  const { give, counted, active } = await start(context, directory, `${resource}=${dev}/gpu*+${dev}/ctl`);
  await counted(2, 2);
  const one = await give('one', 1);
  assert.deepEqual(one.ids, { [resource]: [join(dev, 'gpu0')] });
  assert.deepEqual(
    one.nodes.map(({ source, target, permissions }) => [source, target, permissions]),
    ['gpu0', 'ctl'].map((name) => [join(dev, name), join(dev, name), 'rwm']),
  );
  assert.deepEqual((await give('two', 1)).ids, { [resource]: [join(dev, 'gpu1')] });
  assert.deepEqual((await give('two', 1)).ids, { [resource]: [join(dev, 'gpu1')] }, 'again, it has the same');
  await assert.rejects(give('three', 1), /Requested: 1, Available: 0/);
  active.delete('one');
  assert.deepEqual((await give('three', 1)).ids, { [resource]: [join(dev, 'gpu0')] });
  make('gpu3', 9);
  await counted(3, 3);
  rmSync(join(dev, 'gpu3'));
  await counted(2, 2);
});

test('device files are checked again before the allocation, and a missing file is an error', async (context) => {
  const directory = makeDirectory();
  const dev = join(directory, 'dev');
  mkdirSync(dev);
  const { give, counted } = await start(context, directory, `${resource}=${dev}/gpu*`);
  await counted(0, 0);
  execFileSync('mknod', [join(dev, 'gpu0'), 'c', '1', '3']);
  await counted(1, 1);
  rmSync(join(dev, 'gpu0'));
  writeFileSync(join(dev, 'gpu0'), '');
  await assert.rejects(give('one', 1), /gpu0 is no device of this machine|Available: 0/);
  await counted(0, 0);
});

test('a device plugin registers, lists its devices, and is called', { skip: unlessGo }, async (context) => {
  const directory = makeDirectory();
  const { give, counted, count, pluginDirectory } = await start(context, directory);
  const kubeletSocket = join(pluginDirectory, 'kubelet.sock');
  await becomes(() => assert.ok(existsSync(kubeletSocket)));
  assert.equal(statSync(kubeletSocket).mode & 0o777, 0o600);
  assert.equal(count(), undefined);
  const devices = join(directory, 'list');
  writeFileSync(devices, 'a Healthy\nb Healthy\nc Healthy\n');
  const place = { directory: pluginDirectory, endpoint: 'test.sock', resource, devices };
  const running = await plugin(context, place);
  await counted(3, 3);
  const given = await give('one', 2);
  assert.deepEqual(given.ids, { [resource]: ['b', 'c'] });
  assert.deepEqual(
    [given.env, given.annotations],
    [{ TEST_DEVICES: 'b,c' }, { 'test.example.com/devices': 'b,c' }],
  );
  assert.deepEqual(given.nodes[0], { source: '/dev/null', target: '/dev/b', permissions: 'rw' });
  assert.deepEqual(given.mounts[0], { source: devices, target: '/given/b', readOnly: true });
  await becomes(() =>
    assert.deepEqual(running.asked.slice(1), [
      'preferred {"available_deviceIDs":["a","b","c"],"allocation_size":2}',
      'allocate ["b","c"]',
      'start ["b","c"]',
    ]),
  );
  writeFileSync(devices, 'a Unhealthy\nb Healthy\nc Healthy\nbad Healthy\n');
  await counted(4, 3);
  await assert.rejects(give('two', 1), /cannot allocate 1 of example.com\/gpu: .*device bad is bad/);
  // The plugin ends: its allocations are kept, and none of its devices is allocated.
  await running.end();
  await counted(4, 0);
  await assert.rejects(give('two', 1), /nothing on this node offers example.com\/gpu now/);
  writeFileSync(devices, 'a Healthy\n');
  await plugin(context, { ...place, endpoint: 'again.sock' });
  await counted(1, 1);
  assert.deepEqual((await give('two', 1)).ids, { [resource]: ['a'] });
});

test('after a restart of the agent a resource is not allocated until its plugin has registered again', {
  skip: unlessGo,
}, async (context) => {
  const directory = makeDirectory();
  const first = await start(context, directory);
  const devices = join(directory, 'list');
  writeFileSync(devices, 'a Healthy\n');
  await becomes(() => assert.ok(existsSync(join(first.pluginDirectory, 'kubelet.sock'))));
  await plugin(context, { directory: first.pluginDirectory, endpoint: 'test.sock', resource, devices });
  await first.counted(1, 1);
  await first.end();
  const second = await start(context, directory);
  assert.deepEqual(second.count(), { capacity: 1, allocatable: 0 });
  await assert.rejects(second.give('one', 1), /its device plugin is not registered/);
});

test('a plugin with another version or an invalid name is rejected', { skip: unlessGo }, async (context) => {
  const directory = makeDirectory();
  const { pluginDirectory, count } = await start(context, directory);
  await becomes(() => assert.ok(existsSync(join(pluginDirectory, 'kubelet.sock'))));
  const devices = join(directory, 'list');
  writeFileSync(devices, 'a Healthy\n');
  const refused = async (place: Partial<PluginPlace>, why: RegExp) => {
    const running = new RunningPlugin({
      directory: pluginDirectory,
      endpoint: 'x.sock',
      resource,
      devices,
      ...place,
    });
    assert.equal(await running.ended, 1);
    assert.match(running.problem, why);
  };
  await refused({ version: 'v1alpha1' }, /version v1beta1 of the device plugin API, not "v1alpha1"/);
  await refused({ resource: 'cpu' }, /"cpu" cannot be the name of a resource of devices/);
  await refused({ endpoint: '../x.sock' }, /is not the name of a socket beside the agent's/);
  assert.equal(count(), undefined);
});

test('a plugin that registers again replaces its predecessor, and later messages of the predecessor are ignored', {
  skip: unlessGo,
}, async (context) => {
  const directory = makeDirectory();
  const { give, counted, pluginDirectory, log } = await start(context, directory);
  await becomes(() => assert.ok(existsSync(join(pluginDirectory, 'kubelet.sock'))));
  const [old, now] = [join(directory, 'old'), join(directory, 'new')];
  writeFileSync(old, 'a Healthy\n');
  writeFileSync(now, 'x Healthy\ny Healthy\n');
  const first = await plugin(context, {
    directory: pluginDirectory,
    endpoint: 'a.sock',
    resource,
    devices: old,
  });
  await counted(1, 1);
  await plugin(context, { directory: pluginDirectory, endpoint: 'b.sock', resource, devices: now });
  await counted(2, 2);
  writeFileSync(old, 'a Healthy\nb Healthy\nc Healthy\n');
  writeFileSync(now, 'x Healthy\ny Unhealthy\n');
  await counted(2, 1);
  await first.end();
  writeFileSync(now, 'x Healthy\ny Healthy\n');
  await counted(2, 2);
  assert.deepEqual((await give('one', 2)).ids, { [resource]: ['x', 'y'] });
  assert.doesNotMatch(JSON.stringify(log.of('info')), /has gone/, 'the registered plugin has not gone');
});

test('a file that is not a socket is ignored as a plugin', async (context) => {
  const directory = makeDirectory();
  const { pluginDirectory, count } = await start(context, directory);
  const socket = join(pluginDirectory, 'kubelet.sock');
  await becomes(() => assert.ok(existsSync(socket)));
  writeFileSync(join(pluginDirectory, 'plain'), '');
  symlinkSync('kubelet.sock', join(pluginDirectory, 'link'));
  const client = new GrpcClient({
    ...{ endpoint: `unix:${socket}`, tls: {}, clock: systemClock },
    ...{ keepaliveMs: 60_000, connectMs: 10_000, maxMessageBytes: 1 << 20 },
  });
  context.after(() => client.destroy());
  for (const endpoint of ['plain', 'link', 'none', 'kubelet.sock', '.', '']) {
    const registration = framed(200, (writer) => {
      for (const [index, text] of ['v1beta1', endpoint, resource].entries()) writer.string(index + 1, text);
    });
    const registered = client.call(pluginMethods.register, registration, 10_000);
    await assert.rejects(registered, /is no socket|is not the name of a socket/, endpoint);
  }
  assert.equal(count(), undefined);
});

test('no plugin registers in a directory that other users may write, or that another agent uses', async (context) => {
  const directory = makeDirectory();
  mkdirSync(join(directory, 'plugins'));
  for (const mode of [0o777, 0o770, 0o707]) {
    chmodSync(join(directory, 'plugins'), mode);
    const open = await start(context, directory);
    await becomes(() => assert.match(JSON.stringify(open.log.of('warn')), /other users can write to /));
    await open.end();
  }
  chmodSync(join(directory, 'plugins'), 0o750);
  await start(context, directory);
  await becomes(() => assert.ok(existsSync(join(directory, 'plugins/kubelet.sock'))));
  const second = await start(context, directory);
  await becomes(() => assert.match(JSON.stringify(second.log.of('warn')), /is served by another program/));
});
