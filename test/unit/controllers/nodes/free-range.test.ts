import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PrefixRange, rangesMeet, rangeText, readRange } from '../../../../src/base/address-families.ts';
import { nextFreeRange } from '../../../../src/controllers/nodes/free-range.ts';
import { nodeIpam } from '../../../../src/controllers/nodes/node-ipam.ts';
import { SeededRandom } from '../../../fixtures/seeded-random.ts';

const range = (text: string) => readRange(text) ?? assert.fail(text);
const next = (cluster: string, prefix: number, used: string[]) => {
  const free = nextFreeRange(range(cluster), prefix, used.map(range));
  return free && rangeText(free);
};

describe('ranges', () => {
  const table: [string, string, number, string[], string | undefined][] = [
    ['the first', '10.244.0.0/16', 24, [], '10.244.0.0/24'],
    ['a gap', '10.244.0.0/16', 24, ['10.244.0.0/24', '10.244.2.0/24'], '10.244.1.0/24'],
    ['a range after a larger one', '10.244.0.0/16', 24, ['10.244.0.0/23'], '10.244.2.0/24'],
    ['a range after a smaller one', '10.244.0.0/16', 24, ['10.244.0.64/26'], '10.244.1.0/24'],
    [
      "a range beside ranges outside of the cluster's",
      '10.244.0.0/16',
      24,
      ['10.1.0.0/16', '10.245.0.0/16'],
      '10.244.0.0/24',
    ],
    ['no range if all are taken', '10.244.0.0/23', 24, ['10.244.0.0/24', '10.244.1.0/24'], undefined],
    ['a range after a single address', '10.244.0.0/16', 24, ['10.244.0.0/32'], '10.244.1.0/24'],
    ['the next address', '10.244.0.0/30', 32, ['10.244.0.0/32', '10.244.0.1/32'], '10.244.0.2/32'],
    ['no further address', '10.244.0.0/31', 32, ['10.244.0.0/32', '10.244.0.1/32'], undefined],
    ['the whole', '10.244.0.0/24', 24, [], '10.244.0.0/24'],
    ['the first of IPv6', 'fd00:10:244::/56', 64, ['10.244.0.0/16'], 'fd00:10:244::/64'],
    ['a gap of IPv6', 'fd00::/56', 64, ['fd00::/64', 'fd00:0:0:2::/64'], 'fd00:0:0:1::/64'],
    ['a range of IPv6 after a smaller one', 'fd00::/56', 64, ['fd00::5/128'], 'fd00:0:0:1::/64'],
    ['no range of IPv6 if all are taken', 'fd00::/63', 64, ['fd00::/64', 'fd00:0:0:1::/64'], undefined],
  ];
  for (const [name, cluster, prefix, used, expected] of table)
    it(`finds ${name}`, () => assert.equal(next(cluster, prefix, used), expected));
  it('never overlap, and all ranges are used, for any order of releases', () => {
    const random = new SeededRandom(3);
    const cluster = range('10.244.0.0/20');
    let used: PrefixRange[] = [];
    for (let round = 0; round < 500; round++) {
      const free = nextFreeRange(cluster, 24, used);
      assert.equal(free === undefined, used.length === 16);
      if (free) {
        assert.ok(rangesMeet(cluster, free) && used.every((other) => !rangesMeet(other, free)));
        used.push(free);
      }
      if (random.below(3) === 0) used = used.filter(() => random.below(2) === 0);
    }
  });
  it('rejects options whose range is too small for a node', () => {
    assert.throws(
      () => nodeIpam({ clusterCidr: '10.244.0.0' }),
      /clusterCidr "10.244.0.0" is not an IPv4 range/,
    );
    assert.throws(() => nodeIpam({ clusterCidr: '10.244.0.0/25' }), /nodeMaskSize 24 does not fit/);
    for (const second of ['fd00::/65', '10.245.0.0/16', 'x', 'fd00::/56,fd01::/56', ''])
      assert.throws(
        () => nodeIpam({ clusterCidr: `10.244.0.0/16,${second}` }),
        /has no second range of IPv6/,
      );
  });
});
