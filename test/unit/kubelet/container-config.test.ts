/** The small decisions behind one container: image, resources, security, volumes, names. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerArgv, isImageName, pullDecision } from '../../../src/kubelet/plan/image.ts';
import { renderResolvConf } from '../../../src/kubelet/plan/pod-dns.ts';
import { containerResources, cpuShares, qosClass } from '../../../src/kubelet/plan/resources.ts';
import { containerMounts, memoryVolumeBytes, volumePlan } from '../../../src/kubelet/plan/volumes.ts';
import { makePod } from './builders.ts';

const GiB = 2 ** 30;

describe('image', () => {
  for (const name of [
    'nginx',
    'nginx:1.27',
    'a/b/c:x',
    'host:5000/a_b/c-d:1',
    `x@sha256:${'a'.repeat(64)}`,
    'ghcr.io/a/b:v1',
    '127.0.0.1:1/x',
  ]) {
    it(`${name} is a name`, () => assert.ok(isImageName(name)));
  }
  for (const name of ['', 'Nginx', 'a b', 'a:', ':1', 'a//b', '-a', 'a:b c', 'http://x/y']) {
    it(`${JSON.stringify(name)} is none`, () => assert.ok(!isImageName(name)));
  }

  for (const [image, policy, present, decision] of [
    ['a', undefined, true, 'pull'],
    ['a:latest', undefined, true, 'pull'],
    ['a:1', undefined, true, 'use'],
    ['a:1', undefined, false, 'pull'],
    ['host:5000/a', undefined, true, 'pull'],
    ['a:1', 'Always', true, 'pull'],
    ['a', 'IfNotPresent', true, 'use'],
    ['a', 'Never', false, 'never'],
    ['a', 'Never', true, 'use'],
  ] as const) {
    it(`${image} ${policy ?? 'by default'}, ${present ? 'present' : 'absent'}: ${decision}`, () => {
      assert.equal(pullDecision({ image, imagePullPolicy: policy }, present), decision);
    });
  }

  const image = { entrypoint: ['/entry'], command: ['default'] };
  for (const [container, argv] of [
    [{}, ['/entry', 'default']],
    [{ args: ['x'] }, ['/entry', 'x']],
    [{ command: ['/own'] }, ['/own']],
    [{ command: ['/own'], args: ['x'] }, ['/own', 'x']],
  ] as const) {
    it(`command line of ${JSON.stringify(container)}`, () => {
      assert.deepEqual(containerArgv(container, image), argv);
    });
  }
});

describe('resources', () => {
  const resources = (limits?: object, requests?: object) =>
    makePod({ containers: [{ name: 'main', image: 'a', resources: { limits, requests } }] });
  const of = (limits?: object, requests?: object) => {
    const pod = resources(limits, requests);
    const [container] = pod.spec.containers;
    assert.ok(container);
    return containerResources(container, qosClass(pod), 10 * GiB);
  };

  it('turns thousandths of a CPU into what the engine takes', () => {
    assert.equal(of({ cpu: '700m' }).nanoCpus, 700_000_000);
    assert.equal(of({ cpu: '2' }).nanoCpus, 2_000_000_000);
    assert.equal(of({ cpu: '1m' }).nanoCpus, 1_000_000);
    assert.equal(of({}, { cpu: '500m' }).nanoCpus, 0);
  });
  it('weighs by the request, by the limit without one, and never below the kernel’s least', () => {
    assert.equal(of({}, { cpu: '500m' }).cpuShares, 512);
    assert.equal(of({ cpu: '2' }).cpuShares, 2048);
    assert.equal(of().cpuShares, 2);
    assert.equal(cpuShares(10_000_000), 262_144);
  });
  it('limits memory only when asked to', () => {
    assert.equal(of({ memory: '64Mi' }).memory, 64 * 2 ** 20);
    assert.equal(of({}, { memory: '64Mi' }).memory, 0);
  });
  it('sets who goes first when memory is short', () => {
    assert.equal(of().oomScoreAdj, 1000);
    assert.equal(of({ cpu: '1', memory: '1Gi' }).oomScoreAdj, -997);
    assert.equal(of({}, { memory: '1Gi' }).oomScoreAdj, 900);
    assert.equal(of({}, { memory: '10Gi' }).oomScoreAdj, 3);
  });
  for (const [limits, requests, qos] of [
    [undefined, undefined, 'BestEffort'],
    [{ cpu: '1' }, undefined, 'Burstable'],
    [{ cpu: '1', memory: '1Gi' }, undefined, 'Guaranteed'],
    [{ cpu: '1', memory: '1Gi' }, { cpu: '1000m', memory: '1024Mi' }, 'Guaranteed'],
    [{ cpu: '1', memory: '1Gi' }, { cpu: '500m' }, 'Burstable'],
    [undefined, { memory: '1' }, 'Burstable'],
  ] as const) {
    it(`${JSON.stringify(limits)} ${JSON.stringify(requests)} is ${qos}`, () => {
      assert.equal(qosClass(resources(limits, requests)), qos);
    });
  }
});

describe('volumes', () => {
  it('are directories, memory or the host’s own paths', () => {
    assert.deepEqual(volumePlan({ name: 'v' }, '/p'), { type: 'directory', path: '/p/volumes/v' });
    assert.deepEqual(volumePlan({ name: 'v', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } }, '/p'), {
      type: 'tmpfs',
      path: '/p/volumes/v',
      sizeLimit: '1Mi',
    });
    assert.deepEqual(volumePlan({ name: 'v', hostPath: { path: '/h', type: 'File' } }, '/p'), {
      type: 'hostPath',
      path: '/h',
      check: 'File',
    });
  });
  it('of other kinds are refused by name', () => {
    const claim = { name: 'v', persistentVolumeClaim: { claimName: 'c' } };
    assert.throws(
      () => volumePlan(claim, '/p'),
      /volume "v": persistentVolumeClaim is not supported; use emptyDir or hostPath/,
    );
    assert.throws(
      () => volumePlan({ name: 'v', emptyDir: { medium: 'HugePages' } }, '/p'),
      /emptyDir.medium HugePages is not supported/,
    );
    assert.throws(
      () => volumePlan({ name: 'v', hostPath: { path: '/h', type: 'Disk' as 'File' } }, '/p'),
      /hostPath.type Disk is unknown/,
    );
  });

  const mounts = (mount: object, env: Record<string, string> = {}) => {
    const pod = makePod({
      volumes: [{ name: 'v', emptyDir: {} }],
      containers: [{ name: 'main', image: 'a', volumeMounts: [{ name: 'v', mountPath: '/m', ...mount }] }],
    });
    const [container] = pod.spec.containers;
    assert.ok(container);
    return containerMounts(pod, container, '/p', new Map(Object.entries(env)));
  };
  const part = (subPath: string) => ({ part: { volume: 'v', subPath, index: 0 } });
  const whole = { source: '/p/volumes/v', target: '/m', readOnly: false };
  it('are mounted whole or in part', () => {
    assert.deepEqual(mounts({ readOnly: true }), [{ ...whole, readOnly: true }]);
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
  ] as const) {
    it(`are never left, nor guessed: ${JSON.stringify([mount, env])}`, () => {
      assert.throws(() => mounts(mount, env), { name: 'ContainerConfigError', message });
    });
  }
  it('have to be there', () => {
    assert.throws(() => mounts({ name: 'w' }), /mounts volume "w", but the pod has no volume of that name/);
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
  ] as const) {
    it(`in memory are bounded: limits ${JSON.stringify(limits)}, sizeLimit ${sizeLimit}`, () => {
      const containers = (limits.length > 0 ? limits : [undefined]).map((memory, index) => ({
        name: `c${index}`,
        image: 'a',
        resources: { ...(memory && { limits: { memory } }) },
      }));
      assert.equal(memoryVolumeBytes(makePod({ containers }), sizeLimit, 8 * GiB), bytes);
    });
  }
});

describe('names of others', () => {
  const facts = {
    clusterDNS: '10.96.0.10',
    clusterDomain: 'cluster.local',
    hostResolvConf: 'search corp.example\nnameserver 9.9.9.9\n',
  };
  const text = (spec: Parameters<typeof makePod>[0], more: object = {}) =>
    renderResolvConf(makePod(spec), { ...facts, ...more }).text;
  it('are resolved by the cluster first', () => {
    assert.equal(
      text({}),
      'search shop.svc.cluster.local svc.cluster.local cluster.local corp.example\nnameserver 10.96.0.10\noptions ndots:5\n',
    );
  });
  for (const [spec, more] of [
    [{ dnsPolicy: 'Default' }, {}],
    [{ hostNetwork: true }, {}],
    [{}, { clusterDNS: undefined }],
  ] as const) {
    it(`are resolved as the host does for ${JSON.stringify([spec, more])}`, () => {
      assert.equal(text(spec, more), facts.hostResolvConf);
    });
  }
  it('are resolved by the cluster in the host network when that is asked for', () => {
    assert.match(
      text({ hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
      /^nameserver 10.96.0.10$/m,
    );
  });
  it('are resolved as the pod says and no other way under None', () => {
    const dnsConfig = {
      nameservers: ['192.0.2.1'],
      searches: ['a.example', 'b.example'],
      options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
    };
    assert.equal(
      text({ dnsPolicy: 'None', dnsConfig }),
      'search a.example b.example\nnameserver 192.0.2.1\noptions ndots:2 edns0\n',
    );
  });
  it('take what the pod adds to its policy, where the pod’s options win', () => {
    const dnsConfig = {
      nameservers: ['192.0.2.1', '10.96.0.10'],
      searches: ['b.example', 'corp.example'],
      options: [{ name: 'ndots', value: '1' }],
    };
    assert.equal(
      text({ dnsConfig }),
      'search shop.svc.cluster.local svc.cluster.local cluster.local corp.example b.example\nnameserver 10.96.0.10\nnameserver 192.0.2.1\noptions ndots:1\n',
    );
  });
  it('are cut to what resolvers read, with a warning', () => {
    const dnsConfig = {
      nameservers: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
      searches: Array.from({ length: 32 }, (_, n) => `s${n}.example`),
    };
    const { text, warnings } = renderResolvConf(makePod({ dnsConfig }), facts);
    const [search = '', ...servers] = text.split('\n');
    assert.deepEqual(
      servers.filter((line) => line.startsWith('nameserver')),
      ['nameserver 10.96.0.10', 'nameserver 192.0.2.1', 'nameserver 192.0.2.2'],
    );
    assert.equal(search.split(' ').length - 1, 32);
    assert.match(search, / s27\.example$/);
    assert.deepEqual(warnings, [
      'Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 10.96.0.10 192.0.2.1 192.0.2.2',
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${search.slice('search '.length)}`,
    ]);
  });
});
