/**
 * Affinity to pods and topology spread: tables of upstream's decisions, and random clusters compared with a
 * model that counts every pod.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Node } from '../../../src/api/core/v1/node/node.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { PodAffinityTerm, TopologySpreadConstraint } from '../../../src/api/core/v1/types.gen.ts';
import type { Labels } from '../../../src/apimachinery/labels.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { node, pod } from '../controllers/objects.ts';
import { decideWith, nodeFor, plain } from './pods.ts';

type Spec = Partial<Pod['spec']>;

const app = (name: string) => ({ matchLabels: { app: name } });
const near = (...terms: PodAffinityTerm[]): Spec => ({
  affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const away = (...terms: PodAffinityTerm[]): Spec => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const prefer = (weight: number, term: PodAffinityTerm, side: 'podAffinity' | 'podAntiAffinity'): Spec => ({
  affinity: {
    [side]: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight, podAffinityTerm: term }] },
  },
});
const spread = (...constraints: Partial<TopologySpreadConstraint>[]): Spec => ({
  topologySpreadConstraints: constraints.map((constraint) => ({
    maxSkew: 1,
    topologyKey: 'zone',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: app('web'),
    ...constraint,
  })),
});

const on = (name: string, nodeName: string, app: string, spec: Spec = {}, namespace = 'default') => {
  const made = pod(name, { spec: { nodeName, ...spec }, metadata: { labels: { app }, namespace } });
  return { ...made, metadata: { ...made.metadata, uid: `${namespace}-${name}` } };
};
const incoming = (spec: Spec, labels: Labels = { app: 'web' }): Pod => {
  const made = plain(spec);
  return { ...made, metadata: { ...made.metadata, labels } };
};

/** Two nodes in zone a, one in b, and one without a zone. */
const nodes = [
  node('a1', { labels: { zone: 'a', host: 'a1' } }),
  node('a2', { labels: { zone: 'a', host: 'a2' } }),
  node('b1', { labels: { zone: 'b', host: 'b1' } }),
  node('x', { labels: { host: 'x' } }),
];

const namespaces: Record<string, Labels> = { default: { team: 'one' }, other: { team: 'two' } };

function world(bound: readonly Pod[], list: readonly Node[] = nodes): Snapshot {
  const snapshot = new Snapshot({
    namespaceLabels: (name) => namespaces[name],
    siblingsOf: () => undefined,
    volumes: {
      claim: () => undefined,
      volumesFor: () => [],
      volume: () => undefined,
      storageClass: () => undefined,
    },
  });
  for (const one of list) snapshot.setNode(one);
  for (const one of bound) snapshot.setPod(one);
  return snapshot;
}

/** Returns the nodes that can take the pod; each is tried alone, by the name that the pod requires. */
function feasible(one: Pod, snapshot: Snapshot): string[] {
  return snapshot.nodes
    .map(({ name }) => name)
    .filter((name) => nodeFor({ ...one, spec: { ...one.spec, nodeName: name } }, snapshot) === name)
    .sort();
}

