/** Settings of the API server, of tokens of service accounts, and of the store. */
import { defaultConnections } from '../../apiserver/load/connections.ts';
import { defaultLimits } from '../../apiserver/load/in-flight.ts';
import { http2Clients } from '../../apiserver/transport/http2-clients.ts';
import { featureNames, readFeatures } from '../../features/names.ts';
import { define } from '../../settings/definition.ts';
import { duration } from '../../settings/duration.ts';
import { listenAddress, oneOf, text, wholeNumber } from '../../settings/readers.ts';

export const apiServerSettings = define({
  'bind-address': {
    about: 'address that the API server listens on; :: is all addresses, also of IPv6',
    hint: 'ADDRESS',
    default: '0.0.0.0',
    read: listenAddress,
    subject: 'API server',
    parts: ['control plane'],
  },
  port: {
    about: 'port of the API server',
    hint: 'PORT',
    default: '6443',
    read: wholeNumber(1, 65535),
    subject: 'API server',
    parts: ['control plane'],
  },
  'restart-hold': {
    about: 'time for which new connections wait for the next start after a stop; 0s: they are refused',
    hint: 'DURATION',
    default: '30s',
    read: duration('0s', '5m'),
    subject: 'API server',
    parts: ['control plane'],
  },
  'token-auth-file': {
    about: 'static bearer tokens: lines of token,user,uid,"group1,group2"',
    hint: 'FILE',
    usual: 'none',
    read: text,
    subject: 'API server',
    parts: ['control plane'],
  },
  dashboard: {
    about: 'serve the dashboard at /dashboard, and accept the sessions of browsers that log in there',
    hint: 'true|false',
    default: 'true',
    read: oneOf('true', 'false'),
    subject: 'API server',
    parts: ['control plane'],
  },
  'admission-control-config-file': {
    about: 'configuration of the admission plugins ResourceQuota and PodSecurity (AdmissionConfiguration)',
    hint: 'FILE',
    usual: 'none',
    read: text,
    subject: 'API server',
    parts: ['control plane'],
  },
  'max-requests-inflight': {
    about: 'maximum number of concurrent requests, separately for users and nodes; half for one user',
    default: String(defaultLimits.requests),
    read: wholeNumber(20, 10_000),
    subject: 'API server',
    parts: ['control plane'],
  },
  'max-watches-per-user': {
    about: 'maximum number of open watches per user',
    default: String(defaultLimits.watches),
    read: wholeNumber(20, 100_000),
    subject: 'API server',
    parts: ['control plane'],
  },
  'max-connections': {
    about: 'maximum number of connections to the API server; a quarter for one user',
    default: String(defaultConnections),
    read: wholeNumber(100, 100_000),
    subject: 'API server',
    parts: ['control plane'],
  },
  http2: {
    about: 'clients that may use HTTP/2: all, or kubelets only',
    hint: 'CLIENTS',
    default: 'all',
    read: oneOf(...http2Clients),
    subject: 'API server',
    parts: ['control plane'],
  },
  features: {
    about: 'features besides Kubernetes, comma-separated; none disables all',
    hint: 'FEATURE,…',
    usual: `all: ${featureNames.join(',')}`,
    read: readFeatures,
    subject: 'API server',
    parts: ['control plane', 'node'],
    shared: true,
  },
  'service-account-issuer': {
    about: 'issuer of service account tokens; further names, comma-separated, are accepted too',
    hint: 'URL,…',
    usual: 'https://kubernetes.default.svc.DOMAIN',
    read: issuers,
    subject: 'Tokens of service accounts',
    parts: ['control plane'],
  },
  'service-account-jwks-uri': {
    about: 'URL at which other services read the public keys of the issuer',
    hint: 'URL',
    usual: 'this server',
    read: httpsUrl,
    subject: 'Tokens of service accounts',
    parts: ['control plane'],
  },
  'service-account-key-age': {
    about:
      'time after which the signing key of tokens is replaced; the old key still verifies earlier tokens',
    hint: 'DURATION',
    default: '8760h',
    read: duration('2h', '87600h'),
    subject: 'Tokens of service accounts',
    parts: ['control plane'],
  },
  'service-account-extend-token-expiration': {
    about: 'extend tokens in pods to one year, for programs that read them only once',
    hint: 'true|false',
    default: 'true',
    read: oneOf('true', 'false'),
    subject: 'Tokens of service accounts',
    parts: ['control plane'],
  },
  'etcd-endpoints': {
    about: 'URLs of an external etcd, comma-separated',
    hint: 'URL,…',
    usual: 'an embedded etcd',
    read: endpoints,
    subject: 'Storage',
    parts: ['control plane'],
  },
  'etcd-ca': {
    about: 'CA certificate that verifies the external etcd',
    hint: 'FILE',
    usual: 'none',
    read: text,
    subject: 'Storage',
    parts: ['control plane'],
  },
  'etcd-cert': {
    about: 'client certificate for the external etcd',
    hint: 'FILE',
    usual: 'none',
    read: text,
    subject: 'Storage',
    parts: ['control plane'],
  },
  'etcd-key': {
    about: 'private key of the certificate in --etcd-cert',
    hint: 'FILE',
    usual: 'none',
    read: text,
    subject: 'Storage',
    parts: ['control plane'],
  },
  'etcd-peer-port': {
    about: 'port on which the embedded etcd listens for other masters, once there are any',
    hint: 'PORT',
    default: '2380',
    read: wholeNumber(1, 65535),
    subject: 'Storage',
    parts: ['control plane'],
  },
  'event-ttl': {
    about: 'time for which an Event is kept after its last occurrence',
    hint: 'DURATION',
    default: '1h',
    read: duration('1m', '8760h'),
    subject: 'Storage',
    parts: ['control plane'],
  },
});

function issuers(value: string): readonly string[] {
  const all = value.split(',').filter((part) => part !== '');
  if (all.length === 0) throw new Error('expected a URL such as https://cluster.example.com');
  return all.map(httpsUrl);
}

/** Reads the URL of an issuer (OpenID Connect Discovery): no query or fragment is allowed. */
function httpsUrl(value: string): string {
  const url = URL.parse(value);
  if (url?.protocol === 'https:' && url.host !== '' && !/[?#\s]/.test(value)) return value;
  throw new Error('expected a URL such as https://cluster.example.com');
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
