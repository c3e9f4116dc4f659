import { leaseResource } from '../../../../../src/api/coordination/v1/lease.ts';
import { configMapResource } from '../../../../../src/api/core/v1/config-map.ts';
import { eventResource } from '../../../../../src/api/core/v1/event/event.ts';
import { namespaceResource } from '../../../../../src/api/core/v1/namespace.ts';
import { nodeResource } from '../../../../../src/api/core/v1/node/node.ts';
import { secretResource } from '../../../../../src/api/core/v1/secret.ts';
import { endpointSliceResource } from '../../../../../src/api/discovery/v1/endpoint-slice.ts';
import { type Row, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';

const core = (kind: string, rest: object = {}) => ({
  apiVersion: 'v1',
  kind,
  metadata: { name: 'a', namespace: 'default' },
  ...rest,
});

testCreate(namespaceResource, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'prod' } }, [
  [
    'dotted name',
    { metadata: { name: 'a.b' } },
    'metadata.name: Invalid value: "a.b": a lowercase RFC 1123 label',
  ],
  [
    'long name',
    { metadata: { name: 'a'.repeat(64) } },
    'metadata.name: Invalid value: "aaa',
    'metadata.labels: Invalid value: "aaa',
  ],
  ['own finalizer', { spec: { finalizers: ['example.com/x'] } }],
  [
    'finalizer without a domain',
    { spec: { finalizers: ['mine'] } },
    'spec.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
  ],
]);

const configMap = core('ConfigMap', { data: { 'app.conf': 'x' } });

testCreate(configMapResource, configMap, [
  ['all fields empty', { data: null }],
  ['key', { data: { 'a b': 'x' } }, 'data[a b]: Invalid value: "a b": a valid config key must consist of'],
  ['the key ..', { data: { '..': 'x' } }, `data[..]: Invalid value: "..": must not be '..'`],
  ['bytes', { binaryData: { bin: 'AAEC' } }],
  [
    'the same key twice',
    { binaryData: { 'app.conf': 'AAEC' } },
    'data[app.conf]: Invalid value: "app.conf": duplicate of key present in binaryData',
  ],
  ['1 MiB', { data: { 'app.conf': 'x'.repeat(1024 * 1024) } }],
  [
    'more than 1 MiB',
    { data: { 'app.conf': `é${'x'.repeat(1024 * 1024 - 1)}` } },
    '[]: Too long: may not be more than 1048576 bytes',
  ],
]);

testUpdate(configMapResource, configMap, [
  ['data', { data: { 'app.conf': 'y' } }],
  ['immutable and data changed together', { data: { 'app.conf': 'y' }, immutable: true }],
]);

const sealed = 'Forbidden: field is immutable when `immutable` is set';

testUpdate(configMapResource, { ...configMap, immutable: true }, [
  ['labels', { metadata: { labels: { a: 'b' } } }],
  ['data', { data: { 'app.conf': 'y' } }, `data: ${sealed}`],
  ['bytes', { binaryData: { b: 'AAEC' } }, `binaryData: ${sealed}`],
  ['to mutable', { immutable: false }, `immutable: ${sealed}`],
]);

