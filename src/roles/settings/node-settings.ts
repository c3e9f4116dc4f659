/** Settings of nodes. */
import { parseUnsafeSysctls } from '../../kubelet/containers/plan/sysctls.ts';
import { parseDeviceRules } from '../../kubelet/devices/plan/device-rules.ts';
import { defaultEvictionHard, parseThresholds } from '../../kubelet/node/plan/eviction-thresholds.ts';
import { duration } from './duration.ts';
import { authorityHash, bytes, labels, podRange, reserved, servers, taints, token } from './node-values.ts';
import { address, define, directories, directory, oneOf, text, wholeNumber } from './setting-values.ts';

export const nodeSettings = define({
  server: {
    about: 'URLs of the masters, comma-separated, such as https://192.0.2.10:6443',
    hint: 'URL,…',
    usual: 'none; a node needs one',
    read: servers,
  },
  token: {
    about: 'bootstrap token with which this node joins, from minik8s token create',
    read: token,
    secret: true,
  },
  'ca-cert-hash': {
    about: "hash of the cluster authority's public key, from minik8s token create",
    hint: 'sha256:HEX',
    usual: 'none; a token needs one',
    read: authorityHash,
  },
  labels: {
    about: 'labels that this node registers with, such as disk=ssd,zone=b',
    hint: 'KEY=VALUE,…',
    usual: 'none',
    read: labels,
  },
  taints: {
    about: 'taints that this node registers with, such as gpu=yes:NoSchedule',
    hint: 'KEY=VALUE:EFFECT,…',
    usual: 'none',
    read: taints,
  },
  'system-reserved': {
    about: 'resources reserved for the system, such as cpu=500m,memory=1Gi',
    hint: 'RESOURCE=AMOUNT,…',
    usual: 'none',
    read: reserved,
  },
  'heartbeat-interval': {
    about:
      "interval of this node's heartbeats (it renews its Lease); at most half of --node-monitor-grace-period",
    hint: 'DURATION',
    default: '10s',
    read: duration('1s', '5m'),
  },
  'eviction-hard': {
    about: 'thresholds of free memory and disk below which this node evicts pods; "" for no eviction',
    hint: 'SIGNAL<AMOUNT,…',
    default: defaultEvictionHard,
    read: parseThresholds,
  },
  devices: {
    about:
      'device files that pods may request, one device each, such as example.com/gpu=/dev/gpu*; +FILE adds a file to every device',
    hint: 'RESOURCE=FILE,…',
    usual: 'none',
    read: parseDeviceRules,
  },
  'device-plugin-dir': {
    about: 'directory of device plugin sockets; "" disables device plugins',
    hint: 'DIRECTORY',
    default: '/var/lib/kubelet/device-plugins',
    read: (value: string) => (value === '' ? undefined : directory(value)),
  },
  'allowed-unsafe-sysctls': {
    about: 'unsafe sysctls to allow, such as kernel.msg*,net.core.somaxconn',
    hint: 'SYSCTL,…',
    usual: 'none',
    read: parseUnsafeSysctls,
  },
  'watch-folder': {
    about: 'directories of this machine, with all below them, that triggers of any namespace may read',
    hint: 'DIR,…',
    usual: 'none',
    read: directories,
  },
  'max-parallel-image-pulls': {
    about: 'maximum number of concurrent image pulls',
    hint: 'COUNT',
    default: '3',
    read: wholeNumber(1, 100),
  },
  'container-log-max-size': {
    about: 'maximum size of a container log file before it is rotated; affects new containers',
    hint: 'QUANTITY',
    default: '10Mi',
    read: bytes(1024, 2 ** 40),
  },
  'container-log-max-files': {
    about: 'maximum number of log files per container',
    hint: 'NUMBER',
    default: '5',
    read: wholeNumber(2, 1000),
  },
  'image-gc-high-threshold': {
    about: 'disk usage in percent above which unused images of pods are removed; 100 disables it',
    hint: 'PERCENT',
    default: '85',
    read: wholeNumber(0, 100),
  },
  'image-gc-low-threshold': {
    about: 'disk usage in percent at which the removal of images stops',
    hint: 'PERCENT',
    default: '80',
    read: wholeNumber(0, 100),
  },
  'image-minimum-gc-age': {
    about: 'minimum age of an unused image before it is removed',
    hint: 'DURATION',
    default: '2m',
    read: duration('0s', '240h'),
  },
  'shutdown-grace-period': {
    about: 'time for pods to stop when the machine shuts down; 0s: no graceful shutdown',
    hint: 'DURATION',
    default: '0s',
    read: duration('0s', '1h'),
  },
  'shutdown-grace-period-critical-pods': {
    about: 'part of --shutdown-grace-period reserved for critical pods',
    hint: 'DURATION',
    usual: 'a third of that',
    read: duration('0s', '1h'),
  },
  'pod-cidr': {
    about: "address range of this node's pods",
    hint: 'RANGE',
    usual: 'a /24 that the cluster assigns',
    read: podRange,
  },
  'node-name': { about: 'name of this node', hint: 'NAME', usual: 'the host name', read: text },
  'node-ip': {
    about: 'address of this node',
    hint: 'ADDRESS',
    usual: 'the address of its default route',
    read: address,
  },
  overlay: {
    about: 'route to pods of other nodes: vxlan, or host-routes if all nodes share a link',
    hint: 'vxlan|host-routes',
    default: 'vxlan',
    read: oneOf('vxlan', 'host-routes'),
  },
  'kubelet-port': {
    about: 'port of the node agent',
    hint: 'PORT',
    default: '10250',
    read: wholeNumber(1, 65535),
  },
  'docker-socket': {
    about: 'socket of the Docker engine',
    hint: 'FILE',
    default: '/var/run/docker.sock',
    read: text,
  },
  'pod-manifest-path': {
    about: 'directory of static pod manifests',
    hint: 'DIRECTORY',
    usual: 'none',
    read: directory,
  },
  'max-pods': {
    about: 'maximum number of pods on this node',
    hint: 'COUNT',
    default: '110',
    read: wholeNumber(1, 250),
  },
  'nginx-image': {
    about: 'image of the nginx that serves Dns objects',
    hint: 'IMAGE',
    default: 'nginx:alpine',
    read: text,
  },
  'write-etc-hosts': {
    about: 'write the hosts of Dns objects into /etc/hosts of this machine',
    hint: 'true|false',
    default: 'false',
    read: oneOf('true', 'false'),
  },
  'sandbox-pool': {
    about: 'number of pod sandboxes kept ready, for faster pod starts',
    hint: 'COUNT',
    default: '4',
    read: wholeNumber(0, 64),
  },
});
