import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { inOneGo } from '../../../src/apimachinery/steps.ts';
import { featureRules } from '../../../src/features/why.ts';
import { explain, explainAll } from '../../../src/why/explain.ts';
import { type KindKey, kindKeys, type ObjectRef, whyKinds } from '../../../src/why/kinds.ts';
import { RuleBook } from '../../../src/why/rule-book.ts';
import { rules } from '../../../src/why/rules/index.ts';
import { Snapshot } from '../../../src/why/snapshot.ts';
import { featureCases } from './cases-of-features.ts';
import { imageCases } from './cases-of-images.ts';
import { otherCases } from './cases-of-others.ts';
import { placeCases } from './cases-of-places.ts';
import { podCases } from './cases-of-pods.ts';
import { schedulingCases } from './cases-of-scheduling.ts';
import { serviceCases } from './cases-of-services.ts';
import type { Case } from './why-cases.ts';
import { condition, node, now, object, pod } from './why-objects.ts';

const book = new RuleBook({ ...rules, ...featureRules });
const cases = [
  ...podCases,
  ...schedulingCases,
  ...otherCases,
  ...serviceCases,
  ...imageCases,
  ...placeCases,
  ...featureCases,
];
const web: ObjectRef = { key: 'pods', namespace: 'default', name: 'web' };
const snapshotOf = (objects: Case['objects']) => new Snapshot({ nowMs: Date.parse(now), objects });

describe('each rule', () => {
  for (const { rule, about = web, objects, says, evidence, first, mend } of cases)
    it(`names its cause: ${rule}, ${says.source}`, () => {
      const chain = explain(snapshotOf(objects), about, book);
      const [step, last] = [chain[0], chain.at(-1)];
      assert.ok(step, 'nothing is found');
      assert.equal(step.rule, rule, step.finding.says);
      assert.match(step.finding.says, says);
      if (evidence) assert.match((step.finding.evidence ?? []).join('\n'), evidence);
      assert.equal(last?.rule, first ?? rule);
      const [change] = last.finding.mend ?? [];
      if (mend) assert.match(change ? ('command' in change ? change.command : change.advice) : '', mend);
    });

  it('has a case, a symptom, a cause and advice', () => {
    assert.deepEqual(new Set(cases.map(({ rule }) => rule)), new Set(Object.keys(book.rules)));
    for (const [name, { symptom, cause, advice }] of Object.entries(book.rules))
      for (const text of [symptom, cause, advice]) assert.match(text, /\.$/, name);
  });

  it('is one of at least 40', () => {
    assert.ok(Object.keys(book.rules).length >= 40, String(Object.keys(book.rules).length));
  });

  it('reports no missing object of a kind that was not read', () => {
    for (const { about = web, objects } of cases) {
      const alone = { [about.key]: objects[about.key], events: objects.events ?? [] };
      for (const { finding } of explain(snapshotOf(alone), about, book))
        assert.doesNotMatch(finding.says, /does not exist(?!.*no volume has it)/);
    }
  });

  it('reads objects of any shape without an error', () => {
    const shapes = [null, 1, 'x', [], [null], {}, { status: 1, spec: 'x', metadata: [] }];
    for (const key of kindKeys)
      for (const shape of shapes) {
        const one = object(whyKinds[key].kind, 'web', { spec: shape, status: shape } as never);
        explain(snapshotOf({ [key]: [one] }), { key, namespace: 'default', name: 'web' }, book);
      }
  });
});

test('an object without a fault has no chain', () => {
  const running = pod('web', {
    spec: { nodeName: 'n1' },
    status: { phase: 'Running', conditions: [condition('Ready', 'True')] },
  });
  assert.deepEqual(explain(snapshotOf({ pods: [running], nodes: [node('n1')] }), web, book), []);
});

test('a container that has run longer than before its last end is not a fault', () => {
  const status = (startedAt: string) => ({
    phase: 'Running',
    conditions: [condition('Ready', 'True')],
    containerStatuses: [
      {
        ...{ name: 'main', restartCount: 1, state: { running: { startedAt } } },
        lastState: {
          terminated: {
            ...{ exitCode: 1, startedAt: '2026-01-01T23:59:30Z', finishedAt: '2026-01-01T23:59:35Z' },
          },
        },
      },
    ],
  });
  const rulesFor = (startedAt: string) => {
    const restarted = pod('web', { spec: { nodeName: 'n1' }, status: status(startedAt) });
    return explain(snapshotOf({ pods: [restarted], nodes: [node('n1')] }), web, book).map(({ rule }) => rule);
  };
  assert.deepEqual(rulesFor('2026-01-01T23:59:54Z'), ['pod-crash']);
  assert.deepEqual(rulesFor('2026-01-01T23:59:52Z'), []);
});

