import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { EndpointSubset, Endpoints } from '../../../../src/api/core/v1/service/endpoints.ts';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import { maxAddresses, planEndpoints } from '../../../../src/controllers/services/endpoints-plan.ts';
import { planSlices } from '../../../../src/controllers/services/endpointslice-plan.ts';
import { at, container, meta, ownedBy, pod, service } from '../objects.ts';

const ipOf = (index: number) => `10.244.${Math.floor(index / 250)}.${(index % 250) + 1}`;
const ready = (index: number, over: Parameters<typeof pod>[1] = {}) =>
  pod(`p${String(index).padStart(4, '0')}`, { readyAt: 0, ip: ipOf(index), ...over });
const unready = (index: number) => ready(index, { readyAt: undefined });

const slicesOf = (target: Service, pods: readonly Pod[]) =>
  planSlices(target, ownedBy('Service', 'web'), pods, []).create as readonly EndpointSlice[];

/** Returns the stored Endpoints after the plan for a Service with these pods was carried out. */
function publish(target: Service, pods: readonly Pod[], existing?: Endpoints): Endpoints {
  const plan = planEndpoints(target, slicesOf(target, pods), existing);
  if (!plan) return existing ?? assert.fail('nothing was planned');
  if ('update' in plan) return plan.update;
  return { ...plan.create, metadata: { ...meta('web'), ...plan.create.metadata } };
}

