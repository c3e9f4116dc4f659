/** Every setting of every role, described once: its flag, its variable and its key in the file are the same word. */
import { normalize } from 'node:path';
import { defaultConnections } from '../../apiserver/load/connections.ts';
import { defaultLimits } from '../../apiserver/load/in-flight.ts';
import { isIPv4, parseRange, rangeAround } from '../../base/addresses.ts';
import { defaultEvictionHard, parseThresholds } from '../../kubelet/plan/eviction-thresholds.ts';
import { domain, nameServers } from './dns-values.ts';
import { duration } from './duration.ts';
import { authorityHash, labels, podRange, reserved, servers, taints, token } from './node-values.ts';

export interface SettingDefinition<T> {
  readonly about: string;
  /** What its value is, for the usage text; a secret needs none, as it has no flag. */
  readonly hint?: string;
  /** As it would be typed; absent means that the role finds its own value. */
  readonly default?: string;
  /** Where there is no default: what the role does without it, for the usage text. */
  readonly usual?: string;
  /** Reads the text; throws an Error whose message says what is expected. */
  readonly read: (text: string) => T;
  /** It has no flag, as everybody on the machine sees flags, and no message repeats it. */
  readonly secret?: boolean;
}

const text = (value: string) => value;

/** The next start, or the clean-up, may be from another folder. */
function directory(value: string): string {
  if (!value.startsWith('/')) throw new Error('expected a path from the root, such as /var/lib/minik8s');
  return normalize(value).replace(/(?<=.)\/$/, '');
}

function wholeNumber(least: number, most: number) {
  return (value: string): number => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most) {
      throw new Error(`expected a whole number from ${least} to ${most}`);
    }
    return number;
  };
}

function address(value: string): string {
  if (!isIPv4(value)) throw new Error('expected an IPv4 address such as 192.0.2.10');
  return value;
}

/** An IPv4 range, given as its first address. */
function cidr(value: string): string {
  const range = rangeAround(value);
  if (!range || range.prefix < 8 || range.prefix > 28) {
    throw new Error('expected an IPv4 range with 8 to 28 bits, such as 10.244.0.0/16');
  }
  if (!parseRange(value))
    throw new Error(`${value.split('/')[0]} is not the first address of a /${range.prefix} range`);
  return value;
}

function nodePortRange(value: string): readonly [number, number] {
  const match = /^(\d+)-(\d+)$/.exec(value);
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  if (!match || first < 1 || last > 65535 || first > last)
    throw new Error('expected ports such as 30000-32767');
  return [first, last];
}

function oneOf<const T extends string>(...choices: readonly T[]) {
  return (value: string): T => {
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw new Error(`expected one of ${choices.join(', ')}`);
    return choice;
  };
}

function endpoints(value: string): readonly string[] {
  const all = value.split(',').filter((part) => part !== '');
  if (all.length === 0 || !all.every((endpoint) => /^https?:\/\/[^/]+:\d+$/.test(endpoint))) {
    throw new Error('expected addresses such as https://192.0.2.10:2379, with commas between them');
  }
  if (new Set(all.map((endpoint) => endpoint.startsWith('https:'))).size > 1) {
    throw new Error('expected http or https for all of them');
  }
  return all;
}

