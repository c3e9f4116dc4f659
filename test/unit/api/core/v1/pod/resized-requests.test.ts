/** Resources that are counted for a pod while its resize is not finished. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from '../../../../../../src/api/core/v1/pod/pod.ts';
import { podRequests } from '../../../../../../src/api/core/v1/pod/requests.ts';

const pod = (cpu: string, status: object) =>
  ({
    metadata: { name: 'web', namespace: 'shop' },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }], overhead: { cpu: '1m' } },
    status,
  }) as unknown as Pod;
const has = (cpu: string, allocated = cpu) => ({
  containerStatuses: [
    { name: 'main', resources: { requests: { cpu } }, allocatedResources: { cpu: allocated } },
  ],
});
const cpuOf = (cpu: string, status: object) => podRequests(pod(cpu, status)).get('cpu');

it('a pod uses the larger of its requests and its allocated resources', () => {
  assert.equal(cpuOf('200m', {}), 201);
  assert.equal(cpuOf('200m', has('200m')), 201);
  assert.equal(cpuOf('200m', has('500m')), 501, 'it has not given it back yet');
  assert.equal(cpuOf('200m', has('100m', '500m')), 501, 'it was given more than it has taken yet');
  assert.equal(cpuOf('500m', has('200m')), 501, 'it may get it at any moment');
  assert.equal(cpuOf('500m', { ...has('200m'), resize: 'Deferred' }), 501);
});

it('a resize that the node rejects does not count', () => {
  assert.equal(cpuOf('500m', { ...has('200m'), resize: 'Infeasible' }), 201);
  const conditions = [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }];
  assert.equal(cpuOf('500m', { ...has('200m'), conditions }), 201);
  assert.equal(cpuOf('500m', { conditions }), 501, 'nothing is known of what it has');
});
