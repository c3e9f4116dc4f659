/** Fields that a pod takes over from its RuntimeClass. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runtimeClassResource } from '../../../../src/api/node/v1/runtime-class.ts';
import { runtimeClasses } from '../../../../src/kube-apiserver/admission/runtime-class.ts';
import { ClassWorld, podDefinition } from './class-world.ts';

const world = new ClassWorld(runtimeClassResource);
const toleration = { key: 'sandboxed', operator: 'Exists', effect: 'NoSchedule' };
world.add('plain', { handler: 'runc' });
world.add('heavy', { handler: 'kata', overhead: { podFixed: { cpu: '250m', memory: '64Mi' } } });
world.add('somewhere', {
  handler: 'kata',
  scheduling: { nodeSelector: { runtime: 'kata' }, tolerations: [toleration] },
});
world.add('named', { handler: 'kata', scheduling: { nodeSelector: { constructor: 'a', toString: 'b' } } });
world.add('empty', { handler: 'kata', overhead: {}, scheduling: {} }, 'stored');
const admitted = (spec: object, over: object = {}) =>
  world.admitted(runtimeClasses(world.server), spec, over);

const overhead = { cpu: '250m', memory: '64Mi' };
for (const [title, spec, more] of [
  ['without a class is unchanged', {}, {}],
  ['without a class drops an empty overhead', { overhead: {} }, {}],
  ['gets nothing from a class without fields', { runtimeClassName: 'plain' }, {}],
  ['gets an empty overhead', { runtimeClassName: 'empty' }, { overhead: {} }],
  ['gets the overhead', { runtimeClassName: 'heavy' }, { overhead }],
  [
    'may have the same overhead itself',
    { runtimeClassName: 'heavy', overhead: { cpu: '0.25', memory: '64Mi' } },
    { overhead },
  ],
  [
    'gets node selector and tolerations',
    { runtimeClassName: 'somewhere' },
    { nodeSelector: { runtime: 'kata' }, tolerations: [toleration] },
  ],
  [
    'gets a node selector with labels of any name',
    { runtimeClassName: 'named', nodeSelector: { disk: 'ssd' } },
    { nodeSelector: { disk: 'ssd', constructor: 'a', toString: 'b' } },
  ],
  [
    'keeps its own node selector and tolerations in addition',
    {
      runtimeClassName: 'somewhere',
      nodeSelector: { disk: 'ssd', runtime: 'kata' },
      tolerations: [{ key: 'a', operator: 'Exists' }, toleration],
    },
    {
      nodeSelector: { disk: 'ssd', runtime: 'kata' },
      tolerations: [{ key: 'a', operator: 'Exists' }, toleration],
    },
  ],
] as const)
  test(`a pod ${title}`, async () => {
    assert.deepEqual(await admitted(spec), { ...spec, ...more });
  });

for (const [title, spec, why] of [
  ['a class that does not exist', { runtimeClassName: 'x' }, 'pod rejected: RuntimeClass "x" not found'],
  ['a class without a name', { runtimeClassName: '' }, 'pod rejected: RuntimeClass "" not found'],
  [
    'an overhead without a class',
    { overhead: { cpu: '1' } },
    'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  ],
  [
    'an overhead that its class does not have',
    { runtimeClassName: 'plain', overhead: { cpu: '1' } },
    'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  ],
  [
    'another overhead than its class',
    { runtimeClassName: 'heavy', overhead: { cpu: '250m' } },
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
  ],
  [
    'a node selector that contradicts its class',
    { runtimeClassName: 'somewhere', nodeSelector: { runtime: 'runc' } },
    'conflict: runtimeClass.scheduling.nodeSelector[runtime] = kata; pod.spec.nodeSelector[runtime] = runc',
  ],
] as const)
  test(`a pod with ${title} is refused`, async () => {
    assert.equal(await admitted(spec), why);
  });

test('only new pods are checked', async () => {
  const spec = { runtimeClassName: 'x' };
  for (const over of [
    { operation: 'update' },
    { subresource: 'status' },
    { definition: { ...podDefinition, group: 'example.com' } },
    { definition: { ...podDefinition, plural: 'others' } },
  ])
    assert.deepEqual(await admitted(spec, over), spec);
});
