/** Priority of a pod, and the uniqueness of the default class. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { priorityClassResource } from '../../../../src/api/scheduling/v1/priority-class.ts';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { priority } from '../../../../src/kube-apiserver/admission/priority.ts';
import { ClassWorld, podDefinition } from './class-world.ts';

let world: ClassWorld;
beforeEach(() => {
  world = new ClassWorld(priorityClassResource);
  world.add('high', { value: 1000, preemptionPolicy: 'PreemptLowerPriority' });
  world.add('calm', { value: 500, preemptionPolicy: 'Never' });
  world.add('new', { value: 7, preemptionPolicy: 'Never' }, 'stored');
});
const admitted: (...pod: [object, object?]) => Promise<object | string> = (spec, over) =>
  world.admitted(priority(world.server), spec, over);

const lower = 'PreemptLowerPriority';

for (const [title, spec, expected] of [
  ['nothing', {}, { priority: 0, preemptionPolicy: lower }],
  ['no class', { priorityClassName: '' }, { priorityClassName: '', priority: 0, preemptionPolicy: lower }],
  [
    'a class',
    { priorityClassName: 'high' },
    { priorityClassName: 'high', priority: 1000, preemptionPolicy: lower },
  ],
  [
    'a class without preemption',
    { priorityClassName: 'calm' },
    { priorityClassName: 'calm', priority: 500, preemptionPolicy: 'Never' },
  ],
  [
    'a class that is not in the cache yet',
    { priorityClassName: 'new' },
    { priorityClassName: 'new', priority: 7, preemptionPolicy: 'Never' },
  ],
  [
    "a class with the class's own priority and policy",
    { priorityClassName: 'calm', priority: 500, preemptionPolicy: 'Never' },
    { priorityClassName: 'calm', priority: 500, preemptionPolicy: 'Never' },
  ],
  [
    'a class that does not exist',
    { priorityClassName: 'mine' },
    /^no PriorityClass with name mine was found$/,
  ],
  [
    'a class with another priority',
    { priorityClassName: 'high', priority: 5 },
    /^the integer value of priority \(5\) must not be provided in pod spec; .* computed 1000 /,
  ],
  [
    'a class with another policy',
    { priorityClassName: 'high', preemptionPolicy: 'Never' },
    /^the string value of PreemptionPolicy \(Never\) must not be provided .* computed PreemptLowerPriority /,
  ],
  ['a number alone', { priority: 5 }, /\(5\) must not be provided in pod spec; .* computed 0 /],
  ['a policy alone', { preemptionPolicy: 'Never' }, /\(Never\) must not be provided in pod spec/],
  ['the priority 0', { priority: 0 }, { priority: 0, preemptionPolicy: lower }],
] as const)
  test(`a pod that names ${title} is ${expected instanceof RegExp ? 'rejected' : 'accepted'}`, async () => {
    const found = await admitted(spec);
    if (expected instanceof RegExp) assert.match(String(found), expected);
    else assert.deepEqual(found, expected);
  });

test('a pod without a class gets the default class, or the lowest of several', async () => {
  world.add('usual', { value: 20, globalDefault: true, preemptionPolicy: 'Never' });
  const usual = { priorityClassName: 'usual', priority: 20, preemptionPolicy: 'Never' };
  assert.deepEqual(await admitted({}), usual);
  world.add('second', { value: 30, globalDefault: true, preemptionPolicy: 'Never' });
  assert.deepEqual(await admitted({}), usual);
  assert.equal(((await admitted({ priorityClassName: 'high' })) as { priority: number }).priority, 1000);
});

test('an update without priority and policy keeps them', async () => {
  const old = { spec: { priority: 7, preemptionPolicy: 'Never' } };
  const over = { operation: 'update', old };
  assert.deepEqual(await admitted({}, over), old.spec);
  const other = { priority: 8, preemptionPolicy: lower };
  assert.deepEqual(await admitted(other, over), other, 'which validation refuses');
  assert.deepEqual(await admitted({}, { operation: 'update', old: { spec: {} } }), {});
});

test('only pods are checked', async () => {
  const spec = { priorityClassName: 'mine' };
  for (const over of [
    { subresource: 'status' },
    { operation: 'delete', object: undefined },
    { definition: { ...podDefinition, group: 'example.com' } },
    { definition: { ...podDefinition, plural: 'others' } },
  ])
    assert.deepEqual(await admitted(spec, over), spec);
});

const definition = priorityClassResource as unknown as ResourceDefinition;
const classified =
  (name: string, globalDefault: boolean, over: object = {}) =>
  () =>
    priority(world.server).validate?.({
      operation: 'create',
      definition,
      namespace: '',
      name,
      subresource: '',
      user: { name: 'u', groups: [] },
      object: { metadata: { name }, globalDefault } as unknown as KubeObject,
      ...over,
    });

test('a second default class is refused', () => {
  assert.doesNotThrow(classified('usual', true));
  world.add('usual', { value: 20, globalDefault: true });
  const refused = {
    message:
      'priorityclasses.scheduling.k8s.io "mine" is forbidden: PriorityClass usual is already marked as default. Only one default can exist',
  };
  assert.throws(classified('mine', true), refused);
  assert.throws(classified('mine', true, { operation: 'update' }), refused);
  assert.doesNotThrow(classified('mine', false));
  assert.doesNotThrow(classified('usual', true, { operation: 'update' }));
  assert.throws(classified('usual', true), /already marked/);
  assert.doesNotThrow(classified('mine', true, { definition: { ...definition, plural: 'others' } }));
});
