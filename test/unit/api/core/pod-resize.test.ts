/** Fields that pods/NAME/resize takes from the pod that it receives, and pods that it rejects. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mirrorAnnotation } from '../../../../src/api/core/v1/pod/annotations.ts';
import { resizePart } from '../../../../src/api/core/v1/pod/resize.ts';
import type { Container, Pod } from '../../../../src/api/core/v1/types.gen.ts';
import { container, type PodOptions, pod } from '../../controllers/objects.ts';

const amounts = (cpu: string, memory = '64Mi') => ({
  requests: { cpu, memory, 'ephemeral-storage': '1Gi' },
  limits: { cpu: '2', memory: '128Mi' },
});
const resources = amounts('1');
const made = (over: PodOptions = {}, ...containers: readonly Container[]): Pod => {
  const list = containers.length > 0 ? containers : [container({ resources })];
  return pod('p', { ...over, spec: { containers: [...list], ...over.spec } }) as Pod;
};

/** Returns the pod that is stored after `wanted` was sent. */
function taken(kept: Pod, wanted: Pod): Pod {
  const copy = structuredClone(kept);
  resizePart.take(copy, wanted);
  return copy;
}

describe('a sent resize of a pod', () => {
  it('uses only the resources and the resize policies of its containers', () => {
    const resizePolicy = [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }];
    const old = made({}, container({ resources }), container({ name: 'two', resources, resizePolicy }));
    const sent = made(
      { metadata: { labels: { taken: 'no' } }, spec: { nodeName: 'other' } },
      container({ name: 'two', image: 'other', resources: amounts('500m') }),
      container({ name: 'three' }),
      container({ image: 'other', resources: amounts('250m'), resizePolicy }),
    );
    const { spec, metadata } = taken(old, sent);
    assert.deepEqual([spec.nodeName, metadata.labels], ['n1', { app: 'web' }]);
    assert.deepEqual(
      spec.containers.map(({ name, image, resources: now, resizePolicy: policy }) => [
        ...[name, image, now?.requests?.cpu],
        policy,
      ]),
      [
        ['app', 'app:1', '250m', resizePolicy],
        ['two', 'app:1', '500m', undefined],
      ],
    );
  });
  it('leaves the pod unchanged if a container does not exist', () => {
    const old = made();
    assert.deepEqual(
      taken(old, made({}, container({ name: 'other' }))).spec.containers[0]?.resources,
      resources,
    );
  });
  it('increments the generation', () => assert.equal(resizePart.countsGeneration, true));
});

describe('a resize', () => {
  const running = (told: object | undefined): Partial<Pod> => ({
    status: {
      containerStatuses: [
        { name: 'x', image: '', imageID: '', ready: true, restartCount: 0, state: { waiting: {} } },
        {
          name: 'app',
          image: '',
          imageID: '',
          ready: true,
          restartCount: 0,
          state: { running: {} },
          resources: told,
        },
      ],
    },
  });
  const at = 'spec.containers[0].resources';
  const others = 'spec: Forbidden: only cpu and memory resources are mutable\nchanged:';
  const table: [what: string, wanted: object, old: Partial<Pod>, expected: string[]][] = [
    ['to more', amounts('2'), {}, []],
    ['to less', amounts('100m', '1Mi'), {}, []],
    ['of a pod on a node that supports it', amounts('2'), running({}), []],
    [
      'of a pod on a node that does not support it',
      amounts('2'),
      running(undefined),
      ['spec: Forbidden: Pod running on node without support for resize'],
    ],
    [
      'that would change the quality of service',
      {
        requests: { cpu: '2', memory: '128Mi', 'ephemeral-storage': '1Gi' },
        limits: { cpu: '2', memory: '128Mi' },
      },
      {},
      ['spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'],
    ],
    [
      'of a pod whose status has another quality of service',
      amounts('2'),
      { status: { qosClass: 'BestEffort' } },
      ['spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing'],
    ],
    [
      'of a resource that cannot change while the pod runs',
      { ...resources, requests: { ...resources.requests, 'ephemeral-storage': '2Gi' } },
      {},
      [`${others} ${at}.requests`],
    ],
    [
      'that removes a request',
      { ...resources, requests: { cpu: '1', memory: '64Mi' } },
      {},
      [`${at}.requests: Forbidden: resource requests cannot be removed`, `${others} ${at}.requests`],
    ],
    [
      'that removes a request which defaults to its limit',
      { ...resources, requests: { cpu: '1', 'ephemeral-storage': '1Gi' } },
      {},
      [],
    ],
    [
      'that removes a limit',
      { ...resources, limits: { memory: '128Mi' } },
      {},
      [`${at}.limits: Forbidden: resource limits cannot be removed`],
    ],
    [
      'of a pod with pod-level resources',
      amounts('2'),
      { spec: { resources: { limits: { cpu: '3' } } } as never },
      [': Forbidden: pods with pod-level resources cannot be resized'],
    ],
    ['of a pod with empty pod-level resources', amounts('2'), { spec: { resources: {} } as never }, []],
    [
      'of a static pod',
      amounts('2'),
      { metadata: { annotations: { [mirrorAnnotation]: 'x' } } as never },
      [': Forbidden: static pods cannot be resized'],
    ],
    [
      'of a pod for Windows',
      amounts('2'),
      { spec: { os: { name: 'windows' } } as never },
      [': Forbidden: windows pods cannot be resized'],
    ],
    ['of a pod for Linux', amounts('2'), { spec: { os: { name: 'linux' } } as never }, []],
    [
      'to a request above the limit',
      amounts('3'),
      {},
      [`${at}.requests: Invalid value: "3": must be less than or equal to cpu limit of 2`],
    ],
  ];
  for (const [what, wanted, over, expected] of table)
    it(what, () => {
      const base = made();
      const old: Pod = {
        ...base,
        metadata: { ...base.metadata, ...over.metadata },
        spec: { ...base.spec, ...over.spec },
        status: { ...over.status },
      };
      const now = taken(old, {
        ...old,
        spec: { ...old.spec, containers: [container({ resources: wanted })] },
      });
      const causes = resizePart.validate?.(now, old) ?? [];
      assert.deepEqual(
        causes.map(({ field, message }) => `${field}: ${message}`),
        expected,
      );
    });
});