test('a chain ends at a cycle of causes', () => {
  const owner = (kind: string, name: string) => ({
    ownerReferences: [{ kind, name, uid: `uid-of-${kind}-${name}`, controller: true }],
  });
  const replicaSet = object('ReplicaSet', 'web', {
    metadata: owner('ReplicaSet', 'web'),
    spec: { replicas: 1 },
    status: { replicas: 1 },
  });
  const about: ObjectRef = { key: 'replicasets.apps', namespace: 'default', name: 'web' };
  assert.equal(explain(snapshotOf({ 'replicasets.apps': [replicaSet] }), about, book).length, 1);
});

describe('the problems of a cluster', () => {
  const gated = (name: string, more: object = {}) =>
    pod(name, { ...more, spec: { schedulingGates: [{ name: 'gate' }] } });
  const lost = node('n1', { status: { conditions: [condition('Ready', 'Unknown')] } });
  const on = (name: string) => pod(name, { spec: { nodeName: 'n1' }, status: { phase: 'Running' } });

  it('are listed once with all their objects, the worst first', () => {
    const seen = snapshotOf({ nodes: [lost], pods: [gated('waits'), on('a'), on('b')] });
    const problems = inOneGo(explainAll(seen, book));
    assert.deepEqual(
      problems.map(({ chain, subjects }) => [chain.at(-1)?.rule, subjects.map(({ name }) => name)]),
      [
        ['node-not-ready', ['n1', 'a', 'b']],
        ['pod-gated', ['waits']],
      ],
    );
  });

  it('of one namespace do not include other namespaces', () => {
    const other = gated('other', { metadata: { namespace: 'other' } });
    const problems = inOneGo(explainAll(snapshotOf({ pods: [gated('waits'), other] }), book, 'other'));
    assert.deepEqual(
      problems.map(({ subjects }) => subjects.map(({ name }) => name)),
      [['other']],
    );
  });

  it('do not repeat the pods of a workload', () => {
    const keys: readonly KindKey[] = ['deployments.apps', 'replicasets.apps', 'pods'];
    const workload = otherCases.find(({ rule }) => rule === 'workload-pods');
    assert.ok(workload && keys.every((key) => workload.objects[key]));
    const [problem, ...more] = inOneGo(explainAll(snapshotOf(workload.objects), book));
    assert.deepEqual(more, []);
    assert.deepEqual(
      problem?.chain.map(({ rule }) => rule),
      ['workload-pods', 'workload-pods', 'pod-gated'],
    );
  });

  const owned = (name: string, uid: string, owner = 'web') =>
    gated(name, {
      metadata: { ownerReferences: [{ kind: 'Pod', name: owner, uid, controller: true }] },
    });
  const subjectsOf = (objects: Case['objects']) =>
    inOneGo(explainAll(snapshotOf(objects), book))
      .flatMap(({ subjects }) => subjects.map(({ name }) => name))
      .toSorted();

  it('include a pod whose owner was replaced by another object of the same name', () => {
    assert.deepEqual(subjectsOf({ pods: [owned('a', 'uid-of-Pod-web'), pod('web')] }), ['web']);
    assert.deepEqual(subjectsOf({ pods: [owned('a', 'uid-of-the-former'), pod('web')] }), ['a', 'web']);
    assert.deepEqual(subjectsOf({ pods: [owned('a', 'uid-of-Pod-web')] }), ['a']);
  });

  it('include objects that own each other, themselves, or in a long line', () => {
    const circle = [owned('a', 'uid-of-Pod-b', 'b'), owned('b', 'uid-of-Pod-a', 'a')];
    assert.deepEqual(subjectsOf({ pods: circle }), ['a', 'b']);
    assert.deepEqual(subjectsOf({ pods: [owned('a', 'uid-of-Pod-a', 'a')] }), ['a']);
    const line = Array.from({ length: 5_000 }, (_, index) =>
      owned(`p${index}`, `uid-of-Pod-p${index + 1}`, `p${index + 1}`),
    );
    assert.ok(subjectsOf({ pods: line }).includes('p0'));
  });

  it('are as bad as the worst object of their chain, and of equally bad ones most objects come first', () => {
    const down = (name: string) => node(name, { status: { conditions: [condition('Ready', 'Unknown')] } });
    const cordoned = node('n0', { spec: { unschedulable: true } });
    const placed = (name: string, nodeName: string) =>
      pod(name, { spec: { nodeName }, status: { phase: 'Running' } });
    const service = object('Service', 'a', { spec: { selector: { app: 'gated' } } });
    const seen = snapshotOf({
      nodes: [cordoned, down('n1'), down('n2'), down('n3')],
      pods: [placed('x', 'n2'), gated('waits', { metadata: { labels: { app: 'gated' } } })],
      services: [service],
    });
    const problems = inOneGo(explainAll(seen, book));
    assert.deepEqual(
      problems.map(({ subjects }) => subjects.map(({ name }) => name)),
      [['n2', 'x'], ['a', 'waits'], ['n1'], ['n3'], ['n0']],
    );
  });

  it('of objects with one name in two namespaces are two', () => {
    const other = gated('same', { metadata: { namespace: 'other' } });
    assert.equal(inOneGo(explainAll(snapshotOf({ pods: [gated('same'), other] }), book)).length, 2);
  });
});
