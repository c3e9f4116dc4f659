/** Addresses that other components write into the status of Pods and Services. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import type { PodStatus } from '../../../src/api/core/v1/types.gen.ts';
import type { StatusCause } from '../../../src/apimachinery/status-error.ts';
import { makePod } from '../kubelet/builders.ts';

const told = (causes: readonly StatusCause[] = []) => causes.map(({ field }) => field);

const pods: [what: string, status: PodStatus, fields: string[]][] = [
  ['none', {}, []],
  [
    'one address of the host and one of the pod',
    { hostIP: '192.0.2.1', podIP: '10.244.0.2', podIPs: [{ ip: '10.244.0.2' }] },
    [],
  ],
  ['one address of each family', { podIPs: [{ ip: '10.244.0.2' }, { ip: 'fd00::2' }] }, []],
  [
    'two addresses of one family',
    { podIPs: [{ ip: '10.244.0.2' }, { ip: '10.244.0.3' }] },
    ['status.podIPs'],
  ],
  [
    'one address twice, in two spellings',
    { podIPs: [{ ip: '10.244.0.2' }, { ip: '::ffff:10.244.0.2' }] },
    ['status.podIPs'],
  ],
  ['a name', { podIP: 'kubernetes', podIPs: [{ ip: 'kubernetes' }] }, ['status.podIP', 'status.podIPs[0]']],
  ['an octal number', { hostIP: '010.0.0.1' }, ['status.hostIP']],
];
for (const [what, status, fields] of pods) {
  test(`the addresses of a pod are ${fields.length > 0 ? `rejected at ${fields.join()}` : 'accepted'}: ${what}`, () => {
    const pod = makePod({}, {}, status);
    assert.deepEqual(told(podResource.strategy.validateStatus?.(pod, pod, 'status')), fields);
  });
}

const balancer = (type: Service['spec']['type'], ingress: object[]): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: makePod().metadata,
  spec: { type, sessionAffinity: 'None' },
  status: { loadBalancer: { ingress } },
});
const services: [what: string, service: Service, field?: string][] = [
  ['an address', balancer('LoadBalancer', [{ ip: '192.0.2.1', ipMode: 'VIP' }, { hostname: 'a.example' }])],
  ['none', balancer('ClusterIP', [])],
  [
    'text that nft would interpret',
    balancer('LoadBalancer', [{ ip: '1.1.1.1 . tcp' }]),
    'status.loadBalancer.ingress[0].ip',
  ],
  ['an octal number', balancer('LoadBalancer', [{ ip: '010.1.1.1' }]), 'status.loadBalancer.ingress[0].ip'],
  [
    'an address as the host name',
    balancer('LoadBalancer', [{ hostname: '1.1.1.1' }]),
    'status.loadBalancer.ingress[0].hostname',
  ],
  [
    'a mode without an address',
    balancer('LoadBalancer', [{ ipMode: 'VIP' }]),
    'status.loadBalancer.ingress[0].ipMode',
  ],
  [
    'an address of a Service of type NodePort',
    balancer('NodePort', [{ ip: '192.0.2.1' }]),
    'status.loadBalancer.ingress',
  ],
];
for (const [what, service, field] of services) {
  test(`the addresses of a load balancer are ${field ? `rejected at ${field}` : 'accepted'}: ${what}`, () => {
    const causes = told(serviceResource.strategy.validateStatus?.(service, service, 'status'));
    assert.deepEqual(causes, field === undefined ? [] : [field]);
  });
}
