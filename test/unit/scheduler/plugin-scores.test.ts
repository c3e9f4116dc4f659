/** Score of each plugin for each node, in numbers (upstream's formulas). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { PodAffinityTerm } from '../../../src/api/core/v1/types.gen.ts';
import { selectorFromLabelSelector } from '../../../src/apimachinery/labels.ts';
import { normalizeByMaximum, type Plugin } from '../../../src/scheduler/framework.ts';
import { plugins } from '../../../src/scheduler/plugins/index.ts';
import { podInfo } from '../../../src/scheduler/pod-info.ts';
import { totalScores } from '../../../src/scheduler/policies.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { container, type NodeOptions, node, pod } from '../controllers/objects.ts';
import { decideWith, plain, snapshotOf, wanting } from './pods.ts';

const mebi = 1024 * 1024;

function pluginOf(name: string): Plugin {
  const plugin = plugins().find((one) => one.name === name);
  assert.ok(plugin);
  return plugin;
}

/** Returns the scores by node; undefined if the plugin does not apply to the pod. */
function scores(name: string, one: Pod, snapshot: Snapshot): Record<string, number> | undefined {
  const plugin = pluginOf(name);
  const info = podInfo(one);
  const { nodes } = snapshot;
  const prepared = plugin.preScore?.(info, nodes, snapshot);
  if (prepared === 'skip') return undefined;
  const found = nodes.map((place) => plugin.score?.(info, place, prepared?.state) ?? Number.NaN);
  plugin.normalize?.(found, nodes, prepared?.state);
  return Object.fromEntries(nodes.map((place, index) => [place.name, found[index] ?? Number.NaN]));
}

function assertScores(actual: Record<string, number> | undefined, expected: Record<string, number>): void {
  assert.deepEqual(Object.keys(actual ?? {}).sort(), Object.keys(expected).sort());
  for (const [name, score] of Object.entries(expected))
    assert.ok(
      Math.abs((actual?.[name] ?? Number.NaN) - score) < 1e-9,
      `${name}: ${actual?.[name]} is not ${score}`,
    );
}

it("the weights of the plugins are upstream's", () => {
  const weights = plugins()
    .filter(({ score }) => score)
    .map(({ name, weight = 1 }) => [name, weight]);
  assert.deepEqual(Object.fromEntries(weights), {
    TaintToleration: 3,
    NodeAffinity: 2,
    PodTopologySpread: 2,
    InterPodAffinity: 2,
    NodeResourcesFit: 1,
    NodeResourcesBalancedAllocation: 1,
    ImageLocality: 1,
  });
});

it('the scores of all plugins are added up, each by its weight; a plugin without a score is left out', () => {
  const scoring = (name: string, score: number, more: Partial<Plugin> = {}): Plugin => ({
    name,
    score: (_pod, node) => (node.name === 'a' ? score : 1),
    ...more,
  });
  const two = snapshotOf([node('a'), node('b')]);
  const given = [
    scoring('plain', 10),
    scoring('heavy', 5, { weight: 3 }),
    scoring('silent', 100, { preScore: () => 'skip' }),
    scoring('turned', 7, { normalize: (list) => list.reverse() }),
    { name: 'other' },
  ];
  assert.deepEqual(totalScores(podInfo(plain()), two.nodes, two, given), [10 + 15 + 1, 1 + 3 + 7]);
});

it('scores are normalized so that the highest becomes 100, or 0 in reverse', () => {
  const normalized = (reverse: boolean, ...scores: number[]) => {
    normalizeByMaximum(scores, { reverse });
    return scores;
  };
  assert.deepEqual(normalized(false, 0.5, 0.25, 0), [100, 50, 0]);
  assert.deepEqual(normalized(true, 4, 1, 0), [0, 75, 100]);
  assert.deepEqual(
    [normalized(false, 0, 0), normalized(true, 0, 0)],
    [
      [0, 0],
      [100, 100],
    ],
  );
});

