/** Messages to and from device plugins, field by field, and the union of several sources of devices. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WireWriter } from '../../../../src/apimachinery/protobuf/writer.ts';
import { framed } from '../../../../src/grpc/frames.ts';
import { choiceFor, deviceRequests } from '../../../../src/kubelet/devices/plan/choose-devices.ts';
import { bothGiven, type GivenDevices, nothingGiven } from '../../../../src/kubelet/devices/plan/device.ts';
import { amountsIn, countAway, countOf } from '../../../../src/kubelet/devices/plan/device-counts.ts';
import { parseDeviceRules } from '../../../../src/kubelet/devices/plan/device-rules.ts';
import { nvidiaFile, nvidiaShared, readCard } from '../../../../src/kubelet/devices/plan/nvidia-files.ts';
import {
  allocateMessage,
  beforeStartMessage,
  emptyMessage,
  preferredMessage,
  readAllocated,
  readDevices,
  readOptions,
  readPreferred,
  readRegistration,
} from '../../../../src/kubelet/devices/plan/plugin-messages.ts';
import { makePod } from '../builders.ts';

const message = (write: (writer: WireWriter) => void) => framed(1000, write).subarray(5);
const within = (writer: WireWriter, field: number, write: () => void) => {
  const start = writer.begin(field);
  write();
  writer.end(start);
};
const texts = (writer: WireWriter, ...fields: readonly string[]) => {
  for (const [index, text] of fields.entries()) writer.string(index + 1, text);
};
/** Returns the message of a frame as hex, without the five bytes before it (compression and length). */
const hex = (frame: Buffer) => frame.subarray(5).toString('hex');

test("requests to a plugin have upstream's field numbers", () => {
  assert.equal(emptyMessage.toString('hex'), '0000000000');
  // AllocateRequest: container_requests (1) with devices_ids (1).
  assert.equal(hex(allocateMessage(['a', 'bc'])), '0a070a01610a026263');
  assert.equal(allocateMessage(['a', 'bc']).readUInt32BE(1), 9);
  // PreStartContainerRequest: devices_ids (1).
  assert.equal(hex(beforeStartMessage(['a', 'bc'])), '0a01610a026263');
  // PreferredAllocationRequest: container_requests (1) with available (1), must_include (2), allocation_size
  // (3).
  assert.equal(hex(preferredMessage(['a', 'b'], ['a'], 2)), '0a0b0a01610a01621201611802');
  const many = Array.from({ length: 3000 }, (_, id) => `device-${id}`);
  assert.equal(allocateMessage(many).readUInt32BE(1), allocateMessage(many).length - 5);
});

test('answers of a plugin are decoded field by field, and absent fields are empty', () => {
  assert.deepEqual(readRegistration(message((writer) => texts(writer, 'v1beta1', 'x.sock', 'a.b/c'))), {
    ...{ version: 'v1beta1', endpoint: 'x.sock', resource: 'a.b/c' },
  });
  assert.deepEqual(readRegistration(Buffer.alloc(0)), { version: '', endpoint: '', resource: '' });
  assert.deepEqual(readOptions(Buffer.alloc(0)), { beforeStart: false, preferred: false });
  assert.deepEqual(readOptions(message((writer) => writer.varint(1, 1))), {
    beforeStart: true,
    preferred: false,
  });
  assert.deepEqual(readOptions(message((writer) => writer.varint(2, 1))), {
    beforeStart: false,
    preferred: true,
  });
  assert.deepEqual(readDevices(Buffer.alloc(0)), []);
  const preferred = message((writer) =>
    within(writer, 1, () => ['a', 'b'].map((id) => writer.string(1, id))),
  );
  assert.deepEqual(readPreferred(preferred), ['a', 'b']);
  assert.throws(() => readDevices(Buffer.from('0a05', 'hex')));
});

test("an allocation decodes all variables, mounts, devices and annotations of the plugin's answer", () => {
  const answer = message((writer) =>
    within(writer, 1, () => {
      within(writer, 1, () => texts(writer, 'NAME', 'value'));
      within(writer, 2, () => {
        texts(writer, '/in', '/on');
        writer.varint(3, 1);
      });
      within(writer, 2, () => texts(writer, '/in2', '/on2'));
      within(writer, 3, () => texts(writer, '/dev/in', '/dev/on', 'rw'));
      within(writer, 4, () => texts(writer, 'note', 'text'));
      within(writer, 5, () => texts(writer, 'vendor.com/gpu=0'));
      within(writer, 5, () => texts(writer, 'vendor.com/gpu=1'));
    }),
  );
  assert.deepEqual(readAllocated(answer), {
    env: { NAME: 'value' },
    annotations: { note: 'text' },
    mounts: [
      { target: '/in', source: '/on', readOnly: true },
      { target: '/in2', source: '/on2', readOnly: false },
    ],
    nodes: [{ target: '/dev/in', source: '/dev/on', permissions: 'rw' }],
    cdi: ['vendor.com/gpu=0', 'vendor.com/gpu=1'],
  });
});

