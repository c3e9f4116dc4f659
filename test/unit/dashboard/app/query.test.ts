import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import type { ApiKind } from '../../../../src/dashboard/app/cluster/plan/discovery.ts';
import { entriesFor } from '../../../../src/dashboard/app/palette/plan/entries.ts';
import { matchesQuery, parseQuery } from '../../../../src/dashboard/app/search/plan/query.ts';
import { rank } from '../../../../src/dashboard/app/search/plan/ranking.ts';
import { searchItem } from '../../../../src/dashboard/app/search/plan/search-item.ts';

const kind = (name: string, plural: string, group = ''): ApiKind => ({
  key: group === '' ? plural : `${plural}.${group}`,
  group,
  version: 'v1',
  kind: name,
  plural,
  singular: name.toLowerCase(),
  namespaced: true,
  verbs: ['list', 'delete'],
  shortNames: name === 'Pod' ? ['po'] : [],
  subresources: [],
});
const pods = kind('Pod', 'pods');
const budgets = kind('PodDisruptionBudget', 'poddisruptionbudgets', 'policy');

let serial = 0;
const object = (name: string, rest: object = {}, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: '',
  metadata: {
    name,
    namespace: 'shop',
    uid: `${++serial}`,
    resourceVersion: '1',
    creationTimestamp: '',
    labels,
  },
  ...rest,
});

const ready = { conditions: [{ type: 'Ready', status: 'True' }], podIP: '10.244.0.7' };
const web = searchItem(
  pods,
  object(
    'web-1',
    { spec: { nodeName: 'vm2', containers: [{ image: 'r/Web:1.2' }] }, status: ready },
    { app: 'web' },
  ),
);
const broken = searchItem(
  pods,
  object('cart-9', {
    spec: { nodeName: 'vm20' },
    status: {
      containerStatuses: [{ state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } } }],
    },
  }),
);
const budget = searchItem(budgets, object('web'));
const settings = searchItem(kind('ConfigMap', 'configmaps'), object('settings'));
const all = [web, broken, budget, settings];

const found = (text: string) => {
  const query = parseQuery(text);
  return all.filter((item) => matchesQuery(item, query)).map(({ name }) => name);
};

describe('a search', () => {
  const cases: readonly [text: string, names: readonly string[]][] = [
    ['web', ['web-1', 'web']],
    ['kind:pod', ['web-1', 'cart-9']],
    ['kind:po', ['web-1', 'cart-9']],
    ['KIND:Pod node:vm2', ['web-1']],
    ['node:vm', ['web-1', 'cart-9']],
    ['kind:pod not:ready', ['cart-9']],
    ['is:ready', ['web-1']],
    ['not:ready', ['cart-9']],
    ['image:web', ['web-1']],
    ['ip:10.244.0.7', ['web-1']],
    ['app:web', ['web-1']],
    ['label:app=web', ['web-1']],
    ['status:crash', ['cart-9']],
    ['message:"back-off 40s"', ['cart-9']],
    ['kind:pod -web', ['cart-9']],
    ['kind:pod not:web', ['cart-9']],
    ['ns:shop settings', ['settings']],
    ['ns:other', []],
  ];
  for (const [text, names] of cases)
    it(`for ${text} finds ${names.join(' and ') || 'nothing'}`, () => {
      assert.deepEqual(found(text), names);
    });

  it('by a state does not find objects that have no state', () => {
    assert.equal(settings.health, undefined);
    assert.equal(found('not:ready').includes('settings'), false);
  });
});

describe('ranking', () => {
  it('puts the exact name before a name that only begins with the text', () => {
    assert.deepEqual(
      rank(all, parseQuery('web'), 10).best.map(({ item }) => item.name),
      ['web', 'web-1'],
    );
  });

  it('counts all matches, and returns no more than the limit', () => {
    const { best, total } = rank(all, parseQuery('ns:shop'), 2);
    assert.deepEqual([best.length, total], [2, 4]);
  });

  it('names the field in which a text was found that the name does not contain', () => {
    assert.deepEqual(
      rank(all, parseQuery('10.244'), 10).best.map(({ why }) => why),
      ['ip 10.244.0.7'],
    );
  });

  it('finds nothing for an empty search', () => {
    assert.deepEqual(rank(all, parseQuery(' '), 10), { best: [], total: 0 });
  });
});

describe('the entries of the palette', () => {
  const sources = {
    items: all,
    kinds: [pods, budgets],
    commands: [{ title: 'Colors: dark', words: 'theme' }],
    actionsOn: () => [{ title: 'Delete', words: 'remove' }],
  };
  const entries = (text: string) => entriesFor(text, sources);
  const types = (text: string) => entries(text).map(({ type }) => type);

  it('are the commands if the text is empty', () => {
    assert.deepEqual(types(''), ['command']);
  });

  it('offer an action whose title begins with one word, on the object that the other words find', () => {
    const [first] = entries('del cart');
    assert.ok(first?.type === 'action');
    assert.deepEqual([first.action.title, first.item.name], ['Delete', 'cart-9']);
  });

  it('offer the table of a named kind with the rest of the search as its filter', () => {
    const [first] = entries('kind:pod node:vm2 not:ready -x');
    assert.equal(first, undefined);
    const table = entries('node:vm kind:pod').find(({ type }) => type === 'all');
    assert.ok(table?.type === 'all');
    assert.deepEqual([table.kind.key, table.filter, table.total], ['pods', 'node:vm', 2]);
  });

  it('offer kinds and commands by their words', () => {
    assert.deepEqual(types('theme'), ['command']);
    assert.equal(types('pod')[0], 'kind');
  });
});
