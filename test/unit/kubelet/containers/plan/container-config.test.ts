/** The small decisions behind one container: its image and its resources. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isImageName } from '../../../../../src/api/core/v1/container/image-name.ts';
import { qosClassOf } from '../../../../../src/api/core/v1/pod/qos.ts';
import type { Container } from '../../../../../src/api/core/v1/types.gen.ts';
import { containerArgv, stopSignalOf } from '../../../../../src/kubelet/containers/plan/image.ts';
import {
  containerResources,
  cpuShares,
  oomScoreAdj,
} from '../../../../../src/kubelet/containers/plan/resources.ts';
import { pullDecision } from '../../../../../src/kubelet/images/plan/pull-decision.ts';
import { makePod } from '../../builders.ts';

const GiB = 2 ** 30;

describe('the image of a container', () => {
  for (const name of [
    'nginx',
    'nginx:1.27',
    'a/b/c:x',
    'host:5000/a_b/c-d:1',
    `x@sha256:${'a'.repeat(64)}`,
    'ghcr.io/a/b:v1',
    '127.0.0.1:1/x',
  ]) {
    it(`may be named ${name}`, () => assert.ok(isImageName(name)));
  }
  for (const name of ['', 'Nginx', 'a b', 'a:', ':1', 'a//b', '-a', 'a:b c', 'http://x/y']) {
    it(`may not be named ${JSON.stringify(name)}`, () => assert.ok(!isImageName(name)));
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
    ['a', 'IfNotPresent', false, 'pull'],
    ['app:1.27', undefined, true, 'use'],
    ['app:1.27', undefined, false, 'pull'],
    ['host:5000/app:1.27', undefined, true, 'use'],
    ['host:5000/app:latest', undefined, true, 'pull'],
    [`a@sha256:${'0'.repeat(64)}`, undefined, true, 'use'],
    // As Kubernetes' default is for a tag and a digest together.
    [`a:latest@sha256:${'0'.repeat(64)}`, undefined, true, 'pull'],
    [`a@sha256:${'0'.repeat(64)}`, undefined, false, 'pull'],
  ] as const) {
    it(`${image}, ${present ? 'present' : 'absent'}, with the pull policy ${policy ?? 'unset'}: the decision is ${decision}`, () => {
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
    it(`with ${JSON.stringify(container)} runs ${argv.join(' ')}`, () => {
      assert.deepEqual(containerArgv(container, image), argv);
    });
  }

  for (const [wanted, stopSignal, signal] of [
    [undefined, '', undefined],
    ['SIGUSR1', 'SIGQUIT', 'SIGUSR1'],
    [undefined, 'SIGQUIT', undefined],
    [undefined, 'quit', undefined],
    [undefined, '37', undefined],
    [undefined, 'SIGRTMIN+3', undefined],
    [undefined, 'SIGRTMIN+16', 'SIGTERM'],
    [undefined, 'FOO', 'SIGTERM'],
    [undefined, '0', 'SIGTERM'],
    [undefined, '65', 'SIGTERM'],
    [undefined, 'SIGSIGTERM', 'SIGTERM'],
    ['SIGUSR1', 'FOO', 'SIGUSR1'],
  ] as const) {
    it(`with stop signal ${JSON.stringify(stopSignal)}, and a container with ${wanted ?? 'none'}, give Docker ${signal ?? 'none'}`, () => {
      assert.equal(stopSignalOf(wanted, { stopSignal }), signal);
    });
  }
});

describe('the resources of a container', () => {
  const resources = (limits?: object, requests?: object) =>
    makePod({ containers: [{ name: 'main', image: 'a', resources: { limits, requests } }] });
  const of = (limits?: object, requests?: object) => {
    const pod = resources(limits, requests);
    const [container] = pod.spec.containers;
    assert.ok(container);
    return { ...containerResources(container), oomScoreAdj: oomScoreAdj(pod, container, 10 * GiB) };
  };

  it('limit its CPU in billionths of a CPU, the unit of Docker', () => {
    assert.equal(of({ cpu: '700m' }).nanoCpus, 700_000_000);
    assert.equal(of({ cpu: '2' }).nanoCpus, 2_000_000_000);
    assert.equal(of({ cpu: '1m' }).nanoCpus, 10_000_000, 'the minimum of the kernel');
    assert.equal(of({}, { cpu: '500m' }).nanoCpus, 0);
  });
  it('set its CPU shares from the request, else from the limit, within the bounds of the kernel', () => {
    assert.equal(of({}, { cpu: '500m' }).cpuShares, 512);
    assert.equal(of({ cpu: '2' }).cpuShares, 2048);
    assert.equal(of().cpuShares, 2);
    assert.equal(cpuShares(10_000_000), 262_144);
  });
  it('limit its memory only by a limit, not by a request', () => {
    assert.equal(of({ memory: '64Mi' }).memory, 64 * 2 ** 20);
    assert.equal(of({}, { memory: '64Mi' }).memory, 0);
  });
  it('set its OOM score, by which the kernel chooses what it kills when memory is short', () => {
    assert.equal(of().oomScoreAdj, 1000);
    assert.equal(of({ cpu: '1', memory: '1Gi' }).oomScoreAdj, -997);
    assert.equal(of({}, { memory: '1Gi' }).oomScoreAdj, 900);
    assert.equal(of({}, { memory: '10Gi' }).oomScoreAdj, 3);
    // The share of the limit counts when there is no request.
    assert.equal(of({ memory: '1Gi' }).oomScoreAdj, 900);
    // The score is never that of a pod without requests, and is not rounded up.
    assert.equal(of({}, { memory: '1' }).oomScoreAdj, 999);
    assert.equal(of({}, { memory: String(0.5995 * 10 * GiB) }).oomScoreAdj, 401);
  });
  it('leave the lowest OOM score to a pod of the class system-node-critical', () => {
    const score = (priorityClassName: string) => {
      const pod = makePod({ containers: [{ name: 'main', image: 'a' }], priorityClassName });
      return oomScoreAdj(pod, pod.spec.containers[0] as Container, 10 * GiB);
    };
    assert.equal(score('system-node-critical'), -997);
    assert.equal(score('system-cluster-critical'), 1000);
  });
  it('give a sidecar at most the OOM score of the main containers, and another init container its own score', () => {
    const asking = (name: string, memory?: string) => ({
      name,
      image: 'a',
      resources: { requests: { memory } },
    });
    const score = (restartPolicy?: string, memory = '1Mi') => {
      const containers = [asking('main', '2Gi'), asking('other', '1Gi')];
      const pod = makePod({ containers, initContainers: [{ ...asking('first', memory), restartPolicy }] });
      return oomScoreAdj(pod, pod.spec.initContainers?.[0] as Container, 10 * GiB);
    };
    assert.equal(score('Always'), 900);
    assert.equal(score('Always', '3Gi'), 700);
    assert.equal(score(), 999);
  });
  for (const [limits, requests, qos] of [
    [undefined, undefined, 'BestEffort'],
    [{ cpu: '1' }, undefined, 'Burstable'],
    [{ cpu: '1', memory: '1Gi' }, undefined, 'Guaranteed'],
    [{ cpu: '1', memory: '1Gi' }, { cpu: '1000m', memory: '1024Mi' }, 'Guaranteed'],
    [{ cpu: '1', memory: '1Gi' }, { cpu: '500m' }, 'Burstable'],
    [undefined, { memory: '1' }, 'Burstable'],
    [{ cpu: '1' }, { cpu: '0' }, 'Burstable'],
    [{ cpu: '0' }, { memory: '0' }, 'BestEffort'],
  ] as const) {
    it(`with the limits ${JSON.stringify(limits)} and requests ${JSON.stringify(requests)} make its pod ${qos}`, () => {
      assert.equal(qosClassOf(resources(limits, requests).spec), qos);
    });
  }
});