testCreate(secretResource, core('Secret', { data: { key: 'dmFsdWU=' } }), [
  ['text', { stringData: { other: 'grüße' } }],
  ['key', { data: { 'a/b': 'eA==' } }, 'data[a/b]: Invalid value: "a/b": a valid config key'],
  ['1 MiB', { stringData: { key: 'x'.repeat(1024 * 1024) } }],
  [
    'more than 1 MiB',
    { stringData: { key: 'x'.repeat(1024 * 1024 + 1) } },
    'data: Too long: may not be more than 1048576',
  ],
  ['a type named constructor', { type: 'constructor' }],
  ['TLS', { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'c', 'tls.key': 'k' } }],
  [
    'TLS without the required keys',
    { type: 'kubernetes.io/tls' },
    'data[tls.crt]: Required value',
    'data[tls.key]: Required value',
  ],
  ['registry', { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{}' } }],
  [
    'a registry secret without the required key',
    { type: 'kubernetes.io/dockerconfigjson' },
    'data[.dockerconfigjson]: Required value',
  ],
  ['basic', { type: 'kubernetes.io/basic-auth', stringData: { password: 'x' } }],
  [
    'basic auth without username and password',
    { type: 'kubernetes.io/basic-auth' },
    'data[username]: Required value',
    'data[password]: Required value',
  ],
  [
    'token',
    {
      type: 'kubernetes.io/service-account-token',
      metadata: { annotations: { 'kubernetes.io/service-account.name': 'sa' } },
    },
  ],
  [
    'a token without an account',
    { type: 'kubernetes.io/service-account-token' },
    'metadata.annotations[kubernetes.io/service-account.name]: Required value',
  ],
]);

testUpdate(secretResource, core('Secret', { data: { key: 'dmFsdWU=' } }), [
  ['data', { stringData: { key: 'x' } }],
  ['type', { type: 'example.com/x' }, 'type: Invalid value: "example.com/x": field is immutable'],
]);

testUpdate(secretResource, core('Secret', { data: { key: 'dmFsdWU=' }, immutable: true }), [
  ['unchanged data', { stringData: { key: 'value' } }],
  ['data', { stringData: { key: 'x' } }, `data: ${sealed}`],
  ['to mutable', { immutable: null }, `immutable: ${sealed}`],
]);

const event = core('Event', { involvedObject: { kind: 'Pod', namespace: 'default', name: 'web' } });
const newer = {
  eventTime: '2026-01-01T00:00:00.000000Z',
  reportingComponent: 'example.com/x',
  reportingInstance: 'x-1',
  action: 'Bind',
  reason: 'Bound',
};

testCreate(eventResource, event, [
  [
    'about an object of another namespace',
    { involvedObject: { namespace: 'prod' } },
    'involvedObject.namespace: Invalid value: "prod": does not match event.namespace',
  ],
  ['about a node', { involvedObject: { kind: 'Node', namespace: null } }],
  [
    'about a node, in a namespace other than default',
    { metadata: { namespace: 'prod' }, involvedObject: { namespace: null } },
    'involvedObject.namespace: Invalid value: "": does not match event.namespace',
  ],
  ['with the fields of events.k8s.io', newer],
  [
    'about a node, with the fields of events.k8s.io, in kube-system',
    {
      ...newer,
      metadata: { namespace: 'kube-system' },
      involvedObject: { namespace: null },
    },
  ],
  [
    'with an eventTime and without the other fields of events.k8s.io',
    { eventTime: newer.eventTime },
    'reportingComponent: Required value',
    'reportingInstance: Required value',
    'action: Required value',
    'reason: Required value',
  ],
  [
    'too long',
    { ...newer, action: 'x'.repeat(129), message: 'x'.repeat(1025) },
    `action: Invalid value: "${'x'.repeat(129)}": can have at most 128 characters`,
    `message: Invalid value: "${'x'.repeat(1025)}": can have at most 1024 characters`,
  ],
]);

testCreate(
  leaseResource,
  { ...core('Lease'), apiVersion: 'coordination.k8s.io/v1', spec: { leaseDurationSeconds: 40 } },
  [
    [
      'no duration',
      { spec: { leaseDurationSeconds: 0 } },
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
    ],
    [
      'negative transitions',
      { spec: { leaseTransitions: -1 } },
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ],
  ],
);

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: { podCIDR: '10.244.0.0/24' } };