describe('required affinity to pods', () => {
  const table: [string, Spec, readonly Pod[], string[]][] = [
    [
      'places a pod in the domain of a selected pod',
      near({ topologyKey: 'zone', labelSelector: app('db') }),
      [on('d', 'a1', 'db')],
      ['a1', 'a2'],
    ],
    [
      'places a pod on the node of a selected pod',
      near({ topologyKey: 'host', labelSelector: app('db') }),
      [on('d', 'a1', 'db')],
      ['a1'],
    ],
    [
      'places a pod nowhere if no pod is selected',
      near({ topologyKey: 'zone', labelSelector: app('db') }),
      [on('d', 'a1', 'else')],
      [],
    ],
    [
      'places the first pod of a group with affinity to itself on any node with the topology',
      near({ topologyKey: 'zone', labelSelector: app('web') }),
      [],
      ['a1', 'a2', 'b1'],
    ],
    [
      'places the second pod of the group near the first',
      near({ topologyKey: 'zone', labelSelector: app('web') }),
      [on('w', 'b1', 'web')],
      ['b1'],
    ],
    [
      'treats a pod as the first if the others are on nodes without the topology',
      near({ topologyKey: 'zone', labelSelector: app('web') }),
      [on('w', 'x', 'web')],
      ['a1', 'a2', 'b1'],
    ],
    [
      'requires that all terms select the same pod',
      near(
        { topologyKey: 'zone', labelSelector: app('db') },
        { topologyKey: 'host', labelSelector: app('cache') },
      ),
      [on('d', 'a1', 'db'), on('c', 'a1', 'cache')],
      [],
    ],
    ['selects no pod with a missing selector', near({ topologyKey: 'zone' }), [on('d', 'a1', 'db')], []],
    [
      'selects all pods with an empty selector',
      near({ topologyKey: 'zone', labelSelector: {} }),
      [on('d', 'b1', 'db')],
      ['b1'],
    ],
    [
      'selects only pods of its own namespace',
      near({ topologyKey: 'zone', labelSelector: app('db') }),
      [on('d', 'a1', 'db', {}, 'other')],
      [],
    ],
    [
      'selects pods of a named namespace',
      near({ topologyKey: 'zone', labelSelector: app('db'), namespaces: ['other'] }),
      [on('d', 'a1', 'db', {}, 'other')],
      ['a1', 'a2'],
    ],
    [
      'selects pods of namespaces by their labels',
      near({
        topologyKey: 'zone',
        labelSelector: app('db'),
        namespaceSelector: { matchLabels: { team: 'two' } },
      }),
      [on('d', 'a1', 'db', {}, 'other'), on('e', 'b1', 'db')],
      ['a1', 'a2'],
    ],
    [
      'selects pods of all namespaces',
      near({ topologyKey: 'zone', labelSelector: app('db'), namespaceSelector: {} }),
      [on('d', 'b1', 'db', {}, 'other')],
      ['b1'],
    ],
  ];
  for (const [what, spec, bound, expected] of table)
    it(what, () => assert.deepEqual(feasible(incoming(spec), world(bound)), expected));

  it('places a pod nowhere by a topology that no node has, even if its name is a property of every JavaScript object', () => {
    const list = [...nodes, node('bare', { labels: undefined })];
    for (const spec of [
      near({ topologyKey: 'constructor', labelSelector: app('web') }),
      spread({ topologyKey: 'constructor' }),
    ])
      assert.deepEqual(feasible(incoming(spec), world([], list)), []);
  });
});

describe('required anti-affinity to pods', () => {
  const table: [string, Spec, readonly Pod[], string[]][] = [
    [
      'excludes the domain of a selected pod',
      away({ topologyKey: 'zone', labelSelector: app('db') }),
      [on('d', 'a1', 'db')],
      ['b1', 'x'],
    ],
    [
      'excludes only the node of a selected pod',
      away({ topologyKey: 'host', labelSelector: app('db') }),
      [on('d', 'a1', 'db')],
      ['a2', 'b1', 'x'],
    ],
    [
      'of a placed pod keeps selected pods out of its domain',
      {},
      [on('d', 'a1', 'db', away({ topologyKey: 'zone', labelSelector: app('web') }))],
      ['b1', 'x'],
    ],
    [
      'of a placed pod allows pods that it does not select',
      {},
      [on('d', 'a1', 'db', away({ topologyKey: 'zone', labelSelector: app('db') }))],
      ['a1', 'a2', 'b1', 'x'],
    ],
    [
      'of a placed pod allows pods of another namespace',
      {},
      [on('d', 'a1', 'db', away({ topologyKey: 'zone', labelSelector: app('web') }), 'other')],
      ['a1', 'a2', 'b1', 'x'],
    ],
    [
      'of a placed pod covers the namespaces that its namespaceSelector selects',
      {},
      [
        on(
          'd',
          'a1',
          'db',
          away({
            topologyKey: 'zone',
            labelSelector: app('web'),
            namespaceSelector: { matchLabels: { team: 'one' } },
          }),
          'other',
        ),
      ],
      ['b1', 'x'],
    ],
    [
      'of pods to each other allows one pod in each domain',
      away({ topologyKey: 'host', labelSelector: app('web') }),
      [on('w', 'a1', 'web'), on('v', 'x', 'web')],
      ['a2', 'b1'],
    ],
    [
      'of a pod to itself has no effect',
      away({ topologyKey: 'zone', labelSelector: app('web') }),
      [],
      ['a1', 'a2', 'b1', 'x'],
    ],
    [
      'applies each term separately',
      away(
        { topologyKey: 'zone', labelSelector: app('db') },
        { topologyKey: 'host', labelSelector: app('cache') },
      ),
      [on('d', 'a1', 'db'), on('c', 'x', 'cache')],
      ['b1'],
    ],
  ];
  for (const [what, spec, bound, expected] of table)
    it(what, () => assert.deepEqual(feasible(incoming(spec), world(bound)), expected));
});

