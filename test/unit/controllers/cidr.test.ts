import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Cidr, formatCidr, nextFreeCidr, overlaps, parseCidr } from '../../../src/controllers/cidr.ts';
import { nodeIpam } from '../../../src/controllers/node-ipam.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

const cidr = (text: string): Cidr => {
  const range = parseCidr(text);
  assert.ok(range, text);
  return range;
};
const next = (cluster: string, prefix: number, used: string[]) => {
  const range = nextFreeCidr(cidr(cluster), prefix, used.map(cidr));
  return range && formatCidr(range);
};

describe('ranges', () => {
  it('reads what is a range and nothing else', () => {
    for (const good of ['0.0.0.0/0', '10.244.0.0/16', '255.255.255.255/32', '192.168.1.128/25'])
      assert.equal(formatCidr(cidr(good)), good);
    for (const bad of ['', '10.0.0.0', '10.0.0.1/24', '10.0.0.256/32', '10.0.0.0/33', '::/0', '10.0.0.0/24x'])
      assert.equal(parseCidr(bad), undefined, bad);
  });
  const table: [string, string, number, string[], string | undefined][] = [
    ['the first', '10.244.0.0/16', 24, [], '10.244.0.0/24'],
    ['a gap', '10.244.0.0/16', 24, ['10.244.0.0/24', '10.244.2.0/24'], '10.244.1.0/24'],
    ['past a larger one', '10.244.0.0/16', 24, ['10.244.0.0/23'], '10.244.2.0/24'],
    ['past a smaller one', '10.244.0.0/16', 24, ['10.244.0.64/26'], '10.244.1.0/24'],
    ['foreign ranges do not matter', '10.244.0.0/16', 24, ['10.1.0.0/16', '10.245.0.0/16'], '10.244.0.0/24'],
    ['none is left', '10.244.0.0/23', 24, ['10.244.0.0/24', '10.244.1.0/24'], undefined],
    ['the whole', '10.244.0.0/24', 24, [], '10.244.0.0/24'],
  ];
  for (const [name, cluster, prefix, used, expected] of table)
    it(`finds ${name}`, () => assert.equal(next(cluster, prefix, used), expected));
  it('never overlaps and finds every range, whatever was freed', () => {
    const random = new SeededRandom(3);
    const cluster = cidr('10.244.0.0/20');
    let used: Cidr[] = [];
    for (let round = 0; round < 500; round++) {
      const range = nextFreeCidr(cluster, 24, used);
      assert.equal(range === undefined, used.length === 16);
      if (range) {
        assert.ok(overlaps(cluster, range) && used.every((other) => !overlaps(other, range)));
        used.push(range);
      }
      if (random.below(3) === 0) used = used.filter(() => random.below(2) === 0);
    }
  });
  it('refuses options that hold no node', () => {
    assert.throws(
      () => nodeIpam({ clusterCidr: '10.244.0.0' }),
      /clusterCidr "10.244.0.0" is not an IPv4 range/,
    );
    assert.throws(() => nodeIpam({ clusterCidr: '10.244.0.0/25' }), /nodeMaskSize 24 does not fit/);
  });
});
