/**
 * What a role is told: flags over `MINIK8S_*` variables over the configuration file over defaults. Each setting
 * is described once, in `settingTable`; its flag, its variable and its key in the file are the same word.
 */
import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { normalize } from 'node:path';
import type { ArgsDef } from 'citty';
import { parse } from 'yaml';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { defaultEvictionHard, parseThresholds } from '../../kubelet/plan/eviction-thresholds.ts';
import { domain, nameServers } from './dns-values.ts';
import { duration } from './duration.ts';
import { authorityHash, labels, podRange, reserved, servers, taints, token } from './node-values.ts';

interface SettingDefinition<T> {
  readonly about: string;
  /** As it would be typed; absent means that the role finds its own value. */
  readonly default?: string;
  /** Reads the text; throws an Error whose message says what is expected. */
  readonly read: (text: string) => T;
  /** It has no flag, as everybody on the machine sees flags, and no message repeats it. */
  readonly secret?: boolean;
}

const text = (value: string) => value;

/** Whoever starts this next, or cleans up, does so from another folder. */
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
  const [ip = '', bits = ''] = value.split('/');
  if (!isIPv4(ip) || !/^\d+$/.test(bits) || Number(bits) < 8 || Number(bits) > 28) {
    throw new Error('expected an IPv4 range with 8 to 28 bits, such as 10.244.0.0/16');
  }
  const number = ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  if (number % 2 ** (32 - Number(bits)) !== 0)
    throw new Error(`${ip} is not the first address of a /${bits} range`);
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

function define<const T extends Readonly<Record<string, SettingDefinition<unknown>>>>(table: T): T {
  return table;
}

export const settingTable = define({
  'data-dir': { about: 'where all state is kept', default: '/var/lib/minik8s', read: directory },
  'bind-address': { about: 'address the API server listens on', default: '0.0.0.0', read: address },
  port: { about: 'port of the API server', default: '6443', read: wholeNumber(1, 65535) },
  'etcd-endpoints': {
    about: 'an etcd of your own, comma-separated, instead of the embedded one',
    read: endpoints,
  },
  'etcd-ca': { about: 'file of the authority that signed the certificates of that etcd', read: text },
  'etcd-cert': { about: 'file of the client certificate for that etcd', read: text },
  'etcd-key': { about: 'file of the key of that certificate', read: text },
  'token-auth-file': {
    about: 'file of bearer tokens: lines of token,user,uid,"group1,group2"',
    read: text,
  },
  'service-cidr': { about: 'addresses of Services', default: '10.96.0.0/16', read: cidr },
  'cluster-cidr': { about: 'addresses of pods, a /24 a node', default: '10.244.0.0/16', read: cidr },
  'cluster-dns': { about: 'address of cluster DNS (default: the tenth of --service-cidr)', read: address },
  'cluster-domain': { about: 'domain of Services and pods', default: 'cluster.local', read: domain },
  'dns-upstream': {
    about: 'name servers for all other names, comma-separated (default: those of resolv.conf)',
    read: nameServers,
  },
  'node-ports': {
    about: 'ports that NodePort Services may take',
    default: '30000-32767',
    read: nodePortRange,
  },
  'node-approval': {
    about: 'whether machines with a token join at once (auto) or wait for `ctl add node` (manual)',
    default: 'auto',
    read: oneOf('auto', 'manual'),
  },
  'node-monitor-grace-period': {
    about: 'how long a node may be silent before its pods are taken out of Services; 5s or more',
    default: '40s',
    read: duration('5s', '1h'),
  },
  'default-not-ready-toleration-seconds': {
    about: 'how long pods stay on a node that is not ready, unless they say so themselves',
    default: '300',
    read: wholeNumber(0, 86400),
  },
  'default-unreachable-toleration-seconds': {
    about: 'how long pods stay on a node that is silent, unless they say so themselves',
    default: '300',
    read: wholeNumber(0, 86400),
  },
  'scheduler-policy': {
    about: 'how a node is chosen: Default, RoundRobin, Random, LeastPod, LeastCpu or LeastMem',
    default: 'Default',
    read: oneOf('Default', 'RoundRobin', 'Random', 'LeastPod', 'LeastCpu', 'LeastMem'),
  },
  server: { about: 'the masters, such as https://192.0.2.10:6443, comma-separated', read: servers },
  token: { about: 'what lets this node join, from minik8s token create', read: token, secret: true },
  'ca-cert-hash': {
    about: "hash of the cluster's authority, from minik8s token create",
    read: authorityHash,
  },
  labels: { about: 'labels of this node, such as disk=ssd,zone=b', read: labels },
  taints: { about: 'taints this node registers with, such as gpu=yes:NoSchedule', read: taints },
  'system-reserved': {
    about: 'what pods do not get of this machine, such as cpu=500m,memory=1Gi',
    read: reserved,
  },
  'heartbeat-interval': {
    about: 'how often this node says that it lives; no more than half of --node-monitor-grace-period',
    default: '10s',
    read: duration('1s', '5m'),
  },
  'eviction-hard': {
    about: 'when this node is short of something and gives up pods; "" for never',
    default: defaultEvictionHard,
    read: parseThresholds,
  },
  'shutdown-grace-period': {
    about: 'how long pods have to end when the machine goes down; 0s: they are not asked',
    default: '0s',
    read: duration('0s', '1h'),
  },
  'shutdown-grace-period-critical-pods': {
    about: 'the part of it that is kept for pods the system needs (default: a third)',
    read: duration('0s', '1h'),
  },
  'pod-cidr': { about: "this node's pod addresses (default: the cluster gives a /24)", read: podRange },
  'node-name': { about: 'name of this node (default: the host name)', read: text },
  'node-ip': { about: 'address of this node (default: where its default route leaves)', read: address },
  overlay: {
    about: 'how pods reach those of other nodes: vxlan, or host-routes where all nodes share a link',
    default: 'vxlan',
    read: oneOf('vxlan', 'host-routes'),
  },
  'kubelet-port': { about: 'port of the node agent', default: '10250', read: wholeNumber(1, 65535) },
  'docker-socket': { about: 'socket of the Docker engine', default: '/var/run/docker.sock', read: text },
  'max-pods': { about: 'how many pods this node takes', default: '110', read: wholeNumber(1, 250) },
  'nginx-image': { about: 'image of the web server for Dns objects', default: 'nginx:alpine', read: text },
  'sandbox-pool': { about: 'how many pod sandboxes are kept ready', default: '4', read: wholeNumber(0, 64) },
  'log-level': {
    about: 'debug, info, warn or error',
    default: 'info',
    read: oneOf('debug', 'info', 'warn', 'error'),
  },
});

