import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointSlices, endpoints } from '../../../../src/kube-apiserver/object-metrics/kinds/endpoints.ts';
import {
  ingresses,
  networkPolicies,
} from '../../../../src/kube-apiserver/object-metrics/kinds/networking.ts';
import { services } from '../../../../src/kube-apiserver/object-metrics/kinds/services.ts';
import {
  storageClasses,
  volumeAttachments,
} from '../../../../src/kube-apiserver/object-metrics/kinds/storage.ts';
import {
  persistentVolumeClaims,
  persistentVolumes,
} from '../../../../src/kube-apiserver/object-metrics/kinds/volumes.ts';
import { describeSamples, samplesBy } from './expected-samples.ts';

describeSamples('Services', services, 'kube_service', [
  [
    'info',
    { spec: { clusterIP: '10.96.0.9', externalTrafficPolicy: 'Local' } },
    'cluster_ip="10.96.0.9",external_name="",load_balancer_ip="",external_traffic_policy="Local" 1',
  ],
  ['spec_type', { spec: { type: 'NodePort' } }, 'type="NodePort" 1'],
  [
    'spec_external_ip',
    { spec: { externalIPs: ['192.0.2.1', '192.0.2.2'] } },
    'external_ip="192.0.2.1" 1',
    'external_ip="192.0.2.2" 1',
  ],
  [
    'status_load_balancer_ingress',
    { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }, { hostname: 'h' }] } } },
    'ip="192.0.2.1",hostname="" 1',
    'ip="",hostname="h" 1',
  ],
]);

describeSamples('EndpointSlices', endpointSlices, 'kube_endpointslice', [
  ['info', { addressType: 'IPv6' }, 'addresstype="IPv6" 1'],
  [
    'endpoints',
    {
      endpoints: [
        {
          addresses: ['10.0.0.1', '10.0.0.2'],
          conditions: { ready: true, serving: false, terminating: true },
          hostname: 'host',
          zone: 'west',
        },
      ],
    },
    ...['10.0.0.1', '10.0.0.2'].map(
      (address) =>
        'ready="true",serving="false",hostname="host",terminating="true",targetref_kind="",targetref_name="",' +
        `targetref_namespace="",endpoint_nodename="",endpoint_zone="west",address="${address}" 1`,
    ),
  ],
  [
    'endpoints_hints',
    {
      endpoints: [
        { addresses: ['10.0.0.1', '10.0.0.2'], hints: { forZones: [{ name: 'a' }, { name: 'b' }] } },
        { addresses: [], hints: { forZones: [{ name: 'c' }] } },
        { addresses: ['10.0.0.3'] },
      ],
    },
    'address="10.0.0.1",for_zone="a" 1',
    'address="10.0.0.1",for_zone="b" 1',
  ],
  [
    'ports',
    {
      ports: [
        { name: '', protocol: 'TCP' },
        { name: 'http', protocol: 'TCP', port: 80 },
      ],
    },
    'port_name="",port_protocol="TCP",port_number="" 1',
    'port_name="http",port_protocol="TCP",port_number="80" 1',
  ],
]);

const subset = {
  addresses: [{ ip: '10.0.0.1' }],
  notReadyAddresses: [{ ip: '10.0.0.2' }],
  ports: [{ port: 8080, name: 'app', protocol: 'TCP' }],
};
describeSamples('Endpoints', endpoints, 'kube_endpoint', [
  ['info', {}, '1'],
  [
    'address',
    { subsets: [subset] },
    'port_protocol="TCP",port_number="8080",port_name="app",ip="10.0.0.1",ready="true" 1',
    'port_protocol="TCP",port_number="8080",port_name="app",ip="10.0.0.2",ready="false" 1',
  ],
  ['ports', { subsets: [subset] }, 'port_name="app",port_protocol="TCP",port_number="8080" 1'],
]);

/** Returns a subset with this many addresses, of which some are not ready, and this many ports. */
const subsetOf = (addresses: number, ports: number) => {
  const ips = Array.from({ length: addresses }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }));
  const [addressesOf, notReadyAddresses] = [ips.slice(1), ips.slice(0, 1)];
  const named = Array.from({ length: ports }, (_, index) => ({ port: index + 1, protocol: 'TCP' }));
  return { addresses: addressesOf, notReadyAddresses, ports: named };
};

const pairsOf = (...subsets: readonly object[]) =>
  samplesBy(endpoints, 'kube_endpoint_address', { subsets }).length;

test('Endpoints of the sizes that a controller writes have a line for each address and port', () => {
  assert.equal(pairsOf(subsetOf(1000, 16)), 16_000);
  assert.equal(pairsOf(subsetOf(16, 16)), 256);
  assert.equal(pairsOf(subsetOf(24, 24), subsetOf(16, 16)), 832);
});

test('Endpoints with far too many pairs of address and port for their size are rejected with both numbers', () => {
  assert.throws(
    () => pairsOf(subsetOf(100, 100)),
    /has 10000 pairs of an address and a port, and may have 3456$/,
  );
  assert.throws(() => pairsOf(subsetOf(1001, 16)), /has 16016 .* may have 16000$/);
  const many = Array.from({ length: 4 }, () => subsetOf(50, 50));
  assert.throws(() => pairsOf(...many), /has 10000 .* may have 6656$/);
});

