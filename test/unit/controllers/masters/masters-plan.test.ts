import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '../../../../src/api/coordination/v1/lease.ts';
import { hostnameAnnotation, placesOf } from '../../../../src/api/coordination/v1/master-lease.ts';
import type { Endpoints } from '../../../../src/api/core/v1/service/endpoints.ts';
import type { EndpointSlice } from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import { deepCopy } from '../../../../src/apimachinery/equality.ts';
import {
  identityOf,
  leaseNameOf,
  masterLabels,
  mastersOf,
  planEndpoints,
  planSlices,
} from '../../../../src/controllers/masters/masters-plan.ts';

const lease = (holderIdentity: string | undefined) => ({ spec: { holderIdentity } }) as Lease;
const at = (text: string) => mastersOf([lease(text)])[0] ?? assert.fail(text);
const stored = (slices: ReturnType<typeof planSlices>['create']) =>
  slices.map((slice) => ({
    ...slice,
    metadata: { ...slice.metadata, uid: slice.metadata.name ?? '', resourceVersion: '1' },
  })) as EndpointSlice[];
const brief = ({ metadata, endpoints, ports }: EndpointSlice) =>
  `${metadata.name} ${endpoints.map(({ addresses }) => addresses.join()).join()}:${ports[0]?.port}`;
const briefly = ({ create, update, remove }: ReturnType<typeof planSlices>) => ({
  create: stored(create).map(brief),
  update: update.map(brief),
  remove: remove.map(({ metadata }) => metadata.name),
});

test('the addresses in Leases are distinct and sorted, and Leases without a valid address are ignored', () => {
  const leases = [
    '192.0.2.11:6443',
    '192.0.2.10:6443',
    '192.0.2.11:6443',
    '127.0.0.1:6443',
    '',
    'me',
    '1.2.3.4',
    undefined,
  ];
  assert.deepEqual(mastersOf(leases.map(lease)), [
    { address: '192.0.2.10', port: 6443 },
    { address: '192.0.2.11', port: 6443 },
  ]);
});

test('the masters are the addresses and host names of the labeled Leases', () => {
  const labelled = (holderIdentity: string, annotations?: Record<string, string>) =>
    ({ metadata: { labels: masterLabels, annotations }, spec: { holderIdentity } }) as unknown as Lease;
  const unlabelled = { metadata: { labels: {} }, spec: { holderIdentity: '192.0.2.12:6443' } } as Lease;
  const bare = { metadata: {}, spec: { holderIdentity: '192.0.2.13:6443' } } as Lease;
  const leases = [
    labelled('192.0.2.10:6443', { [hostnameAnnotation]: 'm1' }),
    labelled('192.0.2.11:6443'),
    labelled('m1'),
    unlabelled,
    bare,
  ];
  assert.deepEqual(placesOf(leases), [
    { address: '192.0.2.10', hostname: 'm1' },
    { address: '192.0.2.11', hostname: undefined },
  ]);
});

test('a slice lists all masters with the same port, and is not written again', () => {
  const masters = [at('192.0.2.10:6443'), at('192.0.2.11:6443')];
  const plan = planSlices(masters, []);
  assert.deepEqual(briefly(plan), {
    create: ['kubernetes 192.0.2.10,192.0.2.11:6443'],
    update: [],
    remove: [],
  });
  const existing = stored(plan.create);
  assert.deepEqual(briefly(planSlices(masters, existing)), { create: [], update: [], remove: [] });
  assert.deepEqual(briefly(planSlices(masters.slice(1), existing)), {
    create: [],
    update: ['kubernetes 192.0.2.11:6443'],
    remove: [],
  });
});

test('masters on several ports get a slice for each port, and the slice named kubernetes keeps its port', () => {
  const [a, b, c] = [at('192.0.2.1:7001'), at('192.0.2.1:7002'), at('192.0.2.1:6001')];
  const first = planSlices([a, b], []);
  assert.deepEqual(briefly(first).create, ['kubernetes 192.0.2.1:7001', 'kubernetes-7002 192.0.2.1:7002']);
  const existing = stored(first.create);
  assert.deepEqual(briefly(planSlices([a, b, c], existing)), {
    create: ['kubernetes-6001 192.0.2.1:6001'],
    update: [],
    remove: [],
  });
  assert.deepEqual(briefly(planSlices([b], existing)), {
    create: [],
    update: ['kubernetes 192.0.2.1:7002'],
    remove: ['kubernetes-7002'],
  });
});

test('without a reachable master there is no slice', () => {
  assert.deepEqual(briefly(planSlices([], [])), { create: [], update: [], remove: [] });
  const existing = stored(planSlices([at('192.0.2.10:6443')], []).create);
  assert.deepEqual(briefly(planSlices([], existing)).remove, ['kubernetes']);
});

test('a slice of another author stays unchanged, and changes of the managed slices are reverted', () => {
  const [slice] = stored(planSlices([at('192.0.2.10:6443')], []).create);
  assert.ok(slice);
  const other = { ...slice, metadata: { ...slice.metadata, name: 'kubernetes-custom' } };
  const changed = {
    ...slice,
    endpoints: [...slice.endpoints, { addresses: ['203.0.113.9'], conditions: {} }],
  };
  assert.deepEqual(briefly(planSlices([at('192.0.2.10:6443')], [changed as EndpointSlice, other])), {
    create: [],
    update: ['kubernetes 192.0.2.10:6443'],
    remove: [],
  });
});

