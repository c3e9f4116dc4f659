/** Devices that a container gets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  choiceFor,
  chosen,
  deviceRequests,
  type Holding,
} from '../../../../../src/kubelet/devices/plan/choose-devices.ts';
import { makePod } from '../../builders.ts';

const resource = 'example.com/gpu';
const asking = (count: number) => ({ limits: { [resource]: String(count) } });
const container = (name: string, count: number, more: object = {}) => ({
  name,
  image: 'app:1',
  resources: asking(count),
  ...more,
});
const pod = makePod({
  initContainers: [container('init', 2), container('sidecar', 1, { restartPolicy: 'Always' })],
  containers: [container('one', 1), container('two', 2)],
});
const { uid } = pod.metadata;
const devices = (...ids: string[]) => ids.map((id) => ({ id, healthy: !id.startsWith('sick') }));
const held = (owner: string, name: string, ...ids: string[]): Holding => ({
  uid: owner,
  container: name,
  resource,
  ids,
});
const choose = (name: string, count: number, all: string[], holdings: Holding[], preferred: string[] = []) =>
  chosen(choiceFor(pod, name, resource, count, devices(...all), holdings), preferred);

test('requested amounts are counted only for resources that are devices', () => {
  const asks = (name: string, ...resources: string[]) => [...deviceRequests(pod, name, new Set(resources))];
  assert.deepEqual(asks('two', resource, 'example.com/other'), [[resource, 2]]);
  assert.deepEqual(asks('two', 'example.com/other'), []);
  assert.deepEqual(asks('none', resource), []);
});

const rows: readonly [what: string, got: readonly string[], wanted: readonly string[]][] = [
  ['the first free devices', choose('one', 1, ['a', 'b'], []), ['a']],
  ['no unhealthy device', choose('one', 1, ['sick', 'b'], []), ['b']],
  ['no device of another pod', choose('one', 1, ['a', 'b'], [held('other', 'one', 'a')]), ['b']],
  [
    'no device of a container that runs beside it',
    choose('two', 2, ['a', 'b', 'c'], [held(uid, 'one', 'b')]),
    ['a', 'c'],
  ],
  ['no device of a sidecar', choose('one', 1, ['a', 'b'], [held(uid, 'sidecar', 'a')]), ['b']],
  [
    'the devices of an earlier init container first',
    choose('two', 2, ['a', 'b', 'c'], [held(uid, 'init', 'b', 'c')]),
    ['b', 'c'],
  ],
  ['its devices from before a restart', choose('one', 1, ['a', 'b'], [held(uid, 'one', 'b')]), ['b']],
  [
    'its own earlier devices before those of an init container',
    choose('one', 1, ['a', 'b', 'c'], [held(uid, 'init', 'a', 'c'), held(uid, 'one', 'b')]),
    ['b'],
  ],
  [
    'another device if its earlier one is unhealthy',
    choose('one', 1, ['sick', 'b'], [held(uid, 'one', 'sick')]),
    ['b'],
  ],
  ['the preferred device', choose('one', 1, ['a', 'b', 'c'], [], ['c']), ['c']],
  [
    'its earlier device instead of the preferred one',
    choose('one', 1, ['a', 'b'], [held(uid, 'one', 'a')], ['b']),
    ['a'],
  ],
  [
    'no preferred device that is not free',
    choose('one', 1, ['a', 'b'], [held('other', 'x', 'b')], ['b', 'z']),
    ['a'],
  ],
  ['no more devices than it requests', choose('one', 1, ['a', 'b'], [], ['a', 'b']), ['a']],
  [
    'the devices of the other containers if it is an init container that runs again',
    choose('init', 2, ['a', 'b'], [held(uid, 'two', 'a', 'b')]),
    ['a', 'b'],
  ],
];
for (const [what, got, wanted] of rows) test(`a container gets ${what}`, () => assert.deepEqual(got, wanted));

test('an error has the number of free devices if there are too few', () => {
  assert.throws(() => choose('two', 2, ['a', 'sick', 'c'], [held('other', 'x', 'c')]), {
    message: 'requested number of devices unavailable for example.com/gpu. Requested: 2, Available: 1',
  });
});
