/** Variables of a container whose values are resources of itself or of another container. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { resourceValue } from '../../../../../src/kubelet/environment/plan/resource-value.ts';
import { makePod } from '../../builders.ts';

const allocatable = { cpu: '4', memory: '8Gi', 'ephemeral-storage': '10Gi', 'hugepages-2Mi': '64Mi' };
const pod = makePod({
  containers: [
    {
      name: 'main',
      image: 'app:1',
      resources: {
        limits: { cpu: '1250m', 'hugepages-1Gi': '2Gi' },
        requests: { cpu: '250m', memory: '33Mi' },
      },
    },
    { name: 'side', image: 'app:1', resources: { limits: { cpu: '3', memory: '0' } } },
    { name: 'bare', image: 'app:1' },
  ],
});

function told(resource: string, more: { divisor?: string; containerName?: string } = {}, of = allocatable) {
  const [main] = pod.spec.containers;
  assert.ok(main);
  return resourceValue(pod, main, { resource, ...more }, of);
}

describe('a resource of a container', () => {
  const rows: readonly [resource: string, divisor: string | undefined, value: string][] = [
    ['limits.cpu', undefined, '2'],
    ['limits.cpu', '0', '2'],
    ['limits.cpu', '1', '2'],
    ['limits.cpu', '1m', '1250'],
    ['requests.cpu', undefined, '1'],
    ['requests.memory', undefined, String(33 * 2 ** 20)],
    ['requests.memory', '1Mi', '33'],
    ['requests.memory', '1Gi', '1'],
    ['limits.hugepages-1Gi', '1Gi', '2'],
  ];
  for (const [resource, divisor, value] of rows) {
    it(`is ${value} for ${resource} in units of ${divisor ?? 'one'}, rounded up`, () =>
      assert.equal(told(resource, divisor === undefined ? {} : { divisor }), value));
  }

  it('is the allocatable amount of the node if the container has no limit', () => {
    assert.equal(told('limits.memory', { divisor: '1Gi' }), '8');
    assert.equal(told('limits.ephemeral-storage', { divisor: '1Gi' }), '10');
    for (const containerName of ['side', 'bare']) {
      assert.equal(told('limits.memory', { containerName, divisor: '1Gi' }), '8');
    }
    assert.equal(told('limits.cpu', { containerName: 'bare' }), '4');
    const { memory: _, ...unknown } = allocatable;
    assert.equal(told('limits.memory', {}, unknown as typeof allocatable), '0');
  });

  it('is 0 without a request, and without a limit of hugepages', () => {
    assert.equal(told('requests.ephemeral-storage'), '0');
    assert.equal(told('limits.hugepages-2Mi'), '0');
    assert.equal(told('requests.cpu', { containerName: 'bare' }), '0');
  });

  it('may be that of another container of the pod', () => {
    assert.equal(told('limits.cpu', { containerName: 'side' }), '3');
    assert.equal(told('limits.cpu', { containerName: 'main' }), '2');
    assert.equal(told('limits.cpu', { containerName: '' }), '2');
    assert.throws(() => told('limits.cpu', { containerName: 'none' }), {
      name: 'ContainerConfigError',
      message: 'container none not found',
    });
  });

  for (const resource of [
    'limits.pods',
    'cpu',
    'limits.',
    'xlimits.cpu',
    'limits.cpux',
    'requests.hugepages-',
  ]) {
    it(`cannot be ${resource}, which is unsupported`, () =>
      assert.throws(() => told(resource), {
        name: 'ContainerConfigError',
        message: `unsupported container resource : ${resource}`,
      }));
  }
});
