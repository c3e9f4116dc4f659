/** The ServiceCIDRs whose ranges a node serves. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServiceCIDR } from '../../../src/api/networking/v1/service-cidr.ts';
import { planFurtherRanges } from '../../../src/network/further-ranges-plan.ts';

const ranges = (name: string, cidrs: string[], conditions: object[] = [{ type: 'Ready', status: 'True' }]) =>
  ({ metadata: { name }, spec: { cidrs }, status: { conditions } }) as unknown as ServiceCIDR;
const machine = {
  serviceCIDR: '10.96.0.0/16,fd00:10:96::/112',
  clusterCIDR: '10.244.0.0/16,fd00:10:244::/56',
  addresses: ['192.168.1.7', '2001:db8::7'],
};
const plan = (...all: ServiceCIDR[]) => planFurtherRanges(all, machine);

describe('the ranges that a node serves', () => {
  it('are those of ServiceCIDRs, without its own, each once and sorted', () => {
    const all = [
      ranges('kubernetes', ['10.96.0.0/16', 'fd00:10:96::/112']),
      ranges('b', ['203.0.113.0/24', 'fd00:1::/112']),
      ranges('a', ['198.51.100.0/24']),
      ranges('c', ['203.0.113.0/24']),
    ];
    const expected = ['198.51.100.0/24', '203.0.113.0/24', 'fd00:1::/112'];
    assert.deepEqual(plan(...all), { ranges: expected, problems: [] });
  });

  it('include one that is terminating, since Services may still have addresses of it', () => {
    const ending = ranges('a', ['203.0.113.0/24'], [{ type: 'Ready', status: 'False' }]);
    assert.deepEqual(plan(ending).ranges, ['203.0.113.0/24']);
  });

  it('do not include one that has never been ready', () => {
    assert.deepEqual(plan(ranges('a', ['203.0.113.0/24'], [])), { ranges: [], problems: [] });
  });

  for (const [range, what] of [
    ['192.168.0.0/16', 'the address 192.168.1.7 of this machine'],
    ['2001:db8::/64', 'the address 2001:db8::7 of this machine'],
    ['10.244.3.0/24', 'the range 10.244.0.0/16 of pods'],
    ['fd00:10:244:5::/64', 'the range fd00:10:244::/56 of pods'],
    ['127.0.0.0/24', 'addresses of 127.0.0.0/8'],
    ['0.0.0.0/0', 'the range 10.244.0.0/16 of pods'],
    ['fe80::/64', 'addresses of fe80::/10'],
  ] as const)
    it(`do not include ${range}, which has ${what}`, () => {
      const { ranges: served, problems } = plan(ranges('a', [range]));
      assert.deepEqual(served, []);
      assert.match(problems.join('\n'), /^the range \S+ of ServiceCIDR a is not served here, since it has /);
      assert.ok(problems[0]?.includes(`since it has ${what}: `));
    });
});
