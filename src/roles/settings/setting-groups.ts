/** The subjects by which --help of the roles lists settings, in this order. */

import { subjects } from '../../base/subjects.ts';

export const settingSubjects = subjects('src/roles/settings/setting-groups.ts', {
  'Joining a cluster': ['server', 'ca-cert-hash'],
  'This machine': ['config', 'data-dir', 'docker-socket', 'node-name', 'node-ip', 'log-level'],
  'API server': [
    'bind-address',
    'port',
    'token-auth-file',
    'admission-control-config-file',
    'max-requests-inflight',
    'max-watches-per-user',
    'max-connections',
  ],
  'Tokens of service accounts': [
    'service-account-issuer',
    'service-account-jwks-uri',
    'service-account-key-age',
    'service-account-extend-token-expiration',
  ],
  Storage: ['etcd-endpoints', 'etcd-ca', 'etcd-cert', 'etcd-key'],
  'Addresses and names of the cluster': [
    'service-cidr',
    'cluster-cidr',
    'node-ports',
    'cluster-dns',
    'cluster-domain',
    'dns-upstream',
    'overlay',
    'pod-cidr',
  ],
  'Nodes and scheduling': [
    'node-approval',
    'node-monitor-grace-period',
    'default-not-ready-toleration-seconds',
    'default-unreachable-toleration-seconds',
    'scheduler-policy',
  ],
  'Node agent': [
    'kubelet-port',
    'max-pods',
    'labels',
    'taints',
    'system-reserved',
    'heartbeat-interval',
    'eviction-hard',
    'shutdown-grace-period',
    'shutdown-grace-period-critical-pods',
    'sandbox-pool',
    'nginx-image',
  ],
});