describe('images', () => {
  const having = (name: string, image: string, size: number): Node => {
    const made = node(name);
    return { ...made, status: { ...made.status, images: [{ names: [image], sizeBytes: size * mebi }] } };
  };
  const using = (image: string, ...more: string[]) =>
    plain({ containers: [image, ...more].map((name) => container({ image: name })) });
  const table: [string, Pod, string, number, number | undefined][] = [
    ['count by their size and the number of nodes that have them', using('app:1'), 'app:1', 1023, 50],
    [
      'count for init containers',
      { ...using('x:1'), spec: { ...using('x:1').spec, initContainers: [container({ image: 'app:1' })] } },
      'app:1',
      1023,
      48850 / 1977,
    ],
    ['count beside an image that no node has', using('app:1', 'y:1'), 'app:1', 1023, 48850 / 1977],
    ['count up to a maximum size', using('app:1'), 'app:1', 9000, 100],
    ['count only above a minimum size', using('app:1'), 'app:1', 40, 0],
    [
      'count without a tag, of a registry with a port',
      using('reg:5000/app'),
      'reg:5000/app:latest',
      1023,
      50,
    ],
    ['count with a digest', using('reg:5000/app@sha256:1'), 'reg:5000/app@sha256:1', 1023, 50],
    ['give no score if no node has them', using('y:1'), 'app:1', 1023, undefined],
  ];
  for (const [what, one, image, size, expected] of table)
    it(what, () => {
      const nodes = [having('a', image, size), having('b', image, size), node('c'), node('d')];
      const found = scores('ImageLocality', one, snapshotOf(nodes));
      if (expected === undefined) assert.equal(found, undefined);
      else assertScores(found, { a: expected, b: expected, c: 0, d: 0 });
    });
});

describe('the balance of cpu and memory', () => {
  const table: [string, Pod, NodeOptions['allocatable'], number][] = [
    [
      'with half of the cpu and a quarter of the memory',
      wanting('p', { cpu: '1', memory: '1' }),
      { cpu: '2', memory: '4' },
      87.5,
    ],
    ['without requests', wanting('p', {}), { cpu: '1m', memory: '1' }, 100],
    ['with requests above the capacity', wanting('p', { cpu: '8' }), { cpu: '2', memory: '4' }, 50],
    ['on a node without cpu', wanting('p', { memory: '2' }), { memory: '4' }, 100],
    ['on a node without memory', wanting('p', { cpu: '2' }), { cpu: '4', memory: '0' }, 100],
  ];
  for (const [what, one, allocatable, expected] of table)
    it(`is ${expected} ${what}`, () =>
      assertScores(scores('NodeResourcesBalancedAllocation', one, snapshotOf([node('n', { allocatable })])), {
        n: expected,
      }));
});

it('the score by taints counts PreferNoSchedule taints only', () => {
  const taints = [
    { key: 'a', effect: 'NoSchedule' as const },
    { key: 'b', effect: 'PreferNoSchedule' as const },
  ];
  const one = plain({ tolerations: [{ key: 'a', operator: 'Exists' }] });
  assertScores(scores('TaintToleration', one, snapshotOf([node('n', { taints }), node('m')])), {
    n: 0,
    m: 100,
  });
});

const on = (name: string, nodeName: string, app: string, spec: Partial<Pod['spec']> = {}) =>
  pod(name, { spec: { nodeName, ...spec }, metadata: { labels: { app } } });
const app = (name: string) => ({ matchLabels: { app: name } });
/** Two nodes in zone a, one in b, and one without a zone. */
const nodes = [
  node('a1', { labels: { zone: 'a', host: 'a1' } }),
  node('a2', { labels: { zone: 'a', host: 'a2' } }),
  node('b1', { labels: { zone: 'b', host: 'b1' } }),
  node('x', { labels: { host: 'x' } }),
];

describe('preferred affinity to pods', () => {
  const prefer = (side: 'podAffinity' | 'podAntiAffinity', ...wishes: [weight: number, app: string][]) => ({
    affinity: {
      [side]: {
        preferredDuringSchedulingIgnoredDuringExecution: wishes.map(([weight, name]) => ({
          weight,
          podAffinityTerm: { topologyKey: 'host', labelSelector: app(name) } as PodAffinityTerm,
        })),
      },
    },
  });
  const table: [string, Partial<Pod['spec']>, readonly Pod[], Record<string, number> | undefined][] = [
    [
      'gives a node a score by the number of its selected pods',
      prefer('podAffinity', [10, 'db']),
      [on('1', 'a1', 'db'), on('2', 'a1', 'db'), on('3', 'b1', 'db')],
      { a1: 100, a2: 0, b1: 50, x: 0 },
    ],
    [
      'adds up the weights of its terms',
      prefer('podAffinity', [10, 'db'], [40, 'cache']),
      [on('1', 'a1', 'db'), on('2', 'b1', 'cache')],
      { a1: 25, a2: 0, b1: 100, x: 0 },
    ],
    [
      'applies anti-affinity as well',
      prefer('podAntiAffinity', [10, 'db']),
      [on('1', 'a1', 'db'), on('2', 'a1', 'db'), on('3', 'b1', 'db')],
      { a1: 0, a2: 100, b1: 50, x: 100 },
    ],
    [
      'applies the terms of existing pods',
      {},
      [
        on('1', 'a1', 'db', prefer('podAffinity', [10, 'web'])),
        on('2', 'b1', 'db', prefer('podAffinity', [40, 'web'])),
      ],
      { a1: 25, a2: 0, b1: 100, x: 0 },
    ],
    [
      'gives no preference if all nodes have the same score',
      prefer('podAffinity', [10, 'db']),
      nodes.map(({ metadata: { name } }) => on(`d-${name}`, name, 'db')),
      { a1: 0, a2: 0, b1: 0, x: 0 },
    ],
    [
      'gives no score if the term selects no pod',
      prefer('podAffinity', [10, 'db']),
      [on('1', 'a1', 'else')],
      undefined,
    ],
  ];
  for (const [what, spec, bound, expected] of table)
    it(what, () => {
      const made = plain(spec);
      const one = { ...made, metadata: { ...made.metadata, labels: { app: 'web' } } };
      const found = scores('InterPodAffinity', one, snapshotOf(nodes, bound));
      if (expected) assertScores(found, expected);
      else assert.equal(found, undefined);
    });
});

