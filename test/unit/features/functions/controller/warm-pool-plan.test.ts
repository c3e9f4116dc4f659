/** Number of waiting instances, and the functions that they can be assigned to. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { sha256 } from '../../../../../src/base/sha256.ts';
import type { FunctionVersion } from '../../../../../src/features/functions/api/function-version.ts';
import { warmProblem, warmVersion } from '../../../../../src/features/functions/api/warm-instance.ts';
import {
  fitting,
  planPool,
  roomyNodes,
} from '../../../../../src/features/functions/controller/warm-pool-plan.ts';

const now = Date.parse('2026-01-01T00:01:00Z');
const pool = warmVersion('default', 'python', 'python:3', sha256);
const version = (spec: object = {}): FunctionVersion =>
  ({
    metadata: { name: 'f-1', namespace: 'default' },
    spec: {
      function: 'f',
      runtime: 'python',
      baseImage: 'python:3',
      handler: 'main.handler',
      timeoutSeconds: 30,
      concurrency: 10,
      files: { 'main.py': '' },
      ...spec,
    },
  }) as unknown as FunctionVersion;

interface Shape {
  readonly phase?: string;
  readonly age?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly running?: boolean;
}
let made = 0;
const pod = ({ phase = 'Running', age = 10, labels = {}, running = true }: Shape = {}): Pod =>
  ({
    metadata: {
      name: `p${made++}`,
      creationTimestamp: new Date(now - age * 1000).toISOString(),
      labels: {
        'minik8s.io/warm': 'python',
        'minik8s.io/function-version': pool.metadata.name,
        ...labels,
      },
    },
    spec: { containers: [{ name: 'function', image: pool.spec.image }] },
    status: { phase, containerStatuses: [{ state: running ? { running: {} } : { waiting: {} } }] },
  }) as unknown as Pod;

describe('a pool', () => {
  const plan = (pods: readonly Pod[], size = 2, name: string | undefined = pool.metadata.name) =>
    planPool({ size, pods, version: name, now });

  it('is filled up', () => {
    assert.equal(plan([]).create, 2);
    assert.equal(plan([pod(), pod({ phase: 'Pending', running: false })]).create, 0);
  });
  it('loses the youngest if there are too many', () => {
    const [old, young] = [pod({ age: 100 }), pod({ age: 1 })];
    assert.deepEqual(plan([young, old], 1).remove, [young]);
  });
  it('is removed if it is unused or has another image', () => {
    const one = pod();
    assert.deepEqual(planPool({ size: 2, pods: [one], version: undefined, now }), {
      create: 0,
      remove: [one],
      again: undefined,
    });
    const other = pod({ labels: { 'minik8s.io/function-version': 'warm-python-old' } });
    assert.deepEqual([plan([other]).create, plan([other]).remove], [2, [other]]);
  });
  it('is not filled up right after an instance was assigned, which needs the processor', () => {
    const given = (age: number) => {
      const one = pod({ labels: { 'minik8s.io/function': 'f' } });
      const annotations = { 'minik8s.io/given-at': new Date(now - age).toISOString() };
      return { ...one, metadata: { ...one.metadata, annotations } };
    };
    const just = plan([pod(), given(1000)]);
    assert.deepEqual([just.create, just.again], [0, 2000]);
    assert.deepEqual([plan([pod(), given(2999)]).create, plan([pod(), given(2999)]).again], [0, 1]);
    assert.equal(plan([pod(), pod(), given(1000)]).again, undefined, 'none is missing');
    const later = plan([pod(), given(3000)]);
    assert.deepEqual([later.create, later.again, later.remove], [1, undefined, []]);
  });
  it('does not replace a failed instance at once', () => {
    const failed = pod({ phase: 'Failed', age: 10 });
    const fresh = plan([failed], 1);
    assert.deepEqual([fresh.create, fresh.remove, fresh.again], [0, [], 20_000]);
    const later = plan([pod({ phase: 'Failed', age: 40 })], 1);
    assert.deepEqual([later.create, later.remove.length, later.again], [1, 1, undefined]);
  });
});

describe('an instance that waits', () => {
  it('is suitable for a version of its runtime and image, and is assigned once', () => {
    const [young, old] = [pod({ age: 1 }), pod({ age: 9 })];
    const given = pod({ labels: { 'minik8s.io/function': 'g' } });
    const starting = pod({ running: false });
    const plain = pod({ labels: { 'minik8s.io/warm': undefined } as unknown as Record<string, string> });
    assert.deepEqual(fitting([young, old, given, starting, plain], version(), sha256), [old, young]);
    assert.deepEqual(fitting([young], version({ baseImage: 'python:4' }), sha256), []);
    assert.deepEqual(fitting([young], version({ runtime: 'nodejs' }), sha256), []);
  });
  it('is never a pod that a node has created itself, even with the labels', () => {
    const one = pod();
    const controller = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u', controller: true };
    const mirror = { ...one, metadata: { ...one.metadata, ownerReferences: [controller] } };
    const other = { ...one, spec: { containers: [{ name: 'function', image: 'mine:1' }] } } as unknown as Pod;
    assert.deepEqual(fitting([mirror, other], version(), sha256), []);
  });
  const refused: readonly (readonly [string, object])[] = [
    ['it has an image of its own', { runtime: undefined, baseImage: undefined, image: 'app:1' }],
    ['its libraries are in its image (requirements.txt)', { files: { 'requirements.txt': 'six' } }],
    ['it has resources of its own', { resources: { limits: { memory: '64Mi' } } }],
    [
      'its environment is read when a container is made',
      { env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] },
    ],
    ['its environment is read when a container is made', { env: [{ name: 'A', value: 'x$(PORT)' }] }],
    ['its calls may take more than 30 seconds', { timeoutSeconds: 31 }],
  ];
  for (const [why, spec] of refused)
    it(`is not assigned to a version because ${why}`, () => {
      assert.equal(warmProblem(version(spec)), why);
      assert.deepEqual(fitting([pod()], version(spec), sha256), []);
    });
  it('has one image in each namespace', () => {
    const other = warmVersion('other', 'python', 'python:3', sha256);
    assert.match(pool.spec.image ?? '', /^minik8s\.function\/default\/warm-python:[0-9a-f]{32}$/);
    assert.notEqual(other.spec.image, pool.spec.image);
  });
});

it('nodes with less than two processors or 2 GiB are small', () => {
  const node = (name: string, cpu: string, memory: string, spec = {}): Node =>
    ({ metadata: { name }, spec, status: { capacity: { cpu, memory } } }) as unknown as Node;
  const nodes = [
    node('b', '2', '2Gi'),
    node('a', '16', '64Gi'),
    node('slow', '1', '64Gi'),
    node('small', '8', '2000Mi'),
    node('closed', '8', '8Gi', { unschedulable: true }),
  ];
  const unknown = { metadata: { name: 'new' }, status: {} } as unknown as Node;
  assert.deepEqual(roomyNodes([...nodes, unknown]), ['a', 'b']);
});

it('nodes with room are named by the host name that pods select', () => {
  const node = {
    metadata: { name: 'n1', labels: { 'kubernetes.io/hostname': 'machine' } },
    status: { capacity: { cpu: '4', memory: '8Gi' } },
  } as unknown as Node;
  assert.deepEqual(roomyNodes([node]), ['machine']);
});
