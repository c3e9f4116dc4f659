/** The way of requests through a cluster. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { topologyOf } from '../../../../src/dashboard/app/pages/topology/plan/topology.ts';
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
  topologyOf({ ingresses: [], services: [], pods: [], nodes: [], ...source });

describe('the topology', () => {
  const found = graph({
    ingresses: [ingress('shop', 'web', 'gone')],
    services: [service('web', { app: 'web' })],
    pods: [web('web-abc-1', ready), web('web-abc-2', {}, 'n2'), pod('alone', { status: ready })],
    nodes: [node('n1'), node('n2'), node('n3')],
  });

  it('leads from a route over its Service to the pods of a workload and their nodes', () => {
    assert.deepEqual(
      found.edges.map(({ from, to }) => `${from} -> ${to}`),
      [
        'ingresses default/shop -> services default/web',
        'services default/web -> deployments.apps default/web',
        'deployments.apps default/web -> nodes n1',
        'deployments.apps default/web -> nodes n2',
      ],
    );
  });

  it('leaves out pods without a Service, and nodes without such pods', () => {
    assert.deepEqual(
      found.nodes.map(({ column, name }) => `${column} ${name}`),
      ['0 shop', '1 web', '2 web', '3 n1', '3 n2'],
    );
  });

  it('shows the parts that do not answer requests', () => {
    const health = new Map(found.nodes.map(({ id, health: of }) => [id, of]));
    assert.equal(health.get('ingresses default/shop'), 'bad', 'a Service does not exist');
    assert.equal(health.get('services default/web'), 'waiting');
    const [, , first, second] = found.edges;
    assert.deepEqual([first?.health, second?.health], ['good', 'waiting']);
  });

  it('calls a Service bad whose labels select nothing, and one without labels idle', () => {
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
    const box = found.nodes.find(({ column }) => column === 2);
    assert.deepEqual([box?.detail, box?.pods], ['1 of 2 ready', ['good', 'waiting']]);
  });
});
