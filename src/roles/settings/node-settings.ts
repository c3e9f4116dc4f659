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
    about: 'resources kept for the system and not given to pods, such as cpu=500m,memory=1Gi',
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
      'files of this machine that are devices which pods ask for, each a whole one, such as example.com/gpu=/dev/gpu*; +FILE for files that all of them need',
    hint: 'RESOURCE=FILE,…',
    usual: 'none',
    read: parseDeviceRules,
  },
  'device-plugin-dir': {
    about: 'directory of the sockets of Kubernetes device plugins; "" for none',
    hint: 'DIRECTORY',
    default: '/var/lib/kubelet/device-plugins',
    read: (value: string) => (value === '' ? undefined : directory(value)),
  },
  'allowed-unsafe-sysctls': {
    about:
      'kernel parameters that pods may set besides the safe ones, such as kernel.msg*,net.core.somaxconn',
    hint: 'SYSCTL,…',
    usual: 'none',
    read: parseUnsafeSysctls,
  },
  'watch-folder': {
    about:
      'folders of this machine that triggers of all namespaces may watch and read, each with all that is in it',
    hint: 'DIR,…',
    usual: 'none',
    read: directories,
  },
  'max-parallel-image-pulls': {
    about: 'most images that are pulled at once',
    hint: 'COUNT',
    default: '3',
    read: wholeNumber(1, 100),
  },
  'container-log-max-size': {
    about:
      "bytes of a container's log from which its next file begins, such as 10Mi; for containers made from then on",
    hint: 'QUANTITY',
    default: '10Mi',
    read: bytes(1024, 2 ** 40),
  },
  'container-log-max-files': {
    about: "how many files of a container's log are kept",
    hint: 'NUMBER',
    default: '5',
    read: wholeNumber(2, 1000),
  },
  'image-gc-high-threshold': {
    about:
      'use of the disk, in percent, from which images that pods brought and nobody uses are removed; 100: never',
    hint: 'PERCENT',
    default: '85',
    read: wholeNumber(0, 100),
  },
  'image-gc-low-threshold': {
    about: 'use of the disk, in percent, down to which they are removed',
    hint: 'PERCENT',
    default: '80',
    read: wholeNumber(0, 100),
  },
  'image-minimum-gc-age': {
    about: 'how long an image stays after it came, used or not',
    hint: 'DURATION',
    default: '2m',
    read: duration('0s', '240h'),
  },
  'shutdown-grace-period': {
    about: 'time that pods have to stop when the machine shuts down; 0s: pods are not stopped gracefully',
    hint: 'DURATION',
    default: '0s',
    read: duration('0s', '1h'),
  },
  'shutdown-grace-period-critical-pods': {
    about: 'part of --shutdown-grace-period that is kept for critical pods',
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
    about: 'how packets reach pods of other nodes: vxlan, or host-routes where all nodes share a link',
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
    about: 'directory of files that describe pods, which this node runs whatever the API server has',
    hint: 'DIRECTORY',
    usual: 'none',
    read: directory,
  },
  'max-pods': { about: 'most pods on this node', hint: 'COUNT', default: '110', read: wholeNumber(1, 250) },
  'nginx-image': {
    about: 'image of the nginx that serves Dns objects',
    hint: 'IMAGE',
    default: 'nginx:alpine',
    read: text,
  },
  'write-etc-hosts': {
    about: "write hosts of Dns objects into /etc/hosts, so that this machine's own programs resolve them",
    hint: 'true|false',
    default: 'false',
    read: oneOf('true', 'false'),
  },
  'sandbox-pool': {
    about: 'number of pod sandboxes kept ready, so that pods start sooner',
    hint: 'COUNT',
    default: '4',
    read: wholeNumber(0, 64),
  },
});