describe('preferred spread', () => {
  const spread = (...constraints: [topologyKey: string, maxSkew: number][]) =>
    plain({
      topologySpreadConstraints: constraints.map(([topologyKey, maxSkew]) => ({
        maxSkew,
        topologyKey,
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: app('web'),
      })),
    });
  const bound = [on('1', 'a1', 'web'), on('2', 'a1', 'web'), on('3', 'b1', 'web')];
  /** Returns the score of a count as upstream does: the node with the lowest count gets 100. */
  const share = (raw: number, least: number, most: number) => (100 * (most + least - raw)) / most;
  const [two, three] = [Math.log(2 + 2), Math.log(3 + 2)];

  it('prefers the emptier zone, and never a node without a zone', () => {
    const found = scores('PodTopologySpread', spread(['zone', 1]), snapshotOf(nodes, bound));
    assertScores(found, { a1: 50, a2: 50, b1: 100, x: 0 });
  });
  it('prefers the emptier zone less if it allows a larger skew', () => {
    const found = scores('PodTopologySpread', spread(['zone', 3]), snapshotOf(nodes, bound));
    const [a, b] = [2 * two + 2, two + 2];
    assertScores(found, { a1: share(a, b, a), a2: share(a, b, a), b1: 100, x: 0 });
  });
  it('by two topologies gives more weight to the topology with more domains', () => {
    const found = scores('PodTopologySpread', spread(['zone', 1], ['host', 1]), snapshotOf(nodes, bound));
    const [a1, a2, b1] = [2 * two + 2 * three, 2 * two, two + three];
    const least = Math.min(a2, b1);
    assertScores(found, {
      a1: share(a1, least, a1),
      a2: share(a2, least, a1),
      b1: share(b1, least, a1),
      x: 0,
    });
  });
  it('gives every node the same score if no pod matches', () => {
    const found = scores('PodTopologySpread', spread(['zone', 1]), snapshotOf(nodes));
    assertScores(found, { a1: 100, a2: 100, b1: 100, x: 0 });
  });
  it('by default uses only the host name of a node without a zone', () => {
    const [hostname, zone] = ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'];
    const snapshot = new Snapshot({
      namespaceLabels: () => undefined,
      siblingsOf: () => selectorFromLabelSelector(app('web')),
      volumes: {
        claim: () => undefined,
        volumesFor: () => [],
        volume: () => undefined,
        storageClass: () => undefined,
      },
    });
    for (const [name, labels] of [
      ['a1', { [zone]: 'a' }],
      ['b1', { [zone]: 'b' }],
      ['x', {}],
    ] as const)
      snapshot.setNode(node(name, { labels: { [hostname]: name, ...labels } }));
    for (const one of [on('1', 'a1', 'web'), on('2', 'a1', 'web'), on('3', 'x', 'web')]) snapshot.setPod(one);
    const leaving = on('4', 'b1', 'web');
    snapshot.setPod({
      ...leaving,
      metadata: { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
    });
    const [a1, b1, x] = [2 * three + 2 + 2 * two + 4, 2 + 4, three + 2];
    const least = Math.min(b1, x);
    assertScores(scores('PodTopologySpread', plain(), snapshot), {
      a1: share(a1, least, a1),
      b1: share(b1, least, a1),
      x: share(x, least, a1),
    });
  });
});

it('a pod that names its node is tried only there', () => {
  const many = Array.from({ length: 300 }, (_, index) => node(`n${index}`));
  const matchFields = [{ key: 'metadata.name', operator: 'In' as const, values: ['n250'] }];
  const nodeSelectorTerms = [{ matchFields }];
  const one = plain({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  });
  assert.deepEqual(decideWith(one, snapshotOf(many)), { kind: 'node', node: 'n250', lookedAt: 1 });
  assert.deepEqual(decideWith(plain({ nodeName: 'n7' }), snapshotOf(many)), {
    kind: 'node',
    node: 'n7',
    lookedAt: 1,
  });
});
