import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../src/api/core/v1/node/node.ts';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import {
  type BalancerFacts,
  planBalancerStatus,
  planNodeBalancer,
} from '../../../../src/controllers/services/load-balancer-plan.ts';
import { meta } from '../objects.ts';

const node = (name: string, ip: string, ready = 'True', labels: Record<string, string> = {}): Node =>
  ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { ...meta(name), labels },
    spec: {},
    status: {
      addresses: [
        { type: 'InternalIP', address: ip },
        { type: 'Hostname', address: name },
      ],
      conditions: [{ type: 'Ready', status: ready }],
    },
  }) as unknown as Node;

const nodes = [node('b', '192.0.2.2'), node('a', '192.0.2.1')];
const facts: BalancerFacts = {
  nodes,
  holder: () => 'default/web',
  reservedFor: () => undefined,
  hasEndpoint: () => true,
};

const service = (spec: Partial<Service['spec']> = {}, status?: Service['status']): Service =>
  ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...meta('web'), namespace: 'default' },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '10.96.0.7',
      ports: [{ protocol: 'TCP', port: 80 }],
      ...spec,
    },
    status: status ?? { loadBalancer: {} },
  }) as unknown as Service;

const now = '2026-01-01T00:00:00Z';
const plan = (one: Service, more: Partial<BalancerFacts> = {}) =>
  planBalancerStatus(one, planNodeBalancer(one, { ...facts, ...more }), now);
const addresses = (one: Service, more: Partial<BalancerFacts> = {}) =>
  (plan(one, more).status.loadBalancer.ingress ?? []).map(({ ip, ipMode }) => `${ip} ${ipMode}`);
const both = ['192.0.2.1 Proxy', '192.0.2.2 Proxy'];

describe('the addresses of a Service of type LoadBalancer', () => {
  it('are the sorted addresses of all ready nodes, and are written once', () => {
    assert.deepEqual(addresses(service()), both);
    const { status } = plan(service());
    assert.equal(plan(service({}, status)).changed, false);
    assert.equal(plan(service({}, { ...status, conditions: [] })).changed, false);
  });

  it('leave out nodes that are not ready, and nodes with the label that excludes them', () => {
    const label = { 'node.kubernetes.io/exclude-from-external-load-balancers': '' };
    const some = [...nodes, node('c', '192.0.2.3', 'Unknown'), node('d', '192.0.2.4', 'True', label)];
    assert.deepEqual(addresses(service(), { nodes: some }), both);
  });

  const dual = (name: string, four: string, six: string) => {
    const one = node(name, four);
    one.status?.addresses?.push({ type: 'InternalIP', address: six });
    return one;
  };
  const inTwo = { nodes: [dual('b', '192.0.2.2', '2001:db8::2'), dual('a', '192.0.2.1', '2001:db8::1')] };

  it('are of the families of the Service, in their order', () => {
    const of = (ipFamilies: string[], more: object = {}) =>
      addresses(service({ ipFamilies, ...more } as Partial<Service['spec']>), inTwo);
    const six = ['2001:db8::1 Proxy', '2001:db8::2 Proxy'];
    assert.deepEqual(of(['IPv4']), both);
    assert.deepEqual(of(['IPv6']), six);
    assert.deepEqual(of(['IPv4', 'IPv6']), [...both, ...six]);
    assert.deepEqual(of(['IPv6', 'IPv4']), [...six, ...both]);
    assert.deepEqual(of(['IPv6'], { loadBalancerIP: '2001:DB8::2' }), ['2001:db8::2 Proxy']);
  });

  it('are absent, with the reason, if no node has an address of the families', () => {
    const found = plan(service({ ipFamilies: ['IPv6'], clusterIP: 'fd00::7' }));
    assert.deepEqual(found.status.loadBalancer, {});
    assert.equal(found.problem?.message, 'no ready node that serves it has an address of IPv6');
  });

  it('contain the first IPv4 address of each node, which its proxy serves', () => {
    const two = node('a', '2001:db8::1');
    two.status?.addresses?.push(
      { type: 'InternalIP', address: '192.0.2.8' },
      { type: 'InternalIP', address: '192.0.2.9' },
    );
    assert.deepEqual(addresses(service(), { nodes: [two] }), ['192.0.2.8 Proxy']);
  });

  it('are the addresses of the nodes with a ready pod if externalTrafficPolicy is Local', () => {
    const local = service({ externalTrafficPolicy: 'Local' });
    assert.deepEqual(addresses(local, { hasEndpoint: (name) => name === 'b' }), ['192.0.2.2 Proxy']);
    const { problem } = plan(local, { hasEndpoint: () => false });
    assert.match(problem?.message ?? '', /no ready node has a ready pod of it/);
  });

  it('are only the requested address if a node has it', () => {
    assert.deepEqual(addresses(service({ loadBalancerIP: '192.0.2.2' })), ['192.0.2.2 Proxy']);
    const other = plan(service({ loadBalancerIP: '198.51.100.1' }));
    assert.deepEqual(other.status.loadBalancer, {});
    assert.equal(other.problem?.reason, 'AddressOfNoNode');
  });

  it('are removed when another Service has the port, with a condition that is removed with its cause', () => {
    const { status } = plan(service());
    const taken = plan(service({}, status), { holder: () => 'other/old' });
    assert.deepEqual(taken.status.loadBalancer, {});
    assert.deepEqual(taken.problem, {
      reason: 'PortTaken',
      message: 'port 80 (TCP) of the nodes belongs to an older Service of the namespace other',
    });
    assert.equal(taken.status.conditions?.[0]?.type, 'minik8s.io/LoadBalancerServed');
    const again = plan(service({}, taken.status), { holder: () => 'other/old' });
    assert.deepEqual([again.changed, again.problem], [false, undefined], 'said once');
    const third = plan(service({}, taken.status), { holder: () => 'third/older' });
    assert.equal(third.problem?.reason, 'PortTaken', 'another Service is another problem');
    const free = plan(service({}, taken.status));
    assert.deepEqual([free.changed, free.status.conditions], [true, undefined]);
  });

  it('are absent for a port of the machines themselves', () => {
    const { status, problem } = plan(service(), { reservedFor: () => 'the API server' });
    assert.deepEqual(status.loadBalancer, {});
    assert.equal(problem?.message, 'port 80 (TCP) of the nodes belongs to the API server');
  });

  it('are absent without a ready node', () => {
    assert.equal(plan(service(), { nodes: [] }).problem?.reason, 'NoNode');
  });

  it('are unchanged if another controller has assigned one, or the class belongs to another controller', () => {
    const status = { loadBalancer: { ingress: [{ ip: '203.0.113.4', ipMode: 'VIP' as const }] } };
    assert.equal(plan(service({}, status)).changed, false);
    assert.equal(plan(service({ loadBalancerClass: 'example.org/lb' }, status)).changed, false);
    assert.deepEqual(addresses(service({ loadBalancerClass: 'minik8s.io/nodes' })), both);
    assert.equal(plan(service({ clusterIP: 'None' })).changed, false);
    assert.equal(plan(service({ type: 'NodePort' })).changed, false);
  });
});