test('Endpoints list the same masters with a subset for each port, and are not changed again', () => {
  const masters = [at('192.0.2.1:7001'), at('192.0.2.2:7001'), at('192.0.2.1:7002')];
  const { create } = planEndpoints(masters, undefined);
  assert.ok(create);
  const port = (number: number) => [{ name: 'https', protocol: 'TCP', port: number }];
  assert.deepEqual(create.subsets, [
    { addresses: [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }], ports: port(7001) },
    { addresses: [{ ip: '192.0.2.1' }], ports: port(7002) },
  ]);
  assert.equal(create.metadata.name, 'kubernetes');
  const labels = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };
  assert.deepEqual(create.metadata.labels, labels);
  const stored = { ...create, metadata: { ...create.metadata, uid: 'u', resourceVersion: '1' } } as Endpoints;
  assert.deepEqual(planEndpoints(masters, stored), {});
  assert.deepEqual(planEndpoints(masters.slice(1, 2), stored).update?.subsets, [
    { addresses: [{ ip: '192.0.2.2' }], ports: port(7001) },
  ]);
  const bare = { ...stored, metadata: { ...stored.metadata, labels: { theirs: 'a' } } };
  assert.deepEqual(planEndpoints(masters, bare).update?.metadata.labels, { theirs: 'a', ...labels });
});

test('without a reachable master there are no Endpoints', () => {
  assert.deepEqual(planEndpoints([], undefined), {});
  const { create } = planEndpoints([at('192.0.2.1:7001')], undefined);
  assert.deepEqual(planEndpoints([], create as Endpoints), { remove: create });
});

const identityLabel = 'apiserver.kubernetes.io/identity';

test('names, label and annotation of a Lease are the same in every release, since masters of different releases read them', () => {
  const master = { address: '192.0.2.10', port: 6443 };
  assert.equal(leaseNameOf(master), 'apiserver-192.0.2.10-6443');
  assert.equal(identityOf(master), '192.0.2.10:6443');
  assert.deepEqual(masterLabels, { [identityLabel]: 'minik8s' });
  const written = {
    metadata: { labels: { [identityLabel]: '' }, annotations: { 'minik8s.io/hostname': 'm1' } },
    spec: { holderIdentity: '192.0.2.10:6443' },
  } as unknown as Lease;
  assert.deepEqual(placesOf([written]), [{ address: '192.0.2.10', hostname: 'm1' }]);
});

test('an identity other than an address with a port is not a master', () => {
  for (const identity of [
    'x192.0.2.10:6443',
    '192.0.2.10:6443x',
    '192.0.2.256:6443',
    '192.0.2.10:',
    ':6443',
    '1.2:3',
  ])
    assert.deepEqual(mastersOf([lease(identity)]), [], identity);
});

test('a new slice and new Endpoints have all fields', () => {
  const masters = [at('192.0.2.10:6443')];
  assert.deepEqual(planSlices(masters, []).create, [
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'kubernetes',
        namespace: 'default',
        labels: { 'kubernetes.io/service-name': 'kubernetes' },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.10'], conditions: { ready: true } }],
      ports: [{ name: 'https', protocol: 'TCP', port: 6443 }],
    },
  ]);
  const { create } = planEndpoints(masters, undefined);
  assert.deepEqual(
    [create?.apiVersion, create?.kind, create?.metadata.namespace],
    ['v1', 'Endpoints', 'default'],
  );
});

test("an update keeps the object's uid and version, and foreign labels", () => {
  const masters = [at('192.0.2.10:6443')];
  const [slice] = stored(planSlices(masters, []).create);
  assert.ok(slice);
  const before = deepCopy(slice);
  before.endpoints = [];
  before.metadata.labels = { theirs: 'a' };
  assert.deepEqual(planSlices(masters, [before]).update, [
    {
      ...slice,
      metadata: { ...slice.metadata, labels: { theirs: 'a', 'kubernetes.io/service-name': 'kubernetes' } },
    },
  ]);
  const endpoints = planEndpoints(masters, undefined).create as Endpoints;
  const known = {
    ...endpoints,
    subsets: [],
    metadata: { ...endpoints.metadata, uid: 'u', resourceVersion: '7' },
  };
  assert.deepEqual(planEndpoints(masters, known), {
    update: { ...known, subsets: endpoints.subsets },
  });
});

test('the slice that a former selector of the Service caused is deleted; a slice of another controller stays', () => {
  const masters = [at('192.0.2.10:6443')];
  const [slice] = stored(planSlices(masters, []).create);
  assert.ok(slice);
  const managedBy = (manager: string) => ({
    ...slice,
    metadata: {
      ...slice.metadata,
      name: `kubernetes-${manager.slice(0, 1)}abcd`,
      labels: { ...slice.metadata.labels, 'endpointslice.kubernetes.io/managed-by': manager },
    },
  });
  const others = [managedBy('endpointslice-controller.k8s.io'), managedBy('somebody')];
  assert.deepEqual(briefly(planSlices(masters, [slice, ...others])), {
    create: [],
    update: [],
    remove: ['kubernetes-eabcd'],
  });
});

test('without a slice named kubernetes the lowest port gets this name, and keeps it', () => {
  const masters = [at('192.0.2.1:7001'), at('192.0.2.1:6001')];
  assert.deepEqual(briefly(planSlices(masters, [])).create, [
    'kubernetes-7001 192.0.2.1:7001',
    'kubernetes 192.0.2.1:6001',
  ]);
  const first = stored(planSlices([at('192.0.2.1:7001')], []).create);
  const other = first.map((slice) => ({ ...slice, metadata: { ...slice.metadata, name: 'other' } }));
  assert.deepEqual(briefly(planSlices(masters, [...other, ...first])).create, [
    'kubernetes-6001 192.0.2.1:6001',
  ]);
});
