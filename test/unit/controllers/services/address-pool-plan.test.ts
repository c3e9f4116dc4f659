import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Service } from '../../../../src/api/core/v1/service/service.ts';
import {
  choosePoolAddresses,
  type PoolFacts,
} from '../../../../src/controllers/services/address-pool-plan.ts';

const span = { family: 4, first: 0xc0000207n, last: 0xc0000209n } as const;
const facts: PoolFacts = {
  pool: { pool: [span] },
  owned: [],
  holderOf: () => undefined,
  reservedAs: () => undefined,
  announcers: ['a'],
};
const service = (spec: object = {}): Service =>
  ({
    metadata: { name: 'web', namespace: 'default' },
    spec: { type: 'LoadBalancer', ...spec },
  }) as unknown as Service;
const choose = (more: Partial<PoolFacts> = {}, spec: object = {}) => {
  const { addresses, problem } = choosePoolAddresses(service(spec), { ...facts, ...more });
  return [addresses.length > 1 ? addresses : addresses[0], problem?.reason];
};
const takenBy = (holders: Record<string, string>) => ({
  holderOf: (one: string) => holders[one] as `${string}/${string}` | undefined,
});

describe('the address of the pool that a Service gets', () => {
  it('is the first that no other Service has and that is not reserved', () => {
    assert.deepEqual(choose(), ['192.0.2.7', undefined]);
    assert.deepEqual(choose(takenBy({ '192.0.2.7': 'other/web' })), ['192.0.2.8', undefined]);
    const reservedAs = (one: string) => (one === '192.0.2.7' ? 'the address of node a' : undefined);
    assert.deepEqual(choose({ reservedAs }), ['192.0.2.8', undefined]);
  });

  it('remains the same while it is in the pool and not reserved', () => {
    const own = takenBy({ '192.0.2.9': 'default/web' });
    assert.deepEqual(choose({ owned: ['192.0.2.9'], ...own }), ['192.0.2.9', undefined]);
    assert.deepEqual(choose({ owned: ['198.51.100.1'] }), ['192.0.2.7', undefined]);
  });

  it('is the requested one, if it is free and in the pool', () => {
    const wanted = { loadBalancerIP: '192.0.2.8' };
    assert.deepEqual(choose({ owned: ['192.0.2.7'] }, wanted), ['192.0.2.8', undefined]);
    assert.deepEqual(choose(takenBy({ '192.0.2.8': 'other/web' }), wanted), [undefined, 'AddressTaken']);
    assert.deepEqual(choose({ reservedAs: () => 'the address of a master' }, wanted), [
      undefined,
      'AddressReserved',
    ]);
    for (const loadBalancerIP of ['198.51.100.1', '2001:db8::1', 'nonsense'])
      assert.deepEqual(choose({}, { loadBalancerIP }), [undefined, 'AddressNotInPool']);
  });

  it('is absent if the pool is exhausted, and the reason contains the number of addresses', () => {
    const { problem } = choosePoolAddresses(service(), { ...facts, holderOf: () => 'other/web' });
    assert.equal(problem?.message, 'none of the 3 addresses of the pool is free');
  });

  it('remains the same while the pool cannot be read, and no other is assigned', () => {
    const pool = { problem: 'the ConfigMap is wrong' };
    assert.deepEqual(choose({ pool, owned: ['192.0.2.9'] }), ['192.0.2.9', 'PoolInvalid']);
    assert.deepEqual(choose({ pool }), [undefined, 'PoolInvalid']);
    assert.deepEqual(choose({ pool: undefined, owned: ['192.0.2.9'] }), [undefined, 'NoPool']);
  });

  it('is kept with a reason while no node may announce it', () => {
    assert.deepEqual(choose({ announcers: [] }), ['192.0.2.7', 'NoNode']);
    const { problem } = choosePoolAddresses(service({ externalTrafficPolicy: 'Local' }), {
      ...facts,
      announcers: [],
    });
    assert.match(problem?.message ?? '', /no node announces 192\.0\.2\.7: .* no ready node has a ready pod/);
  });

  const both = {
    pool: { pool: [span, { family: 6, first: 0xfd00n << 112n, last: (0xfd00n << 112n) + 1n }] },
  } as const;

  it('is one of each family of the Service, in their order', () => {
    assert.deepEqual(choose(both, { ipFamilies: ['IPv6'] }), ['fd00::', undefined]);
    const two = { ipFamilies: ['IPv6', 'IPv4'], ipFamilyPolicy: 'RequireDualStack' };
    assert.deepEqual(choose(both, two), [['fd00::', '192.0.2.7'], undefined]);
    const owned = ['192.0.2.9', 'fd00::1'];
    assert.deepEqual(choose({ ...both, owned }, two), [['fd00::1', '192.0.2.9'], undefined]);
    assert.deepEqual(choose({ ...both, owned }, { ipFamilies: ['IPv4'] }), ['192.0.2.9', undefined]);
  });

  it('is missing, with the reason, for a family without addresses in the pool', () => {
    assert.deepEqual(choose({}, { ipFamilies: ['IPv6'] }), [undefined, 'PoolExhausted']);
    const two = { ipFamilies: ['IPv4', 'IPv6'] };
    assert.deepEqual(choose({}, { ...two, ipFamilyPolicy: 'RequireDualStack' }), [
      '192.0.2.7',
      'PoolExhausted',
    ]);
    assert.deepEqual(choose({}, { ...two, ipFamilyPolicy: 'PreferDualStack' }), ['192.0.2.7', undefined]);
  });

  it('is not a requested one of another family than those of the Service', () => {
    assert.deepEqual(choose(both, { loadBalancerIP: 'fd00::1' }), [undefined, 'AddressNotInPool']);
    assert.deepEqual(choose(both, { loadBalancerIP: 'FD00::1', ipFamilies: ['IPv6'] }), [
      'fd00::1',
      undefined,
    ]);
  });
});