testCreate(nodeResource, node, [
  [
    'taints',
    {
      spec: {
        taints: [
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoExecute', value: 'v' },
        ],
      },
    },
  ],
  [
    'bad taints',
    {
      spec: {
        taints: [
          { key: '', effect: 'NoSchedule' },
          { key: 'a b', value: 'c d', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoSchedule' },
          { key: 'a', effect: 'NoSchedule' },
        ],
      },
    },
    'metadata.taints[0].key: Required value',
    'metadata.taints[1].key: Invalid value: "a b": name part',
    'metadata.taints[1].value: Invalid value: "c d": a valid label',
    'metadata.taints[3]: Duplicate value: {"key":"a","effect":"NoSchedule"}: taints must be unique by key and effect pair',
  ],
  [
    'range',
    { spec: { podCIDR: '10.0.0.0/33' } },
    'spec.podCIDRs[0]: Invalid value: "10.0.0.0/33": must be a valid CIDR',
  ],
  [
    'podCIDRs that contradict podCIDR',
    { spec: { podCIDRs: ['10.1.0.0/24'] } },
    'spec.podCIDR: Invalid value: "10.244.0.0/24": must be the first of spec.podCIDRs',
  ],
  ['IPv6 range', { spec: { podCIDR: 'fd00::/64' } }],
  ['range of each family', { spec: { podCIDRs: ['10.244.0.0/24', 'fd00::/64'] } }],
  ...[
    ['10.244.0.0/24', '10.245.0.0/24'],
    ['10.244.0.0/24', '10.244.0.0/24'],
    ['10.244.0.0/24', 'fd00::/64', 'fd01::/64'],
  ].map(
    (podCIDRs): Row => [
      `ranges ${podCIDRs}`,
      { spec: { podCIDRs } },
      `spec.podCIDRs: Invalid value: ${JSON.stringify(podCIDRs)}: may specify no more than one CIDR for each IP family`,
    ],
  ),
]);

testUpdate(nodeResource, node, [
  ['unschedulable', { spec: { unschedulable: true } }],
  [
    'another range',
    { spec: { podCIDR: '10.1.0.0/24', podCIDRs: null } },
    'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
  ],
]);

testUpdate(nodeResource, { ...node, spec: {} }, [
  ['first range', { spec: { podCIDR: '10.1.0.0/24' } }],
  ['first provider ID', { spec: { providerID: 'a://1' } }],
]);
const provided = { ...node, spec: { ...node.spec, providerID: 'a://1' } };
testUpdate(
  nodeResource,
  provided,
  ['a://2', null].map((providerID) => [
    `provider ID to ${providerID}`,
    { spec: { providerID } },
    'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
  ]),
);

const slice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'web-abc', namespace: 'default' },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.244.0.5'], nodeName: 'n1', hostname: 'web-0' }],
  ports: [{ name: 'http', port: 80 }],
};