type Table = typeof settingTable;
export type SettingName = keyof Table;

type Value<N extends SettingName> = Table[N]['read'] extends (text: string) => infer T ? T : never;

/** A setting with a default always has a value. */
export type Settings<N extends SettingName> = {
  readonly [K in N]: Table[K] extends { default: string } ? Value<K> : Value<K> | undefined;
};

/** The command-line flags of a role. */
export function settingArgs(names: readonly SettingName[], configFile: string): ArgsDef {
  const args: ArgsDef = {
    config: { type: 'string', description: `configuration file (default ${configFile})` },
  };
  for (const name of names) {
    const definition: SettingDefinition<unknown> = settingTable[name];
    if (definition.secret) continue;
    const suffix = definition.default === undefined ? '' : ` (default ${definition.default})`;
    args[name] = { type: 'string', description: definition.about + suffix };
  }
  return args;
}

export interface SettingSources {
  /** Flags by name, as citty gives them. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Read when it exists; a file named by `--config` must exist. */
  readonly configFile: string;
  /** The file's keys as this role reads them: other spellings become the settings' own. */
  readonly translate?: (file: ConfigFile, path: string) => ConfigFile;
}

export type ConfigFile = Readonly<Record<string, unknown>>;

/** Throws UsageError naming the flag, variable or key that can not be used. */
export function readSettings<const N extends SettingName>(
  names: readonly N[],
  sources: SettingSources,
): Settings<N> {
  const named = sources.flags.config ?? sources.environment.MINIK8S_CONFIG;
  const path = typeof named === 'string' ? named : sources.configFile;
  const content = readConfigFile(path, typeof named === 'string');
  const file = sources.translate?.(content, path) ?? content;
  for (const key of Object.keys(file)) {
    if (!names.some((name) => name === key)) {
      throw new UsageError(`${path}: ${key}: no such setting; known: ${names.join(', ')}`);
    }
  }
  const settings: Partial<Record<SettingName, unknown>> = {};
  for (const name of names) {
    const definition: SettingDefinition<unknown> = settingTable[name];
    const variable = `MINIK8S_${name.toUpperCase().replaceAll('-', '_')}`;
    const candidates: readonly (readonly [string, unknown])[] = [
      [`--${name}`, definition.secret ? undefined : sources.flags[name]],
      [variable, sources.environment[variable]],
      [`${path}: ${name}`, file[name]],
      [`--${name}`, definition.default],
    ];
    // A key without a value says no more than one that is not there.
    const [origin, value] = candidates.find(([, candidate]) => (candidate ?? undefined) !== undefined) ?? [];
    if (value !== undefined) settings[name] = readOne(definition, origin ?? '', value);
  }
  return settings as Settings<N>;
}

function readOne(definition: SettingDefinition<unknown>, origin: string, value: unknown): unknown {
  const words = wordsOf(value);
  try {
    return definition.read(words);
  } catch (error) {
    const shown = definition.secret ? '' : `"${words}": `;
    throw new UsageError(`${origin}: ${shown}${errorMessage(error)}`);
  }
}

/** A list, a map or a map of a taint, as it would be written on the command line. */
function wordsOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(wordsOf).join(',');
  if (typeof value !== 'object' || value === null) return String(value ?? '');
  if ('key' in value && 'effect' in value) {
    const { key, effect, value: content } = value as Readonly<Record<string, unknown>>;
    return `${key}${content === undefined ? '' : `=${content}`}:${effect}`;
  }
  return Object.entries(value)
    .map(([key, content]) => `${key}=${typeof content === 'object' ? JSON.stringify(content) : content}`)
    .join(',');
}

function readConfigFile(path: string, mustExist: boolean): ConfigFile {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    if (!mustExist && (error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new UsageError(`cannot read the configuration file ${path}: ${whyUnreadable(error)}`);
  }
  let value: unknown;
  try {
    value = parse(content) ?? {};
  } catch (error) {
    // The lines after the first show the place, which the first one names.
    const [what = ''] = (error as Error).message.split(/:?\n/);
    throw new UsageError(`${path}: not YAML: ${what}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`${path}: expected lines such as "port: 6443"`);
  }
  return value as Record<string, unknown>;
}

function whyUnreadable(error: unknown): string {
  const known: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a directory',
    EACCES: 'it may not be read',
  };
  return known[(error as NodeJS.ErrnoException).code ?? ''] ?? errorMessage(error);
}