const brief = ({ addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset) =>
  [
    addresses.map(({ ip }) => ip).join(),
    notReadyAddresses.map(({ ip }) => ip).join(),
    ports.map(({ name, port }) => `${name ?? ''}:${port}`).join(),
  ].join(' | ');
const briefly = (target: Service, pods: readonly Pod[]) => publish(target, pods).subsets?.map(brief);

describe('the addresses', () => {
  const table: [string, Service, readonly Pod[], readonly string[]][] = [
    ['no pods', service(), [], []],
    [
      'ready and not ready',
      service(),
      [ready(2), unready(1), ready(0)],
      ['10.244.0.1,10.244.0.3 | 10.244.0.2 | :8080'],
    ],
    ['no ready pod', service(), [unready(0)], [' | 10.244.0.1 | :8080']],
    [
      'all pods, with publishNotReadyAddresses',
      service({ publishNotReadyAddresses: true }),
      [unready(0), ready(1, { metadata: { deletionTimestamp: at(9) } })],
      ['10.244.0.1,10.244.0.2 |  | :8080'],
    ],
    [
      'without a terminating pod',
      service(),
      [ready(0), ready(1, { metadata: { deletionTimestamp: at(9) } })],
      ['10.244.0.1 |  | :8080'],
    ],
    [
      'several ports of the same pods, in the order of the Service',
      service({}, [
        { name: 'b', targetPort: 90 },
        { name: 'a', port: 81, targetPort: 91 },
      ]),
      [ready(0), ready(1)],
      ['10.244.0.1,10.244.0.2 |  | b:90,a:91'],
    ],
    [
      'a headless Service without ports',
      service({ clusterIP: 'None' }, []),
      [ready(0), unready(1)],
      ['10.244.0.1 | 10.244.0.2 | '],
    ],
  ];
  for (const [title, target, pods, expected] of table)
    it(title, () => assert.deepEqual(briefly(target, pods), expected));

  it('share a subset by port, if one name has several numbers', () => {
    const at8080 = [container({ ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' as const }] })];
    const at9090 = [container({ ports: [{ name: 'http', containerPort: 9090, protocol: 'TCP' as const }] })];
    const target = service({}, [
      { name: 'web', targetPort: 'http' },
      { name: 'all', targetPort: 7 },
    ]);
    const pods = [
      ready(1, { spec: { containers: at9090 } }),
      ready(0, { spec: { containers: at8080 } }),
      unready(2),
    ];
    assert.deepEqual(briefly(target, pods), [
      '10.244.0.1,10.244.0.2 | 10.244.0.3 | all:7',
      '10.244.0.1 |  | web:8080',
      '10.244.0.2 |  | web:9090',
    ]);
  });

  it('name their pod, its node and its host name', () => {
    const target = service({ clusterIP: 'None' }, [{ name: 'web', appProtocol: 'http' }]);
    const { subsets } = publish(target, [ready(0, { spec: { hostname: 'zero', subdomain: 'web' } })]);
    assert.deepEqual(subsets, [
      {
        addresses: [
          {
            ip: '10.244.0.1',
            hostname: 'zero',
            nodeName: 'n1',
            targetRef: { kind: 'Pod', namespace: 'default', name: 'p0000', uid: 'uid-p0000' },
          },
        ],
        ports: [{ name: 'web', protocol: 'TCP', port: 8080, appProtocol: 'http' }],
      },
    ]);
  });
});

describe('the Endpoints of a Service', () => {
  it('have the addresses of its first family', () => {
    const one = ready(0);
    const pods = [
      { ...one, status: { ...one.status, podIPs: [{ ip: '10.244.0.1' }, { ip: 'fd00::1' }] } } as Pod,
    ];
    const families = (ipFamilies: string[]) =>
      briefly(service({ ipFamilies } as Partial<Service['spec']>), pods);
    assert.deepEqual(families(['IPv4', 'IPv6']), ['10.244.0.1 |  | :8080']);
    assert.deepEqual(families(['IPv6', 'IPv4']), ['fd00::1 |  | :8080']);
  });

  it('has the name and the labels of the Service', () => {
    const target = service({ clusterIP: 'None' });
    target.metadata.labels = { app: 'web' };
    const { metadata } = publish(target, []);
    assert.equal(metadata.name, 'web');
    assert.equal(metadata.namespace, 'default');
    assert.deepEqual(metadata.labels, {
      app: 'web',
      'service.kubernetes.io/headless': '',
      'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
    });
    assert.equal(metadata.ownerReferences, undefined);
  });

  it('is unchanged if it is correct, and corrected otherwise', () => {
    const pods = [ready(0), unready(1)];
    const target = service();
    const stored = publish(target, pods);
    const plan = (existing: Endpoints, of = target, now = pods) =>
      planEndpoints(of, slicesOf(of, now), existing);
    assert.equal(plan(stored), undefined);
    const annotated = { ...stored, metadata: { ...stored.metadata, annotations: { theirs: 'x' } } };
    assert.equal(plan(annotated), undefined, 'an annotation of another writer');
    const changes = {
      'a pod that became ready': plan(stored, target, [ready(0), ready(1)]),
      'a label of the Service': plan(stored, { ...target, metadata: meta('web', { labels: { a: 'b' } }) }),
      'a label that the Service does not have': plan({
        ...stored,
        metadata: { ...stored.metadata, labels: { ...stored.metadata.labels, a: 'b' } },
      }),
      'subsets that another writer changed': plan({ ...stored, subsets: [] }),
    };
    for (const [title, change] of Object.entries(changes)) {
      assert.ok(change && 'update' in change, title);
      assert.equal(change.update.metadata.resourceVersion, stored.metadata.resourceVersion, title);
    }
  });

  it("are restored after a user's write", () => {
    const theirs: Endpoints = {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata: meta('web', { annotations: { note: 'kept' } }),
      subsets: [{ addresses: [{ ip: '192.0.2.1' }] }],
    };
    const stored = publish(service(), [ready(0)], theirs);
    assert.deepEqual(stored.subsets?.map(brief), ['10.244.0.1 |  | :8080']);
    assert.deepEqual(stored.metadata.annotations, { note: 'kept' });
  });
});

describe('more addresses than one object may hold', () => {
  const many = (count: number, one: (index: number) => Pod, from = 0) =>
    Array.from({ length: count }, (_, index) => one(from + index));
  const counts = ({ subsets = [] }: Endpoints) =>
    subsets.map(({ addresses = [], notReadyAddresses = [] }) => [addresses.length, notReadyAddresses.length]);
  const annotation = ({ metadata }: Endpoints) =>
    metadata.annotations?.['endpoints.kubernetes.io/over-capacity'];

  it('are all included if they fit', () => {
    const stored = publish(service(), many(maxAddresses, ready));
    assert.deepEqual(counts(stored), [[maxAddresses, 0]]);
    assert.equal(annotation(stored), undefined);
  });
  it('begin with the ready ones', () => {
    const stored = publish(service(), [...many(700, ready), ...many(500, unready, 700)]);
    assert.deepEqual(counts(stored), [[700, 300]]);
    assert.equal(annotation(stored), 'truncated');
  });
  it('are divided among the ports', () => {
    const ports = (containerPort: number) => [
      container({ ports: [{ name: 'http', containerPort, protocol: 'TCP' as const }] }),
    ];
    const target = service({}, [{ targetPort: 'http' }]);
    const pods = [
      ...many(900, (index) => ready(index, { spec: { containers: ports(1) } })),
      ...many(600, (index) => ready(index, { spec: { containers: ports(2) } }), 900),
      ...many(9, (index) => ready(index, { spec: { containers: ports(3) }, readyAt: undefined }), 1500),
    ];
    const stored = publish(target, pods);
    assert.deepEqual(counts(stored), [
      [600, 0],
      [400, 0],
    ]);
    assert.deepEqual(publish(target, pods, stored), stored, 'a second plan changes nothing');
  });
  it('cause the annotation only until all addresses fit again', () => {
    const stored = publish(service(), many(maxAddresses + 1, ready));
    assert.equal(annotation(stored), 'truncated');
    const next = publish(service(), many(maxAddresses, ready), stored);
    assert.deepEqual(counts(next), [[maxAddresses, 0]]);
    assert.equal(annotation(next), undefined);
  });
});
