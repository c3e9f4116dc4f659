import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../src/api/core/v1/node.ts';
import { type IPv4Range, parseRange } from '../../../src/base/addresses.ts';
import { claimProblem, rangeConditions, rangeProblem } from '../../../src/controllers/node-ipam-plan.ts';
import { at, node } from './objects.ts';

const cluster = parseRange('10.244.0.0/16') as IPv4Range;

function withRange(name: string, podCIDR: string | undefined, second = 0): Node {
  const base = node(name);
  return {
    ...base,
    metadata: { ...base.metadata, creationTimestamp: at(second) },
    spec: podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] },
  };
}

describe('a range that a node came with', () => {
  for (const [title, own, others, expected] of [
    ['is its own', '10.244.1.0/24', [['b', '10.244.2.0/24', 0]], undefined],
    [
      'is another’s that was there first',
      '10.244.1.0/24',
      [['b', '10.244.1.0/24', 5]],
      /overlaps that of node b;/,
    ],
    [
      'lies in a larger one that was there first',
      '10.244.1.0/24',
      [['b', '10.244.0.0/20', 5]],
      /overlaps .* node b;/,
    ],
    [
      'holds a smaller one that was there first',
      '10.244.0.0/20',
      [['b', '10.244.1.0/24', 5]],
      /overlaps .* node b;/,
    ],
    ['is wanted by one that came later', '10.244.1.0/24', [['b', '10.244.1.0/24', 15]], undefined],
    [
      'is wanted by one of the same second, later by name',
      '10.244.1.0/24',
      [['z', '10.244.1.0/24', 10]],
      undefined,
    ],
    [
      'is wanted by one of the same second, before by name',
      '10.244.1.0/24',
      [['b', '10.244.1.0/24', 10]],
      /node b;/,
    ],
    [
      'is outside the cluster’s',
      '10.9.0.0/24',
      [],
      /10\.9\.0\.0\/24 of node n is not inside the cluster-cidr 10\.244\.0\.0\/16; delete the node/,
    ],
    ['is larger than the cluster’s', '10.0.0.0/8', [], /is not inside/],
    ['is none', undefined, [['b', '10.244.1.0/24', 5]], undefined],
  ] as const) {
    it(title, () => {
      const subject = withRange('n', own, 10);
      const all = [subject, ...others.map(([name, range, second]) => withRange(name, range, second))];
      const problem = rangeProblem(subject, all, cluster);
      if (expected === undefined) assert.equal(problem, undefined);
      else assert.match(problem ?? '', expected);
    });
  }
});

describe('what is said about it', () => {
  const plain = withRange('n', '10.244.1.0/24');
  const told = (base: Node, problem: string | undefined): Node => ({
    ...base,
    status: { ...base.status, conditions: rangeConditions(base, problem, at(9)) ?? base.status?.conditions },
  });
  const said = (of: Node) => of.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');

  it('is nothing when there was never a problem', () => {
    assert.equal(rangeConditions(plain, undefined, at(9)), undefined);
  });

  it('is the problem, once; another problem when that changes; and that it is over', () => {
    const first = told(plain, 'one');
    assert.deepEqual([said(first)?.status, said(first)?.message], ['True', 'one']);
    assert.equal(rangeConditions(first, 'one', at(20)), undefined);
    const second = told(first, 'two');
    assert.equal(said(second)?.message, 'two');
    const over = told(second, undefined);
    assert.equal(said(over)?.status, 'False');
    assert.equal(rangeConditions(over, undefined, at(20)), undefined);
    assert.deepEqual(over.status?.conditions?.[0], plain.status?.conditions?.[0], 'others stay');
  });

  it('leaves alone what another says of the network', () => {
    const base = withRange('n', '10.244.1.0/24');
    base.status = {
      ...base.status,
      conditions: [{ type: 'NetworkUnavailable', status: 'True', reason: 'NoRoute' }],
    };
    assert.equal(rangeConditions(base, undefined, at(9)), undefined);
  });
});

describe('a range that a node names itself', () => {
  const others = [withRange('b', '10.244.2.0/24', 20), withRange('c', undefined, 30)];
  for (const [podCIDRs, expected] of [
    [['10.244.1.0/24'], undefined],
    [['10.244.1.64/26'], undefined],
    [['10.244.0.0/23'], /wider than the \/24/],
    [['0.0.0.0/0'], /wider/],
    [['10.245.1.0/24'], /is not inside the cluster-cidr 10\.244\.0\.0\/16/],
    [['10.244.2.0/25'], /overlaps that of node b/],
    [['10.244.1.0/24', '10.244.3.0/24'], /is not one IPv4 range/],
    [['fd00::/64'], /is not one IPv4 range/],
    [[], /is not one IPv4 range/],
  ] as const) {
    it(`is ${podCIDRs.join() || 'none'}`, () => {
      const base = node('n');
      const problem = claimProblem({ ...base, spec: { podCIDRs: [...podCIDRs] } }, others, cluster);
      if (expected) assert.match(problem ?? '', expected);
      else assert.equal(problem, undefined);
    });
  }

  it('is no wider than a small cluster’s', () => {
    const small = parseRange('10.9.0.0/25') as IPv4Range;
    assert.match(claimProblem(withRange('n', '10.9.0.0/24'), [], small) ?? '', /wider/);
    assert.equal(claimProblem(withRange('n', '10.9.0.0/25'), [], small), undefined);
  });
});