const path = (backend: object) => ({ path: '/', pathType: 'Prefix', backend });
describeSamples('Ingresses', ingresses, 'kube_ingress', [
  ['info', {}, 'ingressclass="_default" 1'],
  ['info', { spec: { ingressClassName: 'a' } }, 'ingressclass="a" 1'],
  [
    'info',
    { metadata: { annotations: { 'kubernetes.io/ingress.class': 'old' } }, spec: { ingressClassName: 'a' } },
    'ingressclass="old" 1',
  ],
  [
    'path',
    {
      spec: {
        rules: [
          { host: 'h', http: { paths: [path({ service: { name: 's', port: { name: 'web' } } })] } },
          { http: { paths: [path({ resource: { apiGroup: 'g', kind: 'k', name: 'n' } })] } },
          { host: 'none' },
        ],
      },
    },
    'host="h",path="/",path_type="Prefix",service_name="s",service_port="0" 1',
    'host="",path="/",path_type="Prefix",resource_api_group="g",resource_kind="k",resource_name="n" 1',
  ],
  [
    'tls',
    { spec: { tls: [{ hosts: ['a', 'b'], secretName: 's' }, { secretName: 't' }] } },
    'tls_host="a",secret="s" 1',
    'tls_host="b",secret="s" 1',
  ],
]);

describeSamples('NetworkPolicies', networkPolicies, 'kube_networkpolicy', [
  ['spec_ingress_rules', { spec: { ingress: [{}, {}] } }, '2'],
  ['spec_egress_rules', { spec: {} }, '0'],
]);

const empty =
  'gce_persistent_disk_name="",ebs_volume_id="",azure_disk_name="",fc_wwids="",fc_lun="",fc_target_wwns="",' +
  'iscsi_target_portal="",iscsi_iqn="",iscsi_lun="",iscsi_initiator_name="",nfs_server="",nfs_path="",csi_driver="",' +
  'csi_volume_handle="",local_path="",local_fs="",host_path="",host_path_type=""';
const volumeInfo = (labels: Readonly<Record<string, string>>) =>
  `storageclass="",${Object.entries(labels).reduce((text, [name, value]) => text.replace(`${name}=""`, `${name}="${value}"`), empty)},reclaim_policy="" 1`;
describeSamples('PersistentVolumes', persistentVolumes, 'kube_persistentvolume', [
  ['info', { spec: {} }, volumeInfo({})],
  [
    'info',
    { spec: { fc: { lun: 0, targetWWNs: ['a', 'b'] } } },
    volumeInfo({ fc_lun: '0', fc_target_wwns: 'a,b' }),
  ],
  ['info', { spec: { nfs: { server: 's', path: '/p' } } }, volumeInfo({ nfs_server: 's', nfs_path: '/p' })],
  [
    'info',
    { spec: { local: { path: '/l', fsType: 'ext4' } } },
    volumeInfo({ local_path: '/l', local_fs: 'ext4' }),
  ],
  ['capacity_bytes', { spec: { capacity: { storage: '5Gi' } } }, '5368709120'],
  ['capacity_bytes', { spec: {} }, '0'],
  ['claim_ref', { spec: {} }],
  ['claim_ref', { spec: { claimRef: { name: 'c', namespace: 'n' } } }, 'name="c",claim_namespace="n" 1'],
  ['volume_mode', { spec: {} }, 'volumemode="Filesystem" 1'],
  [
    'status_phase',
    { status: { phase: 'Released' } },
    'phase="Pending" 0',
    'phase="Available" 0',
    'phase="Bound" 0',
    'phase="Released" 1',
    'phase="Failed" 0',
  ],
]);

describeSamples('PersistentVolumeClaims', persistentVolumeClaims, 'kube_persistentvolumeclaim', [
  ['info', { spec: {} }, 'storageclass="",volumename="",volumemode="" 1'],
  [
    'info',
    {
      metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
      spec: { storageClassName: 'new' },
    },
    'storageclass="old",volumename="",volumemode="" 1',
  ],
  ['resource_requests_storage_bytes', { spec: {} }],
  [
    'resource_requests_storage_bytes',
    { spec: { resources: { requests: { storage: '1Gi' } } } },
    '1073741824',
  ],
  ['access_mode', { spec: { accessModes: ['ReadWriteOnce'] } }, 'access_mode="ReadWriteOnce" 1'],
]);

describeSamples('StorageClasses', storageClasses, 'kube_storageclass', [
  ['info', { provisioner: 'p' }, 'provisioner="p",reclaim_policy="Delete",volume_binding_mode="Immediate" 1'],
]);

describeSamples('VolumeAttachments', volumeAttachments, 'kube_volumeattachment', [
  ['labels', { metadata: { labels: { app: 'foobar' } } }, 'label_app="foobar" 1'],
  ['labels', {}, '1'],
  ['status_attached', {}, '0'],
  [
    'status_attachment_metadata',
    { status: { attachmentMetadata: { devicePath: '/dev/sdd' } } },
    'metadata_device_path="/dev/sdd" 1',
  ],
  ['spec_source_persistentvolume', { spec: { source: { inlineVolumeSpec: {} } } }],
]);
