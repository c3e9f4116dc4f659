/** Paths of a pod's volumes, their maximum sizes, and the mounts of a container. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kindOf } from '../../../../../src/kubelet/volumes/kinds/index.ts';
import {
  containerImageMounts,
  containerMounts,
  limitedVolumes,
  memoryVolumeBytes,
  mountedVolumes,
  type PlaceOf,
} from '../../../../../src/kubelet/volumes/plan/volumes.ts';
import { makePod } from '../../builders.ts';

const GiB = 2 ** 30;

const refused = (message: RegExp) => ({ name: 'ContainerConfigError', message });

const placeOf: PlaceOf = (volume) => kindOf(volume)?.place(volume, '/p') ?? assert.fail(volume.name);

describe('volumes', () => {
  it('are directories of the pod, or paths of the host', () => {
    const own = { path: '/p/volumes/v', readOnly: false, isAtomic: false };
    assert.deepEqual(placeOf({ name: 'v' }), own);
    assert.deepEqual(placeOf({ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }), own);
    assert.deepEqual(placeOf({ name: 'v', hostPath: { path: '/h', type: 'File' } }), { ...own, path: '/h' });
  });
  it('of unsupported kinds are not recognised', () => {
    const claim = { name: 'v', csi: { driver: 'c' } };
    // A supported source beside an unsupported one is not used either.
    for (const volume of [
      claim,
      { ...claim, emptyDir: {} },
      { name: 'v', emptyDir: { medium: 'HugePages' } },
    ])
      assert.equal(kindOf(volume), undefined);
  });
  it('are made if a container of any type mounts them', () => {
    const container = (name: string) => ({ name, image: 'a', volumeMounts: [{ name, mountPath: '/m' }] });
    const pod = makePod({
      volumes: ['i', 'c', 'e', 'x'].map((name) => ({ name })),
      initContainers: [container('i')],
      containers: [container('c'), { name: 'without', image: 'a' }],
      ephemeralContainers: [container('e')],
    });
    assert.deepEqual([...mountedVolumes(pod)].sort(), ['c', 'e', 'i']);
    const { initContainers: _, ...spec } = pod.spec;
    assert.deepEqual([...mountedVolumes({ ...pod, spec })].sort(), ['c', 'e']);
  });

  const mounts = (mount: object, env: Record<string, string> = {}) => {
    const pod = makePod({
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [{ name: 'main', image: 'a', volumeMounts: [{ name: 'v', mountPath: '/m', ...mount }] }],
    });
    const [container] = pod.spec.containers;
    assert.ok(container);
    return containerMounts(pod, container, placeOf, new Map(Object.entries(env)));
  };
  const part = (subPath: string) => ({ part: { volume: 'v', isAtomic: false, subPath, index: 0 } });
  const whole = { source: '/p/volumes/v', target: '/m', readOnly: false };
  it('are mounted whole or in part', () => {
    assert.deepEqual(mounts({ mountPath: 'data' }), [{ ...whole, target: '/data' }]);
    assert.deepEqual(mounts({ readOnly: true }), [{ ...whole, readOnly: true }]);
    for (const recursiveReadOnly of ['Enabled', 'IfPossible'])
      assert.deepEqual(mounts({ readOnly: true, recursiveReadOnly }), [
        { ...whole, readOnly: true, recursiveReadOnly },
      ]);
    assert.deepEqual(mounts({ mountPropagation: 'HostToContainer' }), [
      { ...whole, propagation: 'HostToContainer' },
    ]);
    assert.deepEqual(mounts({ recursiveReadOnly: 'Disabled', mountPropagation: 'None' }), [whole]);
    assert.deepEqual(mounts({ subPath: 'a/b' }), [{ ...whole, ...part('a/b') }]);
    assert.deepEqual(mounts({ subPathExpr: 'x/$(A)$$' }, { A: '1' }), [{ ...whole, ...part('x/1$') }]);
  });
  for (const [mount, env, message] of [
    [{ subPath: '..' }, {}, "unable to provision SubPath `..`: must not contain '..'"],
    [{ subPath: 'a/../../b' }, {}, "unable to provision SubPath `a/../../b`: must not contain '..'"],
    [{ subPath: '/etc' }, {}, 'error SubPath `/etc` must not be an absolute path'],
    [{ subPathExpr: '$(A)' }, { A: '/tmp' }, 'error SubPath `/tmp` must not be an absolute path'],
    [{ subPathExpr: 'x/$(A)' }, { A: '..' }, "unable to provision SubPath `x/..`: must not contain '..'"],
    [{ subPathExpr: '$(B)/$(A)' }, { B: '' }, 'missing value for A, B'],
    [{ subPathExpr: 'x/$(A)' }, {}, 'missing value for A'],
  ] as const) {
    it(`are refused with an invalid subPath: ${JSON.stringify([mount, env])}`, () => {
      assert.throws(() => mounts(mount, env), { name: 'ContainerConfigError', message });
    });
  }
  it('must be listed in the pod if a container mounts them', () => {
    assert.throws(
      () => mounts({ name: 'w' }),
      refused(/^container main mounts volume "w", but the pod has no/),
    );
    const pod = makePod({
      containers: [{ name: 'main', image: 'a', volumeMounts: [{ name: 'v', mountPath: '/m' }] }],
    });
    const [container] = pod.spec.containers;
    assert.ok(container);
    assert.throws(
      () => containerMounts(pod, container, placeOf, new Map()),
      refused(/has no volume of that name/),
    );
  });
  it('from the API are read-only, and their parts are behind a link', () => {
    const mountsOf = (volume: object, mount: object = {}) => {
      const pod = makePod({
        volumes: [{ name: 'v', ...volume }],
        containers: [{ name: 'main', image: 'a', volumeMounts: [{ name: 'v', mountPath: '/m', ...mount }] }],
      });
      const [container] = pod.spec.containers;
      assert.ok(container);
      return containerMounts(pod, container, placeOf, new Map());
    };
    for (const volume of [
      { projected: { sources: [] } },
      { configMap: { name: 'c' } },
      { secret: { secretName: 's' } },
      { downwardAPI: { items: [] } },
    ]) {
      assert.deepEqual(mountsOf(volume, { readOnly: false }), [{ ...whole, readOnly: true }]);
      const [{ part: found } = {}] = mountsOf(volume, { subPath: 'a' });
      assert.deepEqual(found, { volume: 'v', isAtomic: true, subPath: 'a', index: 0 });
    }
  });
  it('from images are mounted separately, whole or in part', () => {
    const pod = makePod({
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'tools', image: { reference: 'tools:1' } },
      ],
      containers: [
        {
          name: 'main',
          image: 'a',
          volumeMounts: [
            { name: 'tools', mountPath: '/a' },
            { name: 'v', mountPath: '/m' },
            { name: 'tools', mountPath: '/b', subPathExpr: 'of/$(WHO)', readOnly: false },
          ],
        },
      ],
    });
    const [container] = pod.spec.containers;
    assert.ok(container);
    const env = new Map([['WHO', 'me']]);
    assert.deepEqual(containerMounts(pod, container, placeOf, env), [whole]);
    const images = new Map([['tools', { id: 'sha256:1' }]]);
    assert.deepEqual(containerImageMounts(container, images, env), [
      { imageId: 'sha256:1', target: '/a', subPath: '' },
      { imageId: 'sha256:1', target: '/b', subPath: 'of/me' },
    ]);
    assert.throws(
      () => containerImageMounts(container, images, new Map()),
      refused(/^missing value for WHO$/),
    );
  });
  it('may be mounted several times or not at all', () => {
    const mountsOf = (volumeMounts?: readonly object[]) => {
      const pod = makePod({
        volumes: [
          { name: 'v', emptyDir: {} },
          { name: 'host', hostPath: { path: '/h' } },
        ],
        containers: [{ name: 'main', image: 'a', ...(volumeMounts && { volumeMounts }) }],
      });
      const [container] = pod.spec.containers;
      assert.ok(container);
      return containerMounts(pod, container, placeOf, new Map());
    };
    assert.deepEqual(mountsOf(), []);
    const [first, second] = [
      { name: 'host', mountPath: '/a' },
      { name: 'v', mountPath: '/b', subPath: 'x' },
    ];
    assert.deepEqual(mountsOf([first, second]), [
      { source: '/h', target: '/a', readOnly: false },
      {
        source: '/p/volumes/v',
        target: '/b',
        readOnly: false,
        part: { volume: 'v', isAtomic: false, subPath: 'x', index: 1 },
      },
    ]);
  });

  for (const [limits, sizeLimit, bytes] of [
    [[], undefined, 8 * GiB],
    [['1Gi'], undefined, GiB],
    [['1Gi', '2Gi'], undefined, 3 * GiB],
    [['1Gi', undefined], undefined, 8 * GiB],
    [['1Gi', undefined], '2Gi', 2 * GiB],
    [['1Gi'], '2Gi', GiB],
    [['1Gi'], '512Mi', GiB / 2],
    [['16Gi'], '0', 8 * GiB],
    [['1Gi', '0'], undefined, 8 * GiB],
    [['1Gi'], '1', 1],
  ] as const) {
    it(`in memory have ${bytes} bytes with limits ${JSON.stringify(limits)} and sizeLimit ${sizeLimit}`, () => {
      const containers = (limits.length > 0 ? limits : [undefined]).map((memory, index) => ({
        name: `c${index}`,
        image: 'a',
        resources: { ...(memory && { limits: { memory } }) },
      }));
      assert.equal(memoryVolumeBytes(makePod({ containers }), sizeLimit, 8 * GiB), bytes);
    });
  }
});

describe('volumes on disk that may not grow beyond a size', () => {
  const limited = (volumes?: readonly object[]) => limitedVolumes(makePod(volumes && { volumes }), '/p');
  const disk = (name: string, sizeLimit: string) => ({ name, emptyDir: { sizeLimit } });
  const of = (name: string, sizeLimit: string, limitBytes: number) => ({
    name,
    path: `/p/volumes/${name}`,
    sizeLimit,
    limitBytes,
  });

  it('are the emptyDirs with a limit', () => {
    assert.deepEqual(limited([disk('a', '1Mi'), disk('b', '1')]), [of('a', '1Mi', 2 ** 20), of('b', '1', 1)]);
  });

  it('are not measured if in memory, on the host, without a limit, or of an unsupported kind', () => {
    assert.deepEqual(limited(), []);
    const others = [
      { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
      { name: 'host', hostPath: { path: '/h' } },
      { name: 'free', emptyDir: {} },
      disk('nothing', '0'),
      { name: 'claim', persistentVolumeClaim: { claimName: 'c' } },
    ];
    assert.deepEqual(limited([...others, disk('a', '1Mi')]), [of('a', '1Mi', 2 ** 20)]);
  });
});
