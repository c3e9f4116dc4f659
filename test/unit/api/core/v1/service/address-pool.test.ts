import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ConfigMap } from '../../../../../../src/api/core/v1/config-map.ts';
import {
  addressesOf,
  countOf,
  isInPool,
  type PoolState,
  poolOf,
  poolOfFamily,
} from '../../../../../../src/api/core/v1/service/address-pool.ts';
import {
  isPoolLoadBalancer,
  requestedAddresses,
} from '../../../../../../src/api/core/v1/service/node-load-balancer.ts';
import {
  addressOfLease,
  isPoolLeaseName,
  poolLeaseName,
} from '../../../../../../src/api/core/v1/service/pool-lease.ts';
import type { Service } from '../../../../../../src/api/core/v1/service/service.ts';

const read = (addresses: string): PoolState => poolOf({ data: { addresses } } as unknown as ConfigMap);
const poolIn = (text: string) => {
  const state = read(text);
  assert.ok(state && 'pool' in state);
  return state.pool;
};

describe('the pool of addresses', () => {
  it('has the addresses of spans, ranges and single addresses in the order of the text', () => {
    const pool = poolIn('192.0.2.254-192.0.3.1, 198.51.100.8/30\n203.0.113.7');
    assert.deepEqual(
      [...addressesOf(pool)],
      [
        ...['192.0.2.254', '192.0.2.255', '192.0.3.0', '192.0.3.1'],
        ...['198.51.100.8', '198.51.100.9', '198.51.100.10', '198.51.100.11'],
        '203.0.113.7',
      ],
    );
    assert.equal(countOf(pool), 9n);
    assert.equal(isInPool(pool, '192.0.3.0'), true);
    assert.equal(isInPool(pool, '192.0.3.2'), false);
    assert.equal(isInPool(pool, '2001:db8::1'), false);
  });

  it('has addresses of both families, and a part of each', () => {
    const pool = poolIn('2001:DB8::fe-2001:db8::100, 192.0.2.7, fd00:1::/127');
    const six = ['2001:db8::fe', '2001:db8::ff', '2001:db8::100', 'fd00:1::', 'fd00:1::1'];
    assert.deepEqual([...addressesOf(poolOfFamily(pool, 'IPv6'))], six);
    assert.deepEqual([...addressesOf(poolOfFamily(pool, 'IPv4'))], ['192.0.2.7']);
    assert.equal(countOf(pool), 6n);
    assert.equal(isInPool(pool, '2001:db8:0::FF'), true);
    assert.equal(isInPool(pool, '2001:db8::101'), false);
  });

  for (const [text, said] of [
    ['', /no ranges under the key addresses/],
    ['192.0.2.9-192.0.2.1', /"192.0.2.9-192.0.2.1": expected/],
    ['192.0.2.1-2', /expected ranges/],
    ['192.0.2.0/33', /expected ranges/],
    ['2001:db8::/64', /18446744073709551616 addresses: at most 65536/],
    ['192.0.2.1-2001:db8::1', /expected ranges/],
    ['::ffff:192.0.2.0/120', /expected ranges/],
    ['2001:db8::zz/120', /expected ranges/],
    ['10.0.0.0/8', /16777216 addresses: at most 65536/],
    [`192.0.2.1,${'9'.repeat(1000)}`, /"9{50}": expected/],
  ] as const) {
    it(`is rejected with the reason if its text is ${JSON.stringify(text.slice(0, 30))}`, () => {
      const state = read(text);
      assert.ok(state && 'problem' in state);
      assert.match(state.problem, said);
    });
  }

  it('is absent without the ConfigMap', () => {
    assert.equal(poolOf(undefined), undefined);
  });

  it('has Leases whose names are the addresses', () => {
    const name = poolLeaseName('192.0.2.7');
    assert.equal(isPoolLeaseName(name), true);
    assert.equal(addressOfLease({ metadata: { name } } as never), '192.0.2.7');
    const six = poolLeaseName('2001:DB8::7');
    assert.equal(six, 'load-balancer.2001-db8-0-0-0-0-0-7');
    assert.equal(isPoolLeaseName(six), true);
    assert.equal(addressOfLease({ metadata: { name: six } } as never), '2001:db8::7');
    for (const other of [
      ...['load-balancer.x', 'minik8s-controllers', 'load-balancer.2001:db8::1'],
      ...['load-balancer.2001-db8--7', 'load-balancer.2001-0db8-0-0-0-0-0-7', 'load-balancer.', 'x'],
    ])
      assert.equal(isPoolLeaseName(other), false, other);
  });
});

const service = (spec: object, ingress: object[] = [], annotations = {}): Service =>
  ({
    metadata: { name: 'web', namespace: 'default', annotations },
    spec: { type: 'LoadBalancer', clusterIP: '10.96.0.7', ...spec },
    status: { loadBalancer: { ingress } },
  }) as unknown as Service;

describe('a Service of type LoadBalancer', () => {
  const gets = (one: Service, hasPool = true) => isPoolLoadBalancer(one, hasPool, (ip) => ip === '192.0.2.7');

  it('gets an address of the pool without a class, or with the class of the pool', () => {
    assert.equal(gets(service({})), true);
    assert.equal(gets(service({}), false), false);
    assert.equal(gets(service({ loadBalancerClass: 'minik8s.io/pool' }), false), true);
  });

  it('gets no address of the pool with the class of the nodes or of another controller, without a cluster IP, or as another type', () => {
    for (const spec of [
      { loadBalancerClass: 'minik8s.io/nodes' },
      { loadBalancerClass: 'example.org/lb' },
      { clusterIP: 'None' },
      { type: 'NodePort' },
    ])
      assert.equal(gets(service(spec)), false, JSON.stringify(spec));
  });

  it('is left to another controller that has assigned an address or a name', () => {
    assert.equal(gets(service({}, [{ ip: '203.0.113.9' }])), false);
    assert.equal(gets(service({}, [{ hostname: 'lb.example.org' }])), false);
    assert.equal(gets(service({}, [{ ip: '192.0.2.7', ipMode: 'VIP' }])), true, 'an address of the pool');
    assert.equal(gets(service({}, [{ ip: '203.0.113.9', ipMode: 'Proxy' }])), true, 'an address of a node');
  });

  it('requests an address by its spec, or by an annotation of another load balancer', () => {
    assert.deepEqual(requestedAddresses(service({})), []);
    const annotations = { 'metallb.io/loadBalancerIPs': '2001:db8::1, 192.0.2.8' };
    const of = (spec: object) => requestedAddresses(service(spec, [], annotations));
    assert.deepEqual(of({}), ['192.0.2.8']);
    assert.deepEqual(of({ ipFamilies: ['IPv4', 'IPv6'] }), ['192.0.2.8', '2001:db8::1']);
    assert.deepEqual(of({ loadBalancerIP: '192.0.2.9' }), ['192.0.2.9']);
  });
});
