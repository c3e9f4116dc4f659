import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  customContainer,
  type DebugRequest,
  ephemeralContainer,
  nodePod,
  podCopy,
  stateOf,
  takenNames,
} from '../../../../src/cli/debug/debug-plan.ts';
import { isImageReference } from '../../../../src/cli/debug/image-reference.ts';
import { recordAt, recordsAt } from '../../../../src/cli/objects/objects.ts';

const request: DebugRequest = {
  image: 'a:1',
  container: undefined,
  args: [],
  argumentsOnly: false,
  env: [],
  imagePullPolicy: undefined,
  stdin: false,
  tty: false,
  profile: 'general',
  target: undefined,
  copyTo: 'copy',
  sameNode: false,
  shareProcesses: undefined,
  setImages: new Map(),
  kept: {
    labels: false,
    annotations: false,
    livenessProbe: false,
    readinessProbe: false,
    startupProbe: false,
    initContainers: true,
  },
};
const same = <T>(value: T) => value;
const pod = {
  metadata: { name: 'web', namespace: 'default', uid: '1', labels: { app: 'web' } },
  spec: {
    nodeName: 'one',
    containers: [{ name: 'app', image: 'app:1', args: ['x'], stdin: true, livenessProbe: {} }],
    ephemeralContainers: [{ name: 'old', image: 'y' }],
  },
};
const copyOf = (more: Partial<DebugRequest>) => podCopy({ ...request, ...more }, pod, () => 'chosen', same);

test('an ephemeral container of the profile general may trace processes of its target', () => {
  assert.deepEqual(ephemeralContainer({ ...request, target: 'app', tty: true, stdin: true }, 'x', same), {
    name: 'x',
    image: 'a:1',
    stdin: true,
    tty: true,
    terminationMessagePolicy: 'File',
    targetContainerName: 'app',
    securityContext: { capabilities: { add: ['SYS_PTRACE'] } },
  });
});

test('the pod of a node sees its files and namespaces only with a profile that allows it', () => {
  const specOf = (profile: DebugRequest['profile']) =>
    recordAt(nodePod({ ...request, profile }, 'one', 'x', same), 'spec');
  assert.deepEqual(
    (['legacy', 'general', 'sysadmin', 'netadmin', 'baseline', 'restricted'] as const).map((profile) => {
      const { hostPID = false, volumes = [] } = specOf(profile);
      return [profile, hostPID, recordsAt({ volumes }, 'volumes').length];
    }),
    [
      ['legacy', true, 1],
      ['general', true, 1],
      ['sysadmin', true, 1],
      ['netadmin', true, 0],
      ['baseline', false, 0],
      ['restricted', false, 0],
    ],
  );
});

test('a copy has neither the identity, the node nor the ephemeral containers of its pod', () => {
  const { pod: copy, container } = copyOf({});
  assert.deepEqual(recordAt(copy, 'metadata'), { name: 'copy', namespace: 'default' });
  const { nodeName, ephemeralContainers, shareProcessNamespace } = recordAt(copy, 'spec');
  assert.deepEqual([nodeName, ephemeralContainers, shareProcessNamespace], [undefined, undefined, true]);
  assert.equal(container, 'chosen');
  assert.equal(recordAt(copyOf({ sameNode: true }).pod, 'spec').nodeName, 'one');
});

test('a new command of a container of the copy replaces its arguments', () => {
  const containerOf = (more: Partial<DebugRequest>) =>
    recordsAt(
      copyOf({ container: 'app', image: undefined, args: ['sh'], ...more }).pod,
      'spec',
      'containers',
    )[0];
  assert.deepEqual(containerOf({ profile: 'baseline' }), { name: 'app', image: 'app:1', command: ['sh'] });
  assert.deepEqual(containerOf({ profile: 'baseline', argumentsOnly: true }), {
    name: 'app',
    image: 'app:1',
    args: ['sh'],
  });
});

test('a copy with other images alone has no debugging container', () => {
  const copy = copyOf({ image: undefined, setImages: new Map([['*', 'b:2']]) });
  assert.equal(copy.container, undefined);
  assert.equal(recordsAt(copy.pod, 'spec', 'containers')[0]?.image, 'b:2');
  const setImages = new Map([
    ['*', 'b:2'],
    ['app', 'c:3'],
  ]);
  const own = copyOf({ image: undefined, setImages });
  assert.equal(recordsAt(own.pod, 'spec', 'containers')[0]?.image, 'c:3');
});

test('an unknown container without an image is rejected', () => {
  assert.throws(() => copyOf({ image: undefined, container: 'nosuch', args: ['sh'] }), {
    name: 'UsageError',
  });
});

test('a custom container may not change what the flags set', () => {
  for (const field of ['name', 'image', 'command', 'lifecycle', 'volumeDevices'])
    assert.throws(() => customContainer({ [field]: ['x'] }), { name: 'UsageError' }, field);
  assert.deepEqual(customContainer({ env: [], command: [] }), { env: [], command: [] });
});

test('the names and states of containers of every type are found', () => {
  assert.deepEqual([...takenNames(pod)], ['app', 'old']);
  const running = { running: {} };
  const status = { ephemeralContainerStatuses: [{ name: 'old', state: running }] };
  assert.deepEqual(stateOf({ ...pod, status }, 'old'), running);
  assert.equal(stateOf({ ...pod, status }, 'app'), undefined);
});

test('names of images are recognized, and long names cost little time', () => {
  const digest = `sha256:${'0'.repeat(64)}`;
  for (const name of ['a', 'a:1', 'h.x:5000/a/b_c:v1', `a@${digest}`, `[::1]:5/a:T@${digest}`])
    assert.equal(isImageReference(name), true, name);
  for (const name of [
    '',
    'A',
    'a:',
    'a b',
    'a/',
    'a@sha256:0',
    `a:${'x'.repeat(129)}`,
    `${'a-'.repeat(511)}!`,
  ])
    assert.equal(isImageReference(name), false, name);
});