describe('preferred affinity to pods', () => {
  const db = { topologyKey: 'host', labelSelector: app('db') };
  it('prefers the nodes of selected pods, and anti-affinity prefers other nodes', () => {
    const bound = [on('d', 'b1', 'db')];
    assert.equal(nodeFor(incoming(prefer(100, db, 'podAffinity')), world(bound)), 'b1');
    const rest = ['a1', 'a2', 'x'].map((name) => on(`d${name}`, name, 'db'));
    assert.equal(nodeFor(incoming(prefer(100, db, 'podAntiAffinity')), world(rest)), 'b1');
  });
  it('of existing pods is considered as well, if it is required or preferred', () => {
    const web = { topologyKey: 'host', labelSelector: app('web') };
    for (const spec of [prefer(50, web, 'podAffinity'), near(web)])
      assert.equal(nodeFor(incoming({}), world([on('d', 'x', 'db', spec)])), 'x');
    const all = ['a1', 'a2', 'x'].map((name) =>
      on(`d${name}`, name, 'db', prefer(9, web, 'podAntiAffinity')),
    );
    assert.equal(nodeFor(incoming({}), world(all)), 'b1');
  });
});

describe('topology spread', () => {
  const web = (name: string, nodeName: string) => on(name, nodeName, 'web');
  const leaving = (one: Pod): Pod => ({
    ...one,
    metadata: { ...one.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' },
  });
  const table: [string, Spec, readonly Pod[], string[]][] = [
    ['excludes nodes without the label', spread({}), [], ['a1', 'a2', 'b1']],
    ['chooses the emptiest domain next', spread({}), [web('1', 'a1')], ['b1']],
    ['allows domains up to the maximum skew', spread({ maxSkew: 2 }), [web('1', 'a1')], ['a1', 'a2', 'b1']],
    ['does not count pods that it does not select', spread({}), [on('1', 'a1', 'db')], ['a1', 'a2', 'b1']],
    [
      'does not count pods of other namespaces',
      spread({}),
      [on('1', 'a1', 'web', {}, 'other')],
      ['a1', 'a2', 'b1'],
    ],
    ['does not count terminating pods', spread({}), [leaving(web('1', 'a1'))], ['a1', 'a2', 'b1']],
    [
      'does not count the pod itself if its constraint does not select it',
      spread({ labelSelector: app('db') }),
      [on('1', 'a1', 'db')],
      ['a1', 'a2', 'b1'],
    ],
    [
      'applies two constraints together',
      spread({}, { topologyKey: 'host' }),
      [web('1', 'a1'), web('2', 'b1')],
      ['a2'],
    ],
    [
      'assumes an empty domain if there are fewer domains than minDomains',
      spread({ minDomains: 3 }),
      [web('1', 'a1'), web('2', 'b1')],
      [],
    ],
    [
      'assumes no empty domain if there are as many domains as minDomains',
      spread({ minDomains: 2 }),
      [web('1', 'a1'), web('2', 'b1')],
      ['a1', 'a2', 'b1'],
    ],
    [
      "does not count nodes outside of the pod's affinity",
      { ...spread({}), nodeSelector: { zone: 'a' } },
      [web('1', 'a1')],
      ['a1', 'a2'],
    ],
    [
      "counts nodes outside of the pod's affinity with the policy Ignore",
      { ...spread({ nodeAffinityPolicy: 'Ignore' }), nodeSelector: { zone: 'a' } },
      [web('1', 'a1')],
      [],
    ],
  ];
  for (const [what, spec, bound, expected] of table)
    it(what, () => assert.deepEqual(feasible(incoming(spec), world(bound)), expected));

  it('includes tainted nodes unless taints are honoured', () => {
    const tainted = node('b1', { labels: { zone: 'b' }, taints: [{ key: 'k', effect: 'NoSchedule' }] });
    const list = [...nodes.filter(({ metadata }) => metadata.name !== 'b1'), tainted];
    const bound = [web('1', 'a1')];
    assert.deepEqual(feasible(incoming(spread({})), world(bound, list)), []);
    assert.deepEqual(feasible(incoming(spread({ nodeTaintsPolicy: 'Honor' })), world(bound, list)), [
      'a1',
      'a2',
    ]);
  });

  it('counts only pods with the same value of matchLabelKeys', () => {
    const keyed = (name: string, nodeName: string, version: string) => {
      const made = web(name, nodeName);
      return { ...made, metadata: { ...made.metadata, labels: { app: 'web', version } } };
    };
    const one = incoming(spread({ matchLabelKeys: ['version', 'none'] }), { app: 'web', version: '2' });
    assert.deepEqual(feasible(one, world([keyed('1', 'a1', '1')])), ['a1', 'a2', 'b1']);
    assert.deepEqual(feasible(one, world([keyed('1', 'a1', '2')])), ['b1']);
    const other = keyed('1', 'a1', '2');
    const unlike = { ...other, metadata: { ...other.metadata, labels: { app: 'db', version: '2' } } };
    assert.deepEqual(feasible(one, world([unlike])), ['a1', 'a2', 'b1']);
  });

  it('does not count the domain of a node that was tainted or has lost its label', () => {
    const one = incoming(spread({ nodeTaintsPolicy: 'Honor' }));
    const snapshot = world([web('1', 'a1')]);
    assert.deepEqual(feasible(one, snapshot), ['b1']);
    const taints = [{ key: 'k', effect: 'NoSchedule' as const }];
    snapshot.setNode(node('b1', { labels: { zone: 'b' }, taints }));
    assert.deepEqual(feasible(one, snapshot), ['a1', 'a2']);
    snapshot.setNode(node('b1', { labels: { zone: 'b' } }));
    assert.deepEqual(feasible(one, snapshot), ['b1']);
    snapshot.setNode(node('b1'));
    assert.deepEqual(feasible(one, snapshot), ['a1', 'a2']);
  });

  it('excludes no node if it is only preferred, and prefers the emptiest domain', () => {
    const soft = incoming(spread({ whenUnsatisfiable: 'ScheduleAnyway' }));
    assert.equal(feasible(soft, world([web('1', 'a1')])).length, 4);
    assert.equal(nodeFor(soft, world([web('1', 'a1'), web('2', 'a2')])), 'b1');
  });

  it('rejects a node with the reason that upstream gives', () => {
    const decision = decideWith(incoming(spread({})), world([web('1', 'a1')], nodes.toSpliced(2, 1)));
    assert.equal(decision.kind, 'node');
    const refused = decideWith(incoming({ ...spread({ topologyKey: 'rack' }) }), world([]));
    assert.equal(refused.kind, 'unschedulable');
    if (refused.kind === 'unschedulable')
      assert.deepEqual(
        [...new Set(refused.nodes.flatMap(({ rejections }) => rejections.map(({ text }) => text)))],
        ["node(s) didn't match pod topology spread constraints (missing required label)"],
      );
  });
});
