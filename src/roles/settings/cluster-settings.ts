/** Settings of masters. */

import { defaultConnections } from '../../apiserver/load/connections.ts';
import { defaultLimits } from '../../apiserver/load/in-flight.ts';
import { http2Clients } from '../../apiserver/transport/http2-clients.ts';
import { parseRange } from '../../base/addresses.ts';
import { share } from '../../base/tracing/share.ts';
import { defaultDnsDomains } from '../../features/host-names/api/dns-host-problem.ts';
import { featureNames, readFeatures } from '../../features/names.ts';
import { parseScoringStrategy, type ScoringStrategy } from '../../scheduler/scoring-strategy.ts';
import { domain, domains, nameServers } from './dns-values.ts';
import { duration } from './duration.ts';
import { address, cidr, define, oneOf, text, wholeNumber } from './setting-values.ts';

function nodePortRange(value: string): readonly [number, number] {
  const match = /^(\d+)-(\d+)$/.exec(value);
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  if (!match || first < 1 || last > 65535 || first > last)
    throw new Error('expected ports such as 30000-32767');
  return [first, last];
}

function scoringStrategy(value: string): ScoringStrategy {
  const strategy = parseScoringStrategy(value);
  if (strategy) return strategy;
  const shape =
    'RequestedToCapacityRatio=PERCENT:SCORE,… with percents that rise to 100 at most and scores of 0 to 10';
  throw new Error(`expected LeastAllocated, MostAllocated or ${shape}`);
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

/** Reads the URL of an issuer (OpenID Connect Discovery): no query or fragment is allowed. */
function httpsUrl(value: string): string {
  const url = URL.parse(value);
  if (url?.protocol === 'https:' && url.host !== '' && !/[?#\s]/.test(value)) return value;
  throw new Error('expected a URL such as https://cluster.example.com');
}

/**
 * Reads the URL of a server. A user name and a password are rejected, because everybody on the machine could
 * see them.
 */
function serverUrl(value: string): string {
  const url = URL.parse(value);
  const isPlain =
    url && url.username === '' && url.password === '' && url.host !== '' && !/[?#\s]/.test(value);
  if (isPlain && /^https?:$/.test(url.protocol)) return value;
  throw new Error('expected a URL such as https://prometheus.example.com:9090, without a password');
}

function issuers(value: string): readonly string[] {
  const all = value.split(',').filter((part) => part !== '');
  if (all.length === 0) throw new Error('expected a URL such as https://cluster.example.com');
  return all.map(httpsUrl);
}

function ranges(value: string): readonly string[] {
  const all = value.split(',').filter((part) => part !== '');
  if (all.length === 0 || !all.every(parseRange))
    throw new Error('expected IPv4 ranges by their first addresses, such as 203.0.113.0/24,198.51.100.7/32');
  return all;
}

export const clusterSettings = define({
  'bind-address': {
    about: 'address that the API server listens on',
    hint: 'ADDRESS',
    default: '0.0.0.0',
    read: address,
  },
  port: { about: 'port of the API server', hint: 'PORT', default: '6443', read: wholeNumber(1, 65535) },
  'gateway-port': {
    about: 'port for function calls; open while a function exists',
    hint: 'PORT',
    default: '8070',
    read: wholeNumber(1, 65535),
  },
  'python-image': {
    about: 'base image of the python runtime',
    hint: 'IMAGE',
    default: 'python:3-slim',
    read: text,
  },
  'nodejs-image': {
    about: 'base image of the nodejs runtime',
    hint: 'IMAGE',
    default: 'node:lts-slim',
    read: text,
  },
  'warm-pool': {
    about: 'idle instances of each runtime, in each namespace that has functions of the runtime',
    hint: 'NUMBER',
    default: '0',
    read: wholeNumber(0, 50),
  },
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
    about: 'issuer of service account tokens; further names, comma-separated, are accepted too',
    hint: 'URL,…',
    usual: 'https://kubernetes.default.svc.DOMAIN',
    read: issuers,
  },
  'service-account-jwks-uri': {
    about: 'URL at which other services read the public keys of the issuer',
    hint: 'URL',
    usual: 'this server',
    read: httpsUrl,
  },
  'service-account-key-age': {
    about: 'time after which the signing key of those tokens is replaced; the old key still verifies them',
    hint: 'DURATION',
    default: '8760h',
    read: duration('2h', '87600h'),
  },
  'service-account-extend-token-expiration': {
    about: 'extend tokens in pods to one year, for programs that read them only once',
    hint: 'true|false',
    default: 'true',
    read: oneOf('true', 'false'),
  },
  'admission-control-config-file': {
    about: 'configuration of the admission plugins ResourceQuota and PodSecurity (AdmissionConfiguration)',
    hint: 'FILE',
    usual: 'none',
    read: text,
  },
  'service-cidr': { about: 'address range of Services', hint: 'RANGE', default: '10.96.0.0/16', read: cidr },
  'service-external-ip-ranges': {
    about: 'address ranges allowed in externalIPs of Services, comma-separated',
    hint: 'RANGE,…',
    usual: 'none: externalIPs are refused',
    read: ranges,
  },
  features: {
    about: 'features besides Kubernetes, comma-separated; none disables all',
    hint: 'FEATURE,…',
    usual: `all: ${featureNames.join(',')}`,
    read: readFeatures,
  },
  'dns-domains': {
    about: 'parent domains allowed for hosts of Dns objects, comma-separated',
    hint: 'DOMAIN,…',
    usual: defaultDnsDomains.join(','),
    read: domains,
  },
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
    about: 'time without heartbeats after which a node is Unknown and its pods leave Services; at least 5s',
    hint: 'DURATION',
    default: '40s',
    read: duration('5s', '1h'),
  },
  'event-ttl': {
    about: 'time for which an Event is kept after its last occurrence',
    hint: 'DURATION',
    default: '1h',
    read: duration('1m', '8760h'),
  },
  'default-not-ready-toleration-seconds': {
    about: 'default toleration of pods for a node that is not ready',
    hint: 'SECONDS',
    default: '300',
    read: wholeNumber(0, 86400),
  },
  'default-unreachable-toleration-seconds': {
    about: 'default toleration of pods for an unreachable node',
    hint: 'SECONDS',
    default: '300',
    read: wholeNumber(0, 86400),
  },
  'max-requests-inflight': {
    about: 'maximum number of concurrent requests, separately for users and nodes; half for one user',
    default: String(defaultLimits.requests),
    read: wholeNumber(20, 10_000),
  },
  'max-watches-per-user': {
    about: 'maximum number of open watches per user',
    default: String(defaultLimits.watches),
    read: wholeNumber(20, 100_000),
  },
  'max-connections': {
    about: 'maximum number of connections to the API server; a quarter for one user',
    default: String(defaultConnections),
    read: wholeNumber(100, 100_000),
  },
  http2: {
    about: 'clients that may use HTTP/2: all, or kubelets only',
    hint: 'CLIENTS',
    default: 'all',
    read: oneOf(...http2Clients),
  },
  'scheduling-policy': {
    about: 'scheduling policy: Default, RoundRobin, Random, LeastPod, LeastCpu or LeastMem',
    hint: 'POLICY',
    default: 'Default',
    read: oneOf('Default', 'RoundRobin', 'Random', 'LeastPod', 'LeastCpu', 'LeastMem'),
  },
  'scoring-strategy': {
    about:
      'scoring of the Default policy: LeastAllocated, MostAllocated, or RequestedToCapacityRatio=0:10,100:0 (percent allocated:score from 0 to 10)',
    hint: 'STRATEGY',
    default: 'LeastAllocated',
    read: scoringStrategy,
  },
  'hpa-sync-period': {
    about: 'sync period of each HorizontalPodAutoscaler; its annotation overrides this',
    hint: 'DURATION',
    default: '15s',
    read: duration('1s', '1h'),
  },
  'hpa-tolerance': {
    about: 'minimum deviation from the target ratio before a HorizontalPodAutoscaler scales, such as 0.1',
    hint: 'SHARE',
    default: '0.1',
    read: share,
  },
  'prometheus-url': {
    about: 'Prometheus with the custom and external metrics of HorizontalPodAutoscalers',
    hint: 'URL',
    usual: 'none: such metrics are not known',
    read: serverUrl,
  },
  'prometheus-ca': {
    about: 'CA certificate that verifies the Prometheus',
    hint: 'FILE',
    usual: "the system's",
    read: text,
  },
  'prometheus-token-file': {
    about: 'bearer token for the Prometheus; read again for each query',
    hint: 'FILE',
    usual: 'none',
    read: text,
  },
  'prometheus-queries': {
    about: 'custom queries for metrics by name (MetricQueries, docs/autoscaling.md)',
    hint: 'FILE',
    usual: 'the sum of the series of that name',
    read: text,
  },
});
