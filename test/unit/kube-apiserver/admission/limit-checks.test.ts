/** Defaults of a LimitRange, and the messages with which it rejects a pod or a claim. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LimitRange } from '../../../../src/api/core/v1/limit-range.ts';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { PersistentVolumeClaim } from '../../../../src/api/core/v1/types.gen.ts';
import {
  claimProblems,
  giveDefaults,
  podProblems,
} from '../../../../src/kube-apiserver/admission/limit-checks.ts';

const rangeOf = (...limits: object[]) => ({ spec: { limits } }) as unknown as LimitRange;
const container = (name: string, resources: object = {}, over: object = {}) => ({ name, resources, ...over });
const podOf = (containers: object[], initContainers: object[] = []) =>
  ({ metadata: { name: 'p' }, spec: { containers, initContainers } }) as unknown as Pod;
const both = (amounts: object) => ({ requests: amounts, limits: amounts });
const sidecar = { restartPolicy: 'Always' };

describe('the defaults of a range', () => {
  const range = rangeOf(
    { type: 'Pod', max: { cpu: '9' } },
    { type: 'Container', default: { memory: '2', cpu: '1' }, defaultRequest: { memory: '1', cpu: '500m' } },
  );

  it('fill in the missing fields of a container, and list them', () => {
    const pod = podOf([container('a'), container('b', both({ cpu: '3' }))], [container('i')]);
    giveDefaults(pod, range);
    const all = { requests: { memory: '1', cpu: '500m' }, limits: { memory: '2', cpu: '1' } };
    const { containers, initContainers = [] } = pod.spec;
    assert.deepEqual(
      [...containers, ...initContainers].map(({ resources }) => resources),
      [all, { requests: { memory: '1', cpu: '3' }, limits: { memory: '2', cpu: '3' } }, all],
    );
    const given = [
      'cpu, memory request for container a',
      'cpu, memory limit for container a',
      'memory request for container b',
      'memory limit for container b',
      'cpu, memory request for init container i',
      'cpu, memory limit for init container i',
    ];
    assert.deepEqual(pod.metadata.annotations, {
      'kubernetes.io/limit-ranger': `LimitRanger plugin set: ${given.join('; ')}`,
    });
  });

  it('leave a complete pod unchanged', () => {
    const pod = podOf([container('a', both({ cpu: '1', memory: '1' }))]);
    giveDefaults(pod, range);
    assert.deepEqual(pod, podOf([container('a', both({ cpu: '1', memory: '1' }))]));
    giveDefaults(pod, rangeOf({ type: 'Container', max: { cpu: '1' } }));
    assert.equal(pod.metadata.annotations, undefined);
  });
});

describe('a pod', () => {
  const bounds = { type: 'Container', min: { cpu: '100m' }, max: { cpu: '1' } };
  const ratio = { type: 'Container', maxLimitRequestRatio: { cpu: '1500m' } };
  const rule = 'cpu max limit to request ratio per Container is 1500m';
  const ofPod = { type: 'Pod', max: { cpu: '2500m' } };
  const cases: readonly (readonly [string, object, Pod, string[]])[] = [
    [
      'on both bounds',
      bounds,
      podOf([container('a', { requests: { cpu: '0.1' }, limits: { cpu: '1' } })]),
      [],
    ],
    [
      'without requests and limits',
      bounds,
      podOf([container('a')]),
      [
        'minimum cpu usage per Container is 100m.  No request is specified',
        'maximum cpu usage per Container is 1.  No limit is specified',
      ],
    ],
    [
      'with requests below the minimum in two containers',
      bounds,
      podOf([container('a', both({ cpu: '99m' })), container('b', both({ cpu: '99m' }))]),
      ['minimum cpu usage per Container is 100m, but request is 99m'],
    ],
    [
      'with a limit below the minimum',
      bounds,
      podOf([container('a', { requests: { cpu: '100m' }, limits: { cpu: '50m' } })]),
      ['minimum cpu usage per Container is 100m, but limit is 50m'],
    ],
    [
      'with a limit above the maximum in an init container',
      bounds,
      podOf([container('a', both({ cpu: '1' }))], [container('i', both({ cpu: '1001m' }))]),
      ['maximum cpu usage per Container is 1, but limit is 1001m'],
    ],
    [
      'with a request above the maximum',
      bounds,
      podOf([container('a', { requests: { cpu: '2' }, limits: { cpu: '1' } })]),
      ['maximum cpu usage per Container is 1, but request is 2'],
    ],
    [
      'with exactly the maximum ratio',
      ratio,
      podOf([container('a', { requests: { cpu: '2' }, limits: { cpu: '3' } })]),
      [],
    ],
    [
      'with a greater ratio',
      ratio,
      podOf([container('a', { requests: { cpu: '1' }, limits: { cpu: '2' } })]),
      [`${rule}, but provided ratio is 2.000000`],
    ],
    [
      'without a request for a ratio',
      ratio,
      podOf([container('a', { requests: { cpu: '0' }, limits: { cpu: '2' } })]),
      [`${rule}, but no request is specified or request is 0`],
    ],
    [
      'without a limit for a ratio',
      ratio,
      podOf([container('a', { requests: { cpu: '1' } })]),
      [`${rule}, but no limit is specified or limit is 0`],
    ],
    [
      'whose containers exceed the maximum together',
      ofPod,
      podOf([container('a', both({ cpu: '1' })), container('b', both({ cpu: '1600m' }))]),
      ['maximum cpu usage per Pod is 2500m, but limit is 2600m'],
    ],
    [
      'whose init containers run one after another',
      ofPod,
      podOf(
        [container('a', both({ cpu: '1' }))],
        [container('i', both({ cpu: '2' })), container('j', both({ cpu: '2' }))],
      ),
      [],
    ],
    [
      'whose init container exceeds the maximum together with an earlier sidecar',
      ofPod,
      podOf(
        [container('a', both({ cpu: '1' }))],
        [container('s', both({ cpu: '1' }), sidecar), container('i', both({ cpu: '2' }))],
      ),
      ['maximum cpu usage per Pod is 2500m, but limit is 3'],
    ],
    [
      'whose sidecars and containers exceed the maximum together',
      ofPod,
      podOf([container('a', both({ cpu: '2' }))], [container('s', both({ cpu: '1' }), sidecar)]),
      ['maximum cpu usage per Pod is 2500m, but limit is 3'],
    ],
    [
      'in the namespace of a range for claims',
      { type: 'PersistentVolumeClaim', min: { storage: '1' } },
      podOf([]),
      [],
    ],
  ];
  for (const [title, item, pod, problems] of cases)
    it(`${title} is ${problems.length === 0 ? 'accepted' : 'rejected'}`, () => {
      assert.deepEqual(podProblems(pod, rangeOf(item)), problems);
    });
});

describe('a claim', () => {
  const range = rangeOf(
    { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '2Gi' } },
    { type: 'Pod' },
  );
  const claim = (requests?: object) =>
    ({ spec: { resources: { requests } } }) as unknown as PersistentVolumeClaim;
  const [least, most] = ['minimum', 'maximum'].map(
    (bound) => `${bound} storage usage per PersistentVolumeClaim is`,
  );
  for (const [title, requests, problems] of [
    ['within the bounds', { storage: '2Gi' }, []],
    ['below', { storage: '1023Mi' }, [`${least} 1Gi, but request is 1023Mi`]],
    ['above', { storage: '3Gi' }, [`${most} 2Gi, but request is 3Gi`]],
    [
      'without a size',
      undefined,
      [`${least} 1Gi.  No request is specified`, `${most} 2Gi.  No request is specified`],
    ],
  ] as const)
    it(title, () => {
      assert.deepEqual(claimProblems(claim(requests), range), problems);
    });
});
