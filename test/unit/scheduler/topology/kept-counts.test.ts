/** Counts that are kept, how long they are kept, and counts that are dropped with their last user. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { PodAffinityTerm } from '../../../../src/api/core/v1/types.gen.ts';
import { affinityTerm } from '../../../../src/scheduler/affinity-term.ts';
import { podInfo } from '../../../../src/scheduler/pod-info.ts';
import type { CountQuery } from '../../../../src/scheduler/topology/domain-counts.ts';
import { HeldTerms } from '../../../../src/scheduler/topology/held-terms.ts';
import { LiveCounts } from '../../../../src/scheduler/topology/live-counts.ts';
import { node, pod } from '../../controllers/objects.ts';

const term = (app: string, more: Partial<PodAffinityTerm> = {}) => ({
  topologyKey: 'host',
  labelSelector: { matchLabels: { app } },
  ...more,
});

function query(app: string, more: Partial<CountQuery> = {}, of: Partial<PodAffinityTerm> = {}): CountQuery {
  const pods = [affinityTerm(term(app, of), 'default')] as const;
  return {
    id: `${app} ${JSON.stringify(of)}`,
    topologyKey: 'host',
    pods,
    terminating: true,
    everyDomain: false,
    ...more,
  };
}

const host = node('n', { labels: { host: 'n' } });
const web = pod('w', { metadata: { labels: { app: 'web' } } });

/** Returns counts over one node, or over the given nodes. */
function counts(machines: Iterable<Node> = [host], pods: readonly Pod[] = [web]) {
  const placements = {
    knownNodes: machines,
    namespaces: ['default'],
    podsIn: () => pods.map((one) => ({ pod: one, node: host })),
  };
  return new LiveCounts(placements, () => ({ team: 'one' }));
}

describe('counts', () => {
  it('are computed once, and updated with every change', () => {
    const live = counts();
    const made = live.of(query('web'));
    assert.equal(made.total, 1);
    live.countPod(pod('v', { metadata: { labels: { app: 'web' } } }), host, 1);
    live.countPod(pod('d', { metadata: { labels: { app: 'db' } } }), host, 1);
    assert.equal(live.of(query('web')), made);
    assert.deepEqual([made.total, live.size], [2, 1]);
  });

  it('include nodes without such pods only if every domain is requested', () => {
    const live = counts([host], []);
    assert.deepEqual([live.of(query('web')).size, live.of(query('db', { everyDomain: true })).size], [0, 1]);
  });

  it('are dropped, the least recently used first, when there are too many', () => {
    const live = counts();
    const first = live.of(query('web'));
    const second = live.of(query('app1'));
    for (let index = 2; index < 2_048; index++) live.of(query(`app${index}`));
    assert.deepEqual([live.size, live.of(query('web')) === first], [2_048, true]);
    live.of(query('one more'));
    assert.equal(live.size, 2_048);
    assert.equal(live.of(query('web')), first);
    assert.notEqual(live.of(query('app1')), second);
    // Dropped counts are not updated any more.
    live.countPod(pod('x', { metadata: { labels: { app: 'app1' } } }), host, 1);
    assert.deepEqual([second.total, live.of(query('app1')).total], [0, 1]);
  });

  it('are dropped when they have too many domains in total, except the last one', () => {
    const named = (_: unknown, index: number) => ({
      ...host,
      metadata: { ...host.metadata, name: `n${index}` },
    });
    const live = counts(Array.from({ length: 300_001 }, named), []);
    const large = live.of(query('a', { everyDomain: true }));
    assert.deepEqual([live.size, large.size], [1, 300_001]);
    live.of(query('b'));
    assert.equal(live.size, 1);
  });

  it('are computed again after a change of namespace labels, if they depend on any', () => {
    const live = counts();
    const [plain, all] = [query('web'), query('web', {}, { namespaceSelector: {} })];
    const selected = query('web', {}, { namespaceSelector: { matchLabels: { team: 'one' } } });
    const before = [plain, all, selected].map((one) => live.of(one));
    live.forgetNamespaceSelections();
    assert.equal(live.size, 2);
    const after = [plain, all, selected].map((one) => live.of(one));
    assert.deepEqual(
      after.map((one, index) => one === before[index]),
      [true, true, false],
    );
    assert.equal(after[2]?.total, 1);
  });
});

describe('terms of pods that have a node', () => {
  const required = (...terms: PodAffinityTerm[]) => ({
    requiredDuringSchedulingIgnoredDuringExecution: terms,
  });
  const holder = (name: string, one: PodAffinityTerm) =>
    podInfo(pod(name, { spec: { affinity: { podAntiAffinity: required(one) } } }));
  const told = (held: HeldTerms) =>
    held
      .about(web)
      .map(({ bond, term: { topologyKey }, domains }) => [bond, topologyKey, Object.fromEntries(domains)]);
  const [n, m] = [host, node('m', { labels: { host: 'm' } })];

  it('are counted by domain, and removed with their last pod', () => {
    const held = new HeldTerms(() => undefined);
    const [x, y] = [holder('x', term('web')), holder('y', term('web'))];
    held.count(x, n, 1);
    held.count(y, m, 1);
    held.count(x, m, 1);
    assert.deepEqual(told(held), [['away', 'host', { n: 1, m: 2 }]]);
    held.count(x, n, -1);
    assert.deepEqual(told(held), [['away', 'host', { m: 2 }]]);
    held.count(x, m, -1);
    held.count(y, m, -1);
    assert.deepEqual(told(held), []);
    held.count(y, n, 1);
    assert.deepEqual(told(held), [['away', 'host', { n: 1 }]]);
  });

  it('are kept also for nodes without a label of the topology', () => {
    const held = new HeldTerms(() => undefined);
    for (const one of [term('web', { topologyKey: 'zone' }), term('web', { topologyKey: 'constructor' })])
      for (const place of [n, node('bare')]) held.count(holder('x', one), place, 1);
    assert.deepEqual(told(held), [
      ['away', 'zone', {}],
      ['away', 'constructor', {}],
    ]);
  });

  it('have the weight 1 if they are required, and their own weight if they are preferred', () => {
    const held = new HeldTerms(() => undefined);
    const preferred = (weight: number) => ({
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: term('web') }],
    });
    for (const affinity of [
      { podAffinity: required(term('web')) },
      { podAffinity: preferred(3) },
      { podAntiAffinity: preferred(4) },
      { podAntiAffinity: required(term('web')) },
    ])
      held.count(podInfo(pod('x', { spec: { affinity } })), n, 1);
    assert.deepEqual(
      held.about(web).map(({ bond, weight }) => [bond, weight]),
      [
        ['near', 1],
        ['weighted', 3],
        ['weighted', -4],
        ['away', 1],
      ],
    );
  });
});