test('absent fields of a mount, a device or a variable are empty', () => {
  const answer = message((writer) =>
    within(writer, 1, () => {
      for (const field of [1, 2, 3, 4]) within(writer, field, () => undefined);
    }),
  );
  assert.deepEqual(readAllocated(answer), {
    env: { '': '' },
    annotations: { '': '' },
    mounts: [{ target: '', source: '', readOnly: false }],
    nodes: [{ target: '', source: '', permissions: '' }],
    cdi: [],
  });
});

test('a container has the allocations of both resources, and the later value of a variable', () => {
  const of = (name: string): GivenDevices => ({
    ids: { [name]: [name] },
    env: { SAME: name, [name]: 'x' },
    mounts: [{ source: name, target: name, readOnly: true }],
    nodes: [{ source: name, target: name, permissions: 'r' }],
    annotations: { same: name, [name]: 'x' },
    cdi: [name],
    nvidia: [name],
  });
  assert.deepEqual(bothGiven(of('a'), of('b')), {
    ids: { a: ['a'], b: ['b'] },
    env: { SAME: 'b', a: 'x', b: 'x' },
    mounts: [...of('a').mounts, ...of('b').mounts],
    nodes: [...of('a').nodes, ...of('b').nodes],
    annotations: { same: 'b', a: 'x', b: 'x' },
    cdi: ['a', 'b'],
    nvidia: ['a', 'b'],
  });
  assert.deepEqual(bothGiven(nothingGiven, of('a')), of('a'));
});

test('the Node has the count of each resource, and no count of a removed resource', () => {
  const devices = ['a', 'b', 'c'].map((id) => ({ id, healthy: id !== 'b' }));
  const counts = new Map([
    ['x.io/a', countOf(devices)],
    ['x.io/b', countAway(7)],
    ['x.io/c', undefined],
  ]);
  assert.deepEqual(amountsIn(counts, 'capacity'), { 'x.io/a': '3', 'x.io/b': '7' });
  assert.deepEqual(amountsIn(counts, 'allocatable'), { 'x.io/a': '2', 'x.io/b': '0' });
});

const resource = 'example.com/gpu';
const container = (count: string) => ({
  ...{ name: 'main', image: 'app:1', resources: { limits: { [resource]: count } } },
});

test('a container requests as many devices as its limit has, and none with a limit of 0', () => {
  const asks = (count: string) => [
    ...deviceRequests(makePod({ containers: [container(count)] }), 'main', new Set([resource])),
  ];
  assert.deepEqual(asks('0'), []);
  assert.deepEqual(asks('3'), [[resource, 3]]);
});

test('a container gets its earlier devices first, then devices of init containers that have ended', () => {
  const pod = makePod({
    containers: [container('2')],
    initContainers: [{ ...container('1'), name: 'init' }],
  });
  const { uid } = pod.metadata;
  const held = (name: string, ...ids: readonly string[]) => ({ uid, container: name, resource, ids });
  const devices = ['a', 'b', 'c', 'd'].map((id) => ({ id, healthy: true }));
  const other = { ...held('main', 'a'), resource: 'example.com/other' };
  const choice = choiceFor(pod, 'main', resource, 2, devices, [
    held('main', 'c'),
    held('init', 'b', 'd'),
    other,
  ]);
  assert.deepEqual(choice, { first: ['c', 'b'], free: ['a', 'd'], count: 2 });
});

test("the flag --devices may name files in the root folder; NVIDIA's files are in /dev; invalid cards are ignored", () => {
  const [rule] = parseDeviceRules('example.com/x=/gpu*');
  assert.deepEqual([rule?.directory, rule?.name.test('gpu1'), rule?.shared], ['/', true, []]);
  assert.deepEqual(parseDeviceRules(' , '), []);
  assert.deepEqual(nvidiaShared('/dev'), [
    ...['/dev/nvidiactl', '/dev/nvidia-uvm', '/dev/nvidia-uvm-tools', '/dev/nvidia-modeset'],
  ]);
  assert.equal(nvidiaFile({ uuid: 'GPU-1', minor: 12 }, '/dev'), '/dev/nvidia12');
  assert.equal(readCard('GPU UUID: GPU-1\nDevice Minor: x'), undefined);
  assert.equal(readCard('GPU UUID: XGPU-1\nDevice Minor: 1'), undefined);
  assert.equal(readCard('no colon\nDevice Minor: 1'), undefined);
});
