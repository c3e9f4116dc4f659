import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  certificateSigningRequests,
  leases,
  namespaces,
} from '../../../../../src/kube-apiserver/object-metrics/kinds/cluster.ts';
import { secrets } from '../../../../../src/kube-apiserver/object-metrics/kinds/data.ts';
import {
  limitRanges,
  resourceQuotas,
} from '../../../../../src/kube-apiserver/object-metrics/kinds/limits.ts';
import { nodes } from '../../../../../src/kube-apiserver/object-metrics/kinds/nodes.ts';
import { describeSamples, labelsOf } from '../expected-samples.ts';

describeSamples('Nodes', nodes, 'kube_node', [
  [
    'info',
    {
      spec: { podCIDR: '10.0.0.0/24' },
      status: {
        addresses: [
          { type: 'InternalIP', address: '192.0.2.1' },
          { type: 'Hostname', address: 'n' },
        ],
        nodeInfo: {
          kernelVersion: 'k',
          osImage: 'o',
          containerRuntimeVersion: 'r',
          kubeletVersion: 'v',
          systemUUID: 's',
        },
      },
    },
    'kernel_version="k",os_image="o",container_runtime_version="r",kubelet_version="v",kubeproxy_version="deprecated",' +
      'provider_id="",pod_cidr="10.0.0.0/24",system_uuid="s",internal_ip="192.0.2.1" 1',
  ],
  [
    'role',
    {
      metadata: {
        labels: { 'node-role.kubernetes.io/master': '', 'node-role.kubernetes.io/worker': 'x', a: 'b' },
      },
    },
    'role="master" 1',
    'role="worker" 1',
  ],
  ['spec_unschedulable', { spec: { unschedulable: true } }, '1'],
  ['spec_unschedulable', {}, '0'],
  [
    'spec_taint',
    { spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } },
    'key="k",value="",effect="NoExecute" 1',
  ],
  [
    'status_capacity',
    {
      status: {
        capacity: {
          cpu: '4.3',
          memory: '2G',
          pods: '1000',
          'nvidia.com/gpu': '4',
          storage: '3G',
          nonsense: '1',
        },
      },
    },
    'resource="cpu",unit="core" 4.3',
    'resource="memory",unit="byte" 2000000000',
    'resource="pods",unit="integer" 1000',
    'resource="nvidia_com_gpu",unit="integer" 4',
    'resource="storage",unit="byte" 3000000000',
  ],
  // The value has more thousandths than an int64 holds.
  [
    'status_allocatable',
    { status: { allocatable: { memory: '10E' } } },
    'resource="memory",unit="byte" 9223372036854776000',
  ],
]);

describeSamples('Namespaces', namespaces, 'kube_namespace', [
  ['status_phase', { status: { phase: 'Terminating' } }, 'phase="Active" 0', 'phase="Terminating" 1'],
  [
    'status_condition',
    { status: { conditions: [{ type: 'Deleting', status: 'True' }] } },
    'condition="Deleting",status="true" 1',
    'condition="Deleting",status="false" 0',
    'condition="Deleting",status="unknown" 0',
  ],
]);

describeSamples('Leases', leases, 'kube_lease', [
  [
    'owner',
    { spec: { holderIdentity: 'h' } },
    'owner_kind="",owner_name="",namespace="ns",lease_holder="h" 1',
  ],
  ['renew_time', { spec: { renewTime: '2026-01-02T03:04:05.999999Z' } }, 'namespace="ns" 1767323045'],
  ['renew_time', { spec: {} }],
]);

test('samples of CertificateSigningRequests have the signer', () =>
  assert.equal(
    labelsOf(certificateSigningRequests, { spec: { signerName: 'a/b' } }),
    'certificatesigningrequest="a",signer_name="a/b"',
  ));
describeSamples('CertificateSigningRequests', certificateSigningRequests, 'kube_certificatesigningrequest', [
  ['condition', {}, 'condition="approved" 0', 'condition="denied" 0', 'condition="failed" 0'],
  [
    'condition',
    { status: { conditions: [{ type: 'Approved' }, { type: 'Failed' }] } },
    'condition="approved" 1',
    'condition="denied" 0',
    'condition="failed" 1',
  ],
  ['cert_length', { status: { certificate: Buffer.from('12345').toString('base64') } }, '5'],
]);

describeSamples('Secrets', secrets, 'kube_secret', [
  ['type', { type: 'Opaque' }, 'type="Opaque" 1'],
  ['info', {}, '1'],
]);

test('no family of Secrets contains their data', () => {
  const secret = {
    data: { password: 'c2VjcmV0' },
    stringData: { password: 'secret' },
    metadata: { name: 'a' },
  };
  const told = secrets.families.flatMap(({ samplesOf }) => samplesOf(secret as never));
  assert.doesNotMatch(JSON.stringify(told), /password|c2VjcmV0|secret/);
});

describeSamples('LimitRanges', limitRanges, 'kube', [
  [
    'limitrange',
    {
      spec: {
        limits: [
          { type: 'Pod', max: { memory: '2.1G' }, maxLimitRequestRatio: { cpu: '2' } },
          { type: 'Container', default: { cpu: '10m' }, defaultRequest: { cpu: '5m' }, min: { cpu: '1m' } },
        ],
      },
    },
    'resource="memory",type="Pod",constraint="max" 2100000000',
    'resource="cpu",type="Pod",constraint="maxLimitRequestRatio" 2',
    'resource="cpu",type="Container",constraint="min" 0.001',
    'resource="cpu",type="Container",constraint="default" 0.01',
    'resource="cpu",type="Container",constraint="defaultRequest" 0.005',
  ],
]);

describeSamples('ResourceQuotas', resourceQuotas, 'kube', [
  [
    'resourcequota',
    {
      spec: { hard: { cpu: '9' } },
      status: { hard: { 'requests.nvidia.com/gpu': '4' }, used: { cpu: '2.1' } },
    },
    'resource="requests.nvidia.com/gpu",type="hard" 4',
    'resource="cpu",type="used" 2.1',
  ],
]);
