import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../src/api/core/v1/node/node.ts';
import { type PrefixRange, rangeText, readRange } from '../../../../src/base/address-families.ts';
import {
  claimProblem,
  hasReported,
  rangeConditions,
  rangeProblem,
  rangesOf,
} from '../../../../src/controllers/nodes/node-ipam-plan.ts';
import { at, node } from '../objects.ts';

const ranges = (...texts: readonly string[]): PrefixRange[] =>
  texts.map((text) => readRange(text) ?? assert.fail(text));
const cluster = ranges('10.244.0.0/16');
const dual = ranges('10.244.0.0/16', 'fd00:10:244::/56');

function withRange(name: string, podCIDR: string | undefined, second = 0): Node {
  const base = node(name);
  return {
    ...base,
    metadata: { ...base.metadata, creationTimestamp: at(second) },
    spec: podCIDR === undefined ? {} : { podCIDR, podCIDRs: [podCIDR] },
  };
}

describe('a range that a node already has', () => {
  for (const [title, own, others, expected] of [
    ['is valid if no other node has it', '10.244.1.0/24', [['b', '10.244.2.0/24', 0]], undefined],
    [
      'is rejected if an older node has it',
      '10.244.1.0/24',
      [['b', '10.244.1.0/24', 5]],
      /overlaps that of node b;/,
    ],
    [
      'is rejected if it is within the range of an older node',
      '10.244.1.0/24',
      [['b', '10.244.0.0/20', 5]],
      /overlaps .* node b;/,
    ],
    [
      'is rejected if it contains the range of an older node',
      '10.244.0.0/20',
      [['b', '10.244.1.0/24', 5]],
      /overlaps .* node b;/,
    ],
    ['is valid if only a younger node has it', '10.244.1.0/24', [['b', '10.244.1.0/24', 15]], undefined],
    [
      'is valid if a node of the same second with a later name has it',
      '10.244.1.0/24',
      [['z', '10.244.1.0/24', 10]],
      undefined,
    ],
    [
      'is rejected if a node of the same second with an earlier name has it',
      '10.244.1.0/24',
      [['b', '10.244.1.0/24', 10]],
      /node b;/,
    ],
    [
      "is rejected outside of the cluster's range",
      '10.9.0.0/24',
      [],
      /10\.9\.0\.0\/24 of node n is not inside the cluster-cidr 10\.244\.0\.0\/16; delete the node/,
    ],
    ["is rejected if it is larger than the cluster's range", '10.0.0.0/8', [], /is not inside/],
    ['is valid if it is the whole range of the cluster', '10.244.0.0/16', [], undefined],
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

describe('the ranges of a node', () => {
  const specs = (spec: Node['spec']) => rangesOf({ ...node('n'), spec }).map(rangeText);
  it('are the ranges of the list, or the single range without a list', () => {
    assert.deepEqual(specs({ podCIDR: '10.244.1.0/24' }), ['10.244.1.0/24']);
    assert.deepEqual(specs({ podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.2.0/24', '10.244.3.0/24'] }), [
      '10.244.2.0/24',
      '10.244.3.0/24',
    ]);
    assert.deepEqual(specs({}), []);
  });
  it('may be of both families; invalid ranges are ignored', () => {
    assert.deepEqual(specs({ podCIDRs: ['fd00::/64', '10.244.1.0/24', 'nonsense', ''] }), [
      'fd00::/64',
      '10.244.1.0/24',
    ]);
  });
  it('are each compared with every range of another node', () => {
    const two = { ...withRange('b', undefined, 5), spec: { podCIDRs: ['10.244.7.0/24', '10.244.1.0/24'] } };
    assert.match(
      rangeProblem(withRange('n', '10.244.1.0/24', 10), [two], cluster) ?? '',
      /overlaps that of node b;/,
    );
    const both = { ...withRange('n', undefined, 10), spec: { podCIDRs: ['10.244.2.0/24', '10.244.1.0/24'] } };
    assert.match(rangeProblem(both, [two], cluster) ?? '', /10\.244\.1\.0\/24 of node n overlaps/);
  });
});

it('are assigned once the status of the Node has a machine id', () => {
  assert.equal(hasReported({ ...node('n'), status: undefined }), false);
  assert.equal(hasReported({ ...node('n'), status: { conditions: [] } }), false);
  const nodeInfo = { kernelVersion: '6.1' } as NonNullable<NonNullable<Node['status']>['nodeInfo']>;
  assert.equal(hasReported({ ...node('n'), status: { nodeInfo } }), true);
});

describe('the condition about the range of a node', () => {
  const plain = withRange('n', '10.244.1.0/24');
  const told = (base: Node, problem: string | undefined, when = at(9)): Node => ({
    ...base,
    status: { ...base.status, conditions: rangeConditions(base, problem, when) ?? base.status?.conditions },
  });
  const said = (of: Node) => of.status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');

  it('is absent if there was never a problem', () => {
    assert.equal(rangeConditions(plain, undefined, at(9)), undefined);
  });

  it('reports the problem once, a changed problem, and its end', () => {
    const first = told(plain, 'one');
    assert.deepEqual(said(first), {
      type: 'NetworkUnavailable',
      status: 'True',
      reason: 'PodCIDRConflict',
      message: 'one',
      lastTransitionTime: at(9),
    });
    assert.equal(rangeConditions(first, 'one', at(20)), undefined);
    const second = told(first, 'two', at(20));
    assert.deepEqual(said(second), { ...said(first), message: 'two' }, 'it is as old as it was');
    const over = told(second, undefined, at(30));
    assert.deepEqual(said(over), {
      type: 'NetworkUnavailable',
      status: 'False',
      reason: 'PodCIDRUsable',
      message: 'the pod range of this node can be used',
      lastTransitionTime: at(30),
    });
    assert.equal(rangeConditions(over, undefined, at(20)), undefined);
    assert.deepEqual(over.status?.conditions?.[0], plain.status?.conditions?.[0], 'others stay');
  });

  it('keeps the network condition of another component', () => {
    const base = withRange('n', '10.244.1.0/24');
    base.status = {
      ...base.status,
      conditions: [{ type: 'NetworkUnavailable', status: 'True', reason: 'NoRoute' }],
    };
    assert.equal(rangeConditions(base, undefined, at(9)), undefined);
    assert.deepEqual(
      [said(told(base, 'one'))?.reason, said(told(base, 'one'))?.message],
      ['PodCIDRConflict', 'one'],
    );
  });

  it('is added to a node without conditions', () => {
    const silent = { ...plain, status: undefined };
    assert.equal(rangeConditions(silent, undefined, at(9)), undefined);
    assert.deepEqual(
      rangeConditions(silent, 'one', at(9))?.map(({ status }) => status),
      ['True'],
    );
  });
});

describe('a range that a node names itself', () => {
  const others = [withRange('b', '10.244.2.0/24', 20), withRange('c', undefined, 30)];
  for (const [podCIDRs, expected] of [
    [['10.244.1.0/24'], undefined],
    [['10.244.1.64/26'], undefined],
    [['10.244.0.0/23'], /^the pod range "10\.244\.0\.0\/23" of node n is wider than the \/24/],
    [['0.0.0.0/0'], /wider/],
    [['10.245.1.0/24'], /is not inside the cluster-cidr 10\.244\.0\.0\/16/],
    [['10.244.2.0/25'], /overlaps that of node b/],
    [
      ['10.244.1.0/24', '10.244.3.0/24'],
      /^the pod range "10\.244\.1\.0\/24,10\.244\.3\.0\/24" of node n is not one IPv4 range/,
    ],
    [['fd00::/64'], /is not one IPv4 range/],
    [[], /is not one IPv4 range/],
  ] as const) {
    it(`is rejected if it is ${podCIDRs.join() || 'absent'}`, () => {
      const base = node('n');
      const problem = claimProblem({ ...base, spec: { podCIDRs: [...podCIDRs] } }, others, cluster);
      if (expected) assert.match(problem ?? '', expected);
      else assert.equal(problem, undefined);
    });
  }

  it('has no range', () => {
    assert.match(claimProblem(node('n'), others, cluster) ?? '', /^the pod range "" of node n is not one/);
  });

  it('is no wider than a small cluster’s', () => {
    const small = ranges('10.9.0.0/25');
    assert.match(claimProblem(withRange('n', '10.9.0.0/24'), [], small) ?? '', /wider/);
    assert.equal(claimProblem(withRange('n', '10.9.0.0/25'), [], small), undefined);
  });
});

describe('ranges of both families', () => {
  const pair = (name: string, podCIDRs: string[], second = 0): Node => ({
    ...withRange(name, undefined, second),
    spec: { podCIDR: podCIDRs[0] ?? '', podCIDRs },
  });
  const other = pair('b', ['10.244.2.0/24', 'fd00:10:244:2::/64']);

  for (const [podCIDRs, expected] of [
    [['10.244.1.0/24', 'fd00:10:244:1::/64'], undefined],
    [['10.244.1.0/24'], undefined],
    [['10.244.1.0/24', 'fd00:10:244:1::/80'], undefined],
    [['10.244.1.0/24', 'fd00:10:244::/60'], /is wider than the \/64 that a node may request/],
    [
      ['10.244.1.0/24', 'fd00:10:245::/64'],
      /is not inside the cluster-cidr 10\.244\.0\.0\/16,fd00:10:244::\/56$/,
    ],
    [['10.244.1.0/24', 'FD00:10:244:2:0::/64'], /overlaps that of node b/],
    [
      ['fd00:10:244:1::/64', '10.244.1.0/24'],
      /is not one IPv4 range such as 10\.244\.7\.0\/24, or one and a range of IPv6$/,
    ],
    [['10.244.1.0/24', 'fd00:10:244:1::/64', 'fd00:10:244:3::/64'], /is not one IPv4 range/],
    [['10.244.1.0/24', 'fd00:10:244:1::1/64'], /is not one IPv4 range/],
  ] as const)
    it(`that a node chooses are checked: ${podCIDRs.join()}`, () => {
      const problem = claimProblem(pair('n', [...podCIDRs]), [other], dual);
      if (expected) assert.match(problem ?? '', expected);
      else assert.equal(problem, undefined);
    });

  it('are refused where the cluster has no range of IPv6', () => {
    const two = pair('n', ['10.244.1.0/24', 'fd00:10:244:1::/64'], 10);
    assert.match(claimProblem(two, [], cluster) ?? '', /is not inside the cluster-cidr 10\.244\.0\.0\/16$/);
  });

  it('are no fault of a node once the cluster has lost its range of IPv6', () => {
    assert.equal(rangeProblem(pair('n', ['10.244.1.0/24', 'fd00:10:244:1::/64']), [], cluster), undefined);
  });

  it('that a node already has must not overlap those of an older node', () => {
    const two = pair('n', ['10.244.1.0/24', 'fd00:10:244:2::/64'], 10);
    assert.match(
      rangeProblem(two, [other], dual) ?? '',
      /fd00:10:244:2::\/64 of node n overlaps that of node b;/,
    );
    assert.equal(rangeProblem(other, [two], dual), undefined);
  });
});