/** Of an issuer (OpenID Connect Discovery): nothing may follow the path. */
function httpsUrl(value: string): string {
  const url = URL.parse(value);
  if (url?.protocol === 'https:' && url.host !== '' && !/[?#\s]/.test(value)) return value;
  throw new Error('expected a URL such as https://cluster.example.com');
}

function issuers(value: string): readonly string[] {
  const all = value.split(',').filter((part) => part !== '');
  if (all.length === 0) throw new Error('expected a URL such as https://cluster.example.com');
  return all.map(httpsUrl);
}

function define<const T extends Readonly<Record<string, SettingDefinition<unknown>>>>(table: T): T {
  return table;
}

export const settingTable = define({
  'data-dir': {
    about: 'directory of all state',
    hint: 'DIRECTORY',
    default: '/var/lib/minik8s',
    read: directory,
  },
  'bind-address': {
    about: 'address that the API server listens on',
    hint: 'ADDRESS',
    default: '0.0.0.0',
    read: address,
  },
  port: { about: 'port of the API server', hint: 'PORT', default: '6443', read: wholeNumber(1, 65535) },
  'etcd-endpoints': {
    about: 'URLs of an external etcd, comma-separated',
    hint: 'URL,…',
    usual: 'an embedded etcd',
    read: endpoints,
  },
  'etcd-ca': {
    about: 'CA certificate that verifies the external etcd',
    hint: 'FILE',
    usual: 'none',
    read: text,
  },
  'etcd-cert': { about: 'client certificate for the external etcd', hint: 'FILE', usual: 'none', read: text },
  'etcd-key': { about: 'private key of that client certificate', hint: 'FILE', usual: 'none', read: text },
  'token-auth-file': {
    about: 'static bearer tokens: lines of token,user,uid,"group1,group2"',
    hint: 'FILE',
    usual: 'none',
    read: text,
  },
  'service-account-issuer': {
    about:
      'who made the tokens of service accounts, as they say; further names, behind commas, are taken too',
    hint: 'URL,…',
    usual: 'https://kubernetes.default.svc.DOMAIN',
    read: issuers,
  },
  'service-account-jwks-uri': {
    about: 'where others read the public keys that verify those tokens',
    hint: 'URL',
    usual: 'this server',
    read: httpsUrl,
  },
  'service-account-key-age': {
    about: 'how long a key signs those tokens before it is replaced; it verifies them until they are over',
    hint: 'DURATION',
    default: '8760h',
    read: duration('2h', '87600h'),
  },
  'service-account-extend-token-expiration': {
    about: 'whether tokens in pods are good for a year, for programs that read them only once',
    hint: 'true|false',
    default: 'true',
    read: oneOf('true', 'false'),
  },
  'admission-control-config-file': {
    about: 'what nobody may use without a ResourceQuota (AdmissionConfiguration)',
    hint: 'FILE',
    usual: 'none',
    read: text,
  },
  'service-cidr': { about: 'address range of Services', hint: 'RANGE', default: '10.96.0.0/16', read: cidr },
  'cluster-cidr': {
    about: 'address range of pods; each node gets a /24 of it',
    hint: 'RANGE',
    default: '10.244.0.0/16',
    read: cidr,
  },
  'cluster-dns': {
    about: 'address of cluster DNS',
    hint: 'ADDRESS',
    usual: 'the tenth of --service-cidr',
    read: address,
  },
  'cluster-domain': {
    about: 'DNS domain of Services and pods',
    hint: 'DOMAIN',
    default: 'cluster.local',
    read: domain,
  },
  'dns-upstream': {
    about: 'name servers for names outside the cluster, comma-separated',
    hint: 'ADDRESS,…',
    usual: 'those of /etc/resolv.conf',
    read: nameServers,
  },
  'node-ports': {
    about: 'port range of NodePort Services',
    hint: 'FIRST-LAST',
    default: '30000-32767',
    read: nodePortRange,
  },
  'node-approval': {
    about: 'auto: a machine with a valid token joins at once; manual: it waits for minik8s ctl add node',
    hint: 'auto|manual',
    default: 'auto',
    read: oneOf('auto', 'manual'),
  },
  'node-monitor-grace-period': {
    about:
      'how long a node may miss heartbeats before its state is Unknown and its pods leave Services; at least 5s',
    hint: 'DURATION',
    default: '40s',
    read: duration('5s', '1h'),
  },
  'default-not-ready-toleration-seconds': {
    about: 'how long pods stay on a node that is not ready, unless their own tolerations say so',
    hint: 'SECONDS',
    default: '300',
    read: wholeNumber(0, 86400),
  },
  'default-unreachable-toleration-seconds': {
    about: 'how long pods stay on an unreachable node, unless their own tolerations say so',
    hint: 'SECONDS',
    default: '300',
    read: wholeNumber(0, 86400),
  },
  'max-requests-inflight': {
    about: 'most requests answered at once, counted for users and for nodes separately; one user gets half',
    default: String(defaultLimits.requests),
    read: wholeNumber(20, 10_000),
  },
  'max-watches-per-user': {
    about: 'how many watches one user may have open',
    default: String(defaultLimits.watches),
    read: wholeNumber(20, 100_000),
  },
  'max-connections': {
    about: 'how many connections the API server accepts; one user gets a quarter of them',
    default: String(defaultConnections),
    read: wholeNumber(100, 100_000),
  },
  'scheduler-policy': {
    about: 'how a node is chosen for a pod: Default, RoundRobin, Random, LeastPod, LeastCpu or LeastMem',
    hint: 'POLICY',
    default: 'Default',
    read: oneOf('Default', 'RoundRobin', 'Random', 'LeastPod', 'LeastCpu', 'LeastMem'),
  },
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
  'max-pods': { about: 'most pods on this node', hint: 'COUNT', default: '110', read: wholeNumber(1, 250) },
  'nginx-image': {
    about: 'image of the nginx that serves Dns objects',
    hint: 'IMAGE',
    default: 'nginx:alpine',
    read: text,
  },
  'sandbox-pool': {
    about: 'number of pod sandboxes kept ready, so that pods start sooner',
    hint: 'COUNT',
    default: '4',
    read: wholeNumber(0, 64),
  },
  'log-level': {
    about: 'lowest severity that is logged: debug, info, warn or error',
    hint: 'LEVEL',
    default: 'info',
    read: oneOf('debug', 'info', 'warn', 'error'),
  },
});