testCreate(endpointSliceResource, slice, [
  ['all fields empty', { endpoints: null, ports: null }],
  [
    'endpoint without an address',
    { endpoints: [{ addresses: [] }] },
    'endpoints[0].addresses: Required value: must contain',
  ],
  [
    'addresses of another type',
    { endpoints: [{ addresses: ['fd00::1', '10.0.0.256'] }] },
    'endpoints[0].addresses[0]: Invalid value: "fd00::1": must be a valid IPv4 address',
    'endpoints[0].addresses[1]: Invalid value: "10.0.0.256": must be a valid IPv4 address',
  ],
  [
    'special addresses',
    { endpoints: [{ addresses: ['127.0.0.1', '0.0.0.0', '169.254.1.1', '224.0.0.5'] }] },
    'endpoints[0].addresses[0]: Invalid value: "127.0.0.1": may not be in the loopback range',
    'endpoints[0].addresses[1]: Invalid value: "0.0.0.0": may not be unspecified (0.0.0.0)',
    'endpoints[0].addresses[2]: Invalid value: "169.254.1.1": may not be in the link-local range',
    'endpoints[0].addresses[3]: Invalid value: "224.0.0.5": may not be in the link-local multicast range',
  ],
  ['IPv6', { addressType: 'IPv6', endpoints: [{ addresses: ['fd00::1', '2001:db8::10.0.0.1'] }] }],
  [
    'special IPv6',
    { addressType: 'IPv6', endpoints: [{ addresses: ['::1', '::', 'fe80::1', 'ff02::1', '1::2::3'] }] },
    'endpoints[0].addresses[0]: Invalid value: "::1": may not be in the loopback range',
    'endpoints[0].addresses[1]: Invalid value: "::": may not be unspecified',
    'endpoints[0].addresses[2]: Invalid value: "fe80::1": may not be in the link-local range',
    'endpoints[0].addresses[3]: Invalid value: "ff02::1": may not be in the link-local multicast range',
    'endpoints[0].addresses[4]: Invalid value: "1::2::3": must be a valid IPv6 address',
  ],
  ['names', { addressType: 'FQDN', endpoints: [{ addresses: ['example.com'] }] }],
  [
    'the maximum number of endpoints and addresses',
    { endpoints: new Array(1000).fill({ addresses: new Array(100).fill('10.0.0.1') }) },
  ],
  [
    'too many',
    { endpoints: new Array(1001).fill({ addresses: ['10.0.0.1'] }) },
    'endpoints: Too many: 1001: must have at most 1000 items',
  ],
  [
    'too many addresses',
    { endpoints: [{ addresses: new Array(101).fill('10.0.0.1') }] },
    'endpoints[0].addresses: Too many: 101: must have at most 100 items',
  ],
  [
    'host and node',
    { endpoints: [{ addresses: ['10.0.0.1'], hostname: 'A', nodeName: 'B' }] },
    'endpoints[0].hostname: Invalid value: "A": a lowercase RFC 1123 label',
    'endpoints[0].nodeName: Invalid value: "B": a lowercase RFC 1123 subdomain',
  ],
  [
    'ports',
    { ports: [{ name: 'A', port: 80 }, { name: 'b', port: 0 }, { name: 'b' }] },
    'ports[0].name: Invalid value: "A": a lowercase RFC 1123 label',
    'ports[1].port: Invalid value: 0: must be between 1 and 65535, inclusive',
    'ports[2].name: Duplicate value: "b"',
  ],
  [
    'zones in hints',
    { endpoints: [{ addresses: ['10.0.0.1'], hints: { forZones: [{ name: 'a' }, { name: 'b' }] } }] },
  ],
  [
    'invalid zones in hints',
    {
      endpoints: [
        { addresses: ['10.0.0.1'], hints: { forZones: [{ name: 'a' }, { name: 'a' }, { name: 'b c' }] } },
      ],
    },
    'endpoints[0].hints.forZones[1].name: Duplicate value: "a"',
    'endpoints[0].hints.forZones[2].name: Invalid value: "b c": a valid label',
  ],
  [
    'too many zones in hints',
    {
      endpoints: [
        {
          addresses: ['10.0.0.1'],
          hints: { forZones: Array.from({ length: 9 }, (_, name) => ({ name: `z${name}` })) },
        },
      ],
    },
    'endpoints[0].hints.forZones: Too many: 9: must have at most 8 items',
  ],
  [
    'invalid labels in deprecatedTopology',
    { endpoints: [{ addresses: ['10.0.0.1'], deprecatedTopology: { 'a b': 'c' } }] },
    'endpoints[0].deprecatedTopology: Invalid value: "a b": name part',
  ],
  [
    'too many labels in deprecatedTopology',
    {
      endpoints: [
        {
          addresses: ['10.0.0.1'],
          deprecatedTopology: Object.fromEntries(
            Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v']),
          ),
        },
      ],
    },
    'endpoints[0].deprecatedTopology: Too many: 17: must have at most 16 items',
  ],
]);

testUpdate(endpointSliceResource, { ...slice, endpoints: [] }, [
  ['endpoints', { endpoints: slice.endpoints }],
  ['address type', { addressType: 'IPv6' }, 'addressType: Invalid value: "IPv6": field is immutable'],
]);
