/** The flag --devices. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDeviceRules } from '../../../../../src/kubelet/devices/plan/device-rules.ts';
import { readCard } from '../../../../../src/kubelet/devices/plan/nvidia-files.ts';

test('a rule has a resource, the files of its devices, and the shared files', () => {
  const [gpu, fpga] = parseDeviceRules('example.com/gpu=/dev/gpu*+/dev/gpuctl, example.com/fpga=/dev/f.0');
  assert.deepEqual(
    [gpu?.resource, gpu?.directory, gpu?.shared],
    ['example.com/gpu', '/dev', ['/dev/gpuctl']],
  );
  assert.deepEqual(
    ['gpu0', 'gpu', 'agpu0', 'gp'].map((name) => gpu?.name.test(name)),
    [true, true, false, false],
  );
  assert.deepEqual([fpga?.name.test('f.0'), fpga?.name.test('fx0')], [true, false]);
});

const wrong: readonly [value: string, message: RegExp][] = [
  ['gpu=/dev/x', /"gpu" cannot be the name/],
  ['kubernetes.io/gpu=/dev/x', /cannot be the name/],
  ['example.com/-x=/dev/x', /cannot be the name/],
  ['example.com/x=/dev/./x', /must be the absolute path of a file/],
  ['/dev/x', /"" cannot be the name/],
  ['example.com/gpu=dev/x', /"dev\/x" must be the absolute path of a file/],
  ['example.com/gpu=/dev/../etc/x', /must be the absolute path of a file/],
  ['example.com/gpu=//x', /must be the absolute path of a file/],
  ['example.com/gpu=/dev//x', /must be the absolute path of a file/],
  ['example.com/gpu=/', /must be the absolute path of a file/],
  ['example.com/gpu=/d*/x', /only allowed in the name/],
  ['example.com/gpu=/dev/x+/dev/y*', /only allowed in the name/],
  ['example.com/gpu=/dev/x,example.com/gpu=/dev/y', /example.com\/gpu is given twice/],
];
for (const [value, message] of wrong)
  test(`the flag --devices refuses ${value}`, () =>
    assert.throws(() => parseDeviceRules(value), { message }));

test('an NVIDIA card is identified by its UUID and its number', () => {
  const information = [
    'Model: \t\t NVIDIA H100',
    'IRQ:   \t\t 120',
    'GPU UUID: \t GPU-5b6f0c1e-0000-1111-2222-333344445555',
    'Bus Location: \t 0000:01:00.0',
    'Device Minor: \t 3',
  ].join('\n');
  assert.deepEqual(readCard(information), { uuid: 'GPU-5b6f0c1e-0000-1111-2222-333344445555', minor: 3 });
  assert.equal(readCard(information.replace(/GPU-.*/, 'GPU-????????')), undefined);
  assert.equal(readCard(''), undefined);
});

test('a file of devices may be right below /', () => {
  assert.equal(parseDeviceRules('example.com/x=/x')[0]?.directory, '/');
});

test('an NVIDIA card may be described without spaces, and invalid lines are ignored', () => {
  const information = 'GPU UUID:GPU-1\nDevice Minor:2\nGPU UUID!\nDevice Minor!';
  assert.deepEqual(readCard(information), { uuid: 'GPU-1', minor: 2 });
});
