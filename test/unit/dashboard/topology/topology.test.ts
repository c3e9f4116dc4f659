/** The way of requests through a cluster. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { metadataOf } from '../../../../src/apimachinery/fields.ts';
import { topologyOf } from '../../../../src/dashboard/app/pages/topology/plan/topology.ts';
import { edgeWidth } from '../../../../src/dashboard/app/pages/topology/plan/traffic.ts';
import { condition, node, object, pod } from '../../why/why-objects.ts';

const web = (name: string, status: object, nodeName = 'n1') =>
  pod(name, {
    metadata: {
      labels: { app: 'web', 'pod-template-hash': 'abc' },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web-abc', uid: 'u', controller: true }],
    },
    spec: { nodeName },
    status: { phase: 'Running', ...status },
  });
const ready = { conditions: [condition('Ready', 'True')] };
const service = (name: string, selector?: object, more: object = {}) =>
  object('Service', name, { spec: { ports: [{ port: 80 }], ...(selector && { selector }), ...more } });
const ingress = (name: string, ...services: string[]) =>
  object('Ingress', name, {
    spec: {
      rules: [
        {
          host: 'shop.example',
          http: {
            paths: services.map((one) => ({ backend: { service: { name: one, port: { number: 80 } } } })),
          },
        },
      ],
    },
  });
const graph = (source: Partial<Parameters<typeof topologyOf>[0]>) =>
  topologyOf({
    ...{ ingresses: [], httpRoutes: [], grpcRoutes: [], gateways: [], services: [], pods: [], nodes: [] },
    traffic: [],
    ...source,
  });

describe('the topology', () => {
  const found = graph({
    ingresses: [ingress('shop', 'web', 'gone')],
    services: [service('web', { app: 'web' })],
    pods: [web('web-abc-1', ready), web('web-abc-2', {}, 'n2'), pod('alone', { status: ready })],
    nodes: [node('n1'), node('n2'), node('n3')],
  });

  it('leads from a route through its Service to the pods of a workload and their nodes', () => {
    assert.deepEqual(
      found.edges.map(({ from, to }) => `${from} -> ${to}`),
      [
        'ingresses.networking.k8s.io default/shop -> services default/web',
        'services default/web -> deployments.apps default/web',
        'deployments.apps default/web -> nodes n1',
        'deployments.apps default/web -> nodes n2',
      ],
    );
  });

  it('leaves out pods without a Service, and nodes without such pods', () => {
    assert.deepEqual(
      found.nodes.map(({ column, name }) => `${column} ${name}`),
      ['1 shop', '2 web', '3 web', '4 n1', '4 n2'],
    );
  });

  it('shows the parts that do not answer requests', () => {
    const health = new Map(found.nodes.map(({ id, health: of }) => [id, of]));
    assert.equal(health.get('ingresses.networking.k8s.io default/shop'), 'bad', 'a Service does not exist');
    assert.equal(health.get('services default/web'), 'waiting');
    const [, , first, second] = found.edges;
    assert.deepEqual([first?.health, second?.health], ['good', 'waiting']);
  });

  it('marks a Service whose selector selects no pod as bad, and one without a selector as idle', () => {
    const { nodes } = graph({
      services: [service('lost', { app: 'none' }), service('outside', undefined, { type: 'ExternalName' })],
    });
    assert.deepEqual(
      nodes.map(({ name, health, detail }) => [name, health, detail]),
      [
        ['lost', 'bad', ':80'],
        ['outside', 'idle', 'ExternalName :80'],
      ],
    );
  });

  it('counts the pods of a workload that are ready', () => {
    const box = found.nodes.find(({ column }) => column === 3);
    assert.deepEqual([box?.detail, box?.pods], ['1 of 2 ready', ['good', 'waiting']]);
  });
});

const gateway = (name: string, status: object) =>
  object('Gateway', name, { spec: { listeners: [{ protocol: 'HTTP', port: 80 }] }, status });
const httpRoute = (name: string, spec: object, status: object = {}) =>
  object('HTTPRoute', name, { spec, status });

describe('the topology of Gateways', () => {
  const programmed = { conditions: [condition('Programmed', 'True')] };
  const found = graph({
    gateways: [gateway('edge', programmed), gateway('unused', {})],
    httpRoutes: [
      httpRoute('shop', {
        ...{ parentRefs: [{ name: 'edge' }, { name: 'web', kind: 'Service' }], hostnames: ['shop.example'] },
        rules: [
          { backendRefs: [{ name: 'web', port: 80 }] },
          {
            backendRefs: [
              { name: 'web', port: 80 },
              { name: 'far', namespace: 'other', port: 80 },
            ],
          },
        ],
      }),
      httpRoute(
        'lost',
        { parentRefs: [{ name: 'edge' }], rules: [{ backendRefs: [{ name: 'web' }] }] },
        { parents: [{ conditions: [condition('Accepted', 'False')] }] },
      ),
    ],
    services: [service('web', { app: 'web' })],
    pods: [web('web-abc-1', ready)],
    nodes: [node('n1')],
  });
  const health = new Map(found.nodes.map(({ name, column, health: of }) => [`${column} ${name}`, of]));

  it('leads from a Gateway through its HTTPRoutes to their Services, each once', () => {
    const names = new Map(found.nodes.map(({ id, name, column }) => [id, `${column} ${name}`]));
    assert.deepEqual(
      found.edges.map(({ from, to, health: of }) => `${names.get(from)} -> ${names.get(to)} ${of}`),
      [
        '0 edge -> 1 shop good',
        '0 edge -> 1 lost bad',
        '1 shop -> 2 web good',
        '1 lost -> 2 web good',
        '2 web -> 3 web good',
        '3 web -> 4 n1 good',
      ],
    );
  });

  it('shows a route as bad if it is refused or one of its Services does not exist', () => {
    assert.deepEqual([health.get('1 shop'), health.get('1 lost')], ['bad', 'bad']);
  });

  it('leads from a Gateway through a GRPCRoute as through an HTTPRoute of the same name', () => {
    const spec = { parentRefs: [{ name: 'edge' }], rules: [{ backendRefs: [{ name: 'web', port: 80 }] }] };
    const { nodes, edges } = graph({
      ...{ gateways: [gateway('edge', programmed)], httpRoutes: [httpRoute('same', spec)] },
      grpcRoutes: [object('GRPCRoute', 'same', { spec: { ...spec, hostnames: ['rpc.example'] } })],
      ...{ services: [service('web', { app: 'web' })], pods: [web('web-abc-1', ready)] },
    });
    const id = 'grpcroutes.gateway.networking.k8s.io default/same';
    const box = nodes.find((one) => one.id === id);
    assert.deepEqual([box?.column, box?.detail, box?.health], [1, 'rpc.example', 'good']);
    assert.deepEqual(
      edges.filter(({ from, to }) => from === id || to === id).map(({ from, to }) => [from, to]),
      [
        ['gateways.gateway.networking.k8s.io default/edge', id],
        [id, 'services default/web'],
      ],
    );
  });

  it('shows a GRPCRoute that its Gateway refuses as bad', () => {
    const refused = { parents: [{ conditions: [condition('ResolvedRefs', 'False')] }] };
    const { nodes, edges } = graph({
      gateways: [gateway('edge', programmed)],
      grpcRoutes: [
        object('GRPCRoute', 'lost', { spec: { parentRefs: [{ name: 'edge' }] }, status: refused }),
      ],
    });
    assert.equal(nodes.find(({ name }) => name === 'lost')?.health, 'bad');
    assert.deepEqual(
      edges.map(({ health: of }) => of),
      ['bad'],
    );
  });

  it('shows a Gateway as waiting until it is programmed', () => {
    assert.deepEqual([health.get('0 edge'), health.get('0 unused')], ['good', 'waiting']);
  });

  it('shows the hosts of a route and the listeners of a Gateway', () => {
    const details = found.nodes.filter(({ column }) => column < 2).map(({ detail }) => detail);
    assert.deepEqual(details, ['HTTP :80', 'HTTP :80', 'shop.example', '*']);
  });
});

describe('the traffic on the topology', () => {
  const address = (ip: string) => ({
    ...ready,
    podIP: ip,
    podIPs: [{ ip }, { ip: `fd01::${ip.slice(-1)}` }],
  });
  const traffic = (name: string, perSecond: unknown, ...endpoints: readonly (readonly [string, unknown])[]) =>
    object('ServiceTraffic', name, {
      connectionsPerSecond: perSecond,
      endpoints: endpoints.map(([one, rate]) => ({ address: one, port: 80, connectionsPerSecond: rate })),
    });
  const source = {
    services: [service('web', { tier: 'front' }), service('idle', { tier: 'front' })],
    pods: [
      ...['10.0.0.1', '10.0.0.2'].map((ip, i) => ({
        ...web(`web-abc-${i}`, address(ip)),
        metadata: {
          ...metadataOf(web(`web-abc-${i}`, {})),
          labels: { 'pod-template-hash': 'abc', tier: 'front' },
          ownerReferences: [{ kind: 'ReplicaSet', name: 'web-abc', uid: 'u', controller: true }],
        },
      })),
      pod('alone', {
        metadata: { labels: { tier: 'front' } },
        status: { phase: 'Running', ...address('10.0.0.3') },
      }),
    ],
  };
  const rates = (...items: ReturnType<typeof traffic>[]) =>
    graph({ ...source, traffic: items })
      .edges.filter(({ from }) => from.startsWith('services'))
      .map(({ from, to, perSecond }) => `${from} -> ${to}: ${perSecond}`);

  it('is on each edge what its Service leads to the pods of the workload, in both families', () => {
    const found = rates(
      traffic(
        'web',
        '4250m',
        ['10.0.0.1', '1500m'],
        ['fd01::2', '250m'],
        ['10.0.0.3', '2'],
        ['10.9.9.9', '1'],
      ),
    );
    assert.deepEqual(found, [
      'services default/web -> deployments.apps default/web: 1.75',
      'services default/web -> pods default/alone: 2',
      'services default/idle -> deployments.apps default/web: undefined',
      'services default/idle -> pods default/alone: undefined',
    ]);
  });

  it('is on the box of the Service, and not on one without connections', () => {
    const { nodes } = graph({ ...source, traffic: [traffic('web', '4250m')] });
    const details = nodes.filter(({ column }) => column === 2).map(({ detail }) => detail);
    assert.deepEqual(details, [':80 · 4.3/s', ':80']);
  });

  it('is absent where an answer is invalid', () => {
    const odd = traffic('web', 'many', ['10.0.0.1', {}], ['10.0.0.3', 'x']);
    assert.deepEqual(
      rates(odd, object('ServiceTraffic', 'web', { endpoints: 7 })).filter(
        (one) => !one.endsWith('undefined'),
      ),
      [],
    );
  });

  it('makes an edge wider, up to 6 pixels', () => {
    assert.deepEqual([0, 9, 99, 1e9].map(edgeWidth), [2, 3, 4, 6]);
  });
});
