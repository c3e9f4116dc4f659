import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Lease } from '../../../../src/api/coordination/v1/lease.ts';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import { isCandidate, rankOf } from '../../../../src/service-proxy/announcing/candidates.ts';
import { heldBy, type LeaseTurn, planLease } from '../../../../src/service-proxy/announcing/lease-plan.ts';
import { heldOn, linkFor } from '../../../../src/service-proxy/announcing/links.ts';

const lease = (spec: Lease['spec'] = {}): Lease =>
  ({ metadata: { name: 'load-balancer.192.0.2.7' }, spec }) as unknown as Lease;
const plan = (turn: Partial<LeaseTurn>) =>
  planLease({ node: 'a', lease: lease(), age: 0, isCandidate: true, rank: 0, ...turn });
const byB = lease({ holderIdentity: 'b' });

describe('a node that may hold the Lease of an address', () => {
  it('takes a free Lease at once if it is first in the order, and otherwise after a delay for its position', () => {
    assert.deepEqual(plan({}), { step: 'acquire' });
    assert.deepEqual(plan({ rank: 2 }), { step: 'wait', ms: 300 });
    assert.deepEqual(plan({ rank: 1000 }), { step: 'wait', ms: 900 }, 'bounded');
  });

  it('takes over from a holder that has been silent for two seconds, within three seconds at any position', () => {
    assert.deepEqual(plan({ lease: byB, age: 1999 }), { step: 'wait', ms: 1 });
    assert.deepEqual(plan({ lease: byB, age: 2000 }), { step: 'acquire' });
    assert.deepEqual(plan({ lease: byB, age: 2900, rank: 1000 }), { step: 'acquire' });
  });

  it('renews its own Lease each second, and releases it when it may no longer answer', () => {
    const own = lease({ holderIdentity: 'a' });
    assert.deepEqual(plan({ lease: own, age: 400 }), { step: 'wait', ms: 600 });
    assert.deepEqual(plan({ lease: own, age: 1000 }), { step: 'renew' });
    assert.deepEqual(plan({ lease: own, age: 1000, isCandidate: false }), { step: 'release' });
  });

  it('waits for a change if it may not answer', () => {
    for (const one of [lease(), byB])
      assert.deepEqual(plan({ lease: one, age: 60_000, isCandidate: false }), {
        step: 'wait',
        ms: Number.POSITIVE_INFINITY,
      });
  });

  it('counts changes of the holder, not renewals', () => {
    const now = '2026-01-01T00:00:00.000000Z';
    const first = heldBy(lease(), 'a', now);
    assert.deepEqual(first.spec, {
      holderIdentity: 'a',
      acquireTime: now,
      renewTime: now,
      leaseTransitions: 1,
    });
    assert.deepEqual(heldBy(first, 'a', now).spec, first.spec);
    assert.equal(heldBy(first, 'b', now).spec.leaseTransitions, 2);
    const { holderIdentity: _, ...released } = first.spec;
    assert.deepEqual(heldBy(first, undefined, now).spec, released);
  });
});

const service = (spec: object = {}, ip = '192.0.2.7', ipMode = 'VIP'): Service =>
  ({
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'LoadBalancer', ...spec },
    status: { loadBalancer: { ingress: [{ ip, ipMode }] } },
  }) as unknown as Service;
const slices = (nodeName: string) => [{ endpoints: [{ addresses: ['10.0.0.1'], nodeName, conditions: {} }] }];
const may = (one: Service | undefined, labels: object = {}, on = 'b') =>
  isCandidate({
    address: '192.0.2.7',
    service: one,
    slices: slices(on) as never,
    node: { metadata: { name: 'a', labels } } as never,
  });

describe('a node that may answer for an address', () => {
  it('is any node if the status of the Service has the address as a VIP', () => {
    assert.equal(may(service()), true);
    assert.equal(may(undefined), false);
    assert.equal(may(service({}, '192.0.2.8')), false);
    assert.equal(may(service({}, '192.0.2.7', 'Proxy')), false);
  });

  it('has a ready pod if the policy is Local, and no label that excludes it', () => {
    assert.equal(may(service({ externalTrafficPolicy: 'Local' })), false);
    assert.equal(may(service({ externalTrafficPolicy: 'Local' }), {}, 'a'), true);
    assert.equal(may(service(), { 'node.kubernetes.io/exclude-from-external-load-balancers': '' }), false);
  });

  it('has one position in an order of all nodes, and nodes share the addresses', () => {
    const nodes = ['a', 'b', 'c'];
    const counts = new Map<string, number>();
    for (let last = 0; last < 90; last++) {
      const ranks = nodes.map((node) => rankOf(`192.0.2.${last}`, node, nodes));
      assert.deepEqual(ranks.toSorted(), [0, 1, 2]);
      const first = nodes[ranks.indexOf(0)] ?? '';
      counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    for (const node of nodes) assert.ok((counts.get(node) ?? 0) > 15, JSON.stringify([...counts]));
  });
});

describe('the link of an address', () => {
  const links = [
    { ifname: 'lo', addr_info: [{ local: '127.0.0.1', prefixlen: 8, scope: 'host' }] },
    { ifname: 'eth0', addr_info: [{ local: '198.51.100.1', prefixlen: 24, scope: 'global' }] },
    {
      ifname: 'eth1',
      addr_info: [
        { local: '192.0.2.1', prefixlen: 24, scope: 'global' },
        { local: '192.0.2.9', prefixlen: 32, scope: 'host', dynamic: true },
      ],
    },
  ];

  it("is the link whose network contains the address, else the link of the node's address", () => {
    assert.equal(linkFor('192.0.2.7', '198.51.100.1', links), 'eth1');
    assert.equal(linkFor('203.0.113.7', '198.51.100.1', links), 'eth0');
    assert.equal(linkFor('203.0.113.7', '203.0.113.1', links), undefined);
  });

  it('is found again after a restart by addresses that expire', () => {
    assert.deepEqual(heldOn(links), [{ address: '192.0.2.9', link: 'eth1' }]);
  });
});
