/** Masters that may join the others, and masters that may be removed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  initialCluster,
  type KnownMember,
  planJoin,
  planLeaving,
  planRemoval,
} from '../../../../src/masters/plan/member-changes.ts';

const member = (number: number, more: Partial<KnownMember> = {}): KnownMember => ({
  ...{ id: `a${number}`, name: `m${number}`, peerUrl: `https://192.0.2.${number}:2380` },
  ...{ isLearner: false, isOwn: number === 1, answers: true, ...more },
});
const asked = (number: number, name = `m${number}`) => ({ name, peerUrl: `https://192.0.2.${number}:2380` });
const silent = { answers: false };

test('a new master is added to members that all answer', () => {
  assert.deepEqual(planJoin([member(1)], 'c', asked(2)), { kind: 'add', replaced: [] });
  assert.deepEqual(planJoin([member(1), member(2)], 'c', asked(3)), { kind: 'add', replaced: [] });
});

test('a master whose member is listed continues; a master of another cluster, or with a removed member, is added again', () => {
  const members = [member(1), member(2, silent)];
  const as = (clusterId: string, memberId: string) =>
    planJoin(members, 'c', { ...asked(2), earlier: { clusterId, memberId } }).kind;
  assert.equal(as('c', 'a2'), 'is-member');
  assert.equal(as('d', 'a2'), 'add');
  assert.equal(as('c', 'a9'), 'add');
});

test('a master that lost its disk replaces its former member, also if it has never started', () => {
  const lost = [member(1), member(2), member(3, silent)];
  assert.deepEqual(planJoin(lost, 'c', asked(3)), { kind: 'add', replaced: ['a3'] });
  const moved = { ...asked(3), peerUrl: 'https://192.0.2.33:2380' };
  assert.deepEqual(planJoin(lost, 'c', moved), { kind: 'add', replaced: ['a3'] });
  const never = [member(1), member(2, { name: '', isLearner: true, ...silent })];
  assert.deepEqual(planJoin(never, 'c', asked(2)), { kind: 'add', replaced: ['a2'] });
});

const refusals: [what: string, members: KnownMember[], asked: ReturnType<typeof asked>, why: RegExp][] = [
  [
    'it has the name of the first master',
    [member(1)],
    asked(2, 'm1'),
    /name m1 runs at \S+: give .* another --master-name/,
  ],
  [
    'it has the name of a running master',
    [member(1), member(2)],
    asked(3, 'm2'),
    /name m2 runs at .* or stop that one/,
  ],
  [
    'it has the address of another master',
    [member(1), member(2, silent)],
    asked(2, 'x'),
    /m2 has the address .* remove m2/,
  ],
  [
    'another master is down',
    [member(1), member(2), member(3, silent)],
    asked(4),
    /m3 does not answer at \S+: start it, or run minik8s masters remove m3/,
  ],
  [
    'it would be the eighth master',
    [1, 2, 3, 4, 5, 6, 7].map((n) => member(n)),
    asked(8),
    /has 7 masters, which is the maximum/,
  ],
];
for (const [what, members, request, why] of refusals) {
  test(`a master is refused in one line if ${what}`, () => {
    const plan = planJoin(members, 'c', request);
    assert.equal(plan.kind, 'refuse');
    assert.match(plan.why, why);
    assert.doesNotMatch(plan.why, /\n/);
  });
}

test('a member is removed by its name or its id while the remaining members are a majority', () => {
  const members = [member(1), member(2), member(3, silent)];
  assert.deepEqual(planRemoval(members, 'm3'), { kind: 'remove', id: 'a3' });
  assert.deepEqual(planRemoval(members, 'a3'), { kind: 'remove', id: 'a3' });
  assert.deepEqual(planRemoval([member(1), member(2)], 'm2'), { kind: 'remove', id: 'a2' });
  const joining = [member(1), member(2, { isLearner: true, ...silent })];
  assert.deepEqual(planRemoval(joining, 'm2'), { kind: 'remove', id: 'a2' });
});

const kept: [members: KnownMember[], name: string, why: RegExp][] = [
  [[member(1), member(2)], 'm9', /there is no master m9: the masters are m1, m2/],
  [[member(1), member(2), member(3, { name: 'm2' })], 'm2', /several masters have the name m2: give the id/],
  [[member(1)], 'm1', /m1 is the only master: minik8s reset/],
  [[member(1), member(2)], 'm1', /m1 is the master of this machine: run this on another master/],
  [
    [member(1), member(2), member(3, silent)],
    'm2',
    /without m2, 1 of 2 masters would answer, which is no majority: start m3 first/,
  ],
];
for (const [members, name, why] of kept) {
  test(`a member is not removed: ${why.source}`, () => {
    const plan = planRemoval(members, name);
    assert.equal(plan.kind, 'refuse');
    assert.match(plan.why, why);
  });
}

test('a master leaves while the remaining masters are a majority', () => {
  assert.equal(planLeaving([member(1), member(2)]), undefined);
  assert.equal(planLeaving([member(1), member(2), member(3)]), undefined);
  assert.match(
    planLeaving([member(1), member(2), member(3, silent)]) ?? '',
    /without m1, 1 of 2 masters would answer, which is no majority: start m3 first/,
  );
  assert.equal(planLeaving([member(2)]), undefined, 'it is no member any more');
});

test('members get distinct names for etcd, and the new member keeps its name', () => {
  const members = [member(1), member(2, { name: 'm1' }), member(3, { name: '' })];
  assert.equal(
    initialCluster(members, { memberId: 'a3', name: 'm3' }),
    'm1.a1=https://192.0.2.1:2380,m1.a2=https://192.0.2.2:2380,m3=https://192.0.2.3:2380',
  );
});

test('a master waits while another one is joining, also one that never started', () => {
  const why = (learner: object) => {
    const plan = planJoin([member(1), member(2, { isLearner: true, ...learner })], 'c', asked(3));
    assert.equal(plan.kind, 'wait');
    return plan.why;
  };
  assert.match(why({}), /m2 is joining: wait until .* or run minik8s masters remove m2/);
  assert.match(why({ name: '' }), /master at https:\/\/192\.0\.2\.2:2380 is joining: .* remove a2/);
});
