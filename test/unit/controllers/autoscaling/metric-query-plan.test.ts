/** Tests the queries to Prometheus: their text, and that each value of an autoscaler stays in its quotes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MetricSpec } from '../../../../src/api/autoscaling/v2/types.gen.ts';
import {
  isOutside,
  type MetricQueries,
  podsMatcher,
  queryOf,
  queryProblem,
  usualQueries,
} from '../../../../src/controllers/autoscaling/metric-query-plan.ts';
import { MetricFailure } from '../../../../src/controllers/autoscaling/replicas-plan.ts';
import { pod } from '../objects.ts';

const target = { type: 'AverageValue', averageValue: '1' };
const singularOf = (kind: string) => kind.toLowerCase();
const own = [pod('web-a'), pod('web-b.c')];
const pods = (name: string, selector?: object): MetricSpec => ({
  type: 'Pods',
  pods: { metric: { name, ...(selector && { selector }) }, target },
});
const object = (kind: string, name: string): MetricSpec => ({
  type: 'Object',
  object: { metric: { name: 'hits' }, describedObject: { kind, name }, target },
});
const external = (name: string, selector?: object): MetricSpec => ({
  type: 'External',
  external: { metric: { name, ...(selector && { selector }) }, target },
});
const ask = (metric: MetricSpec, queries: MetricQueries = usualQueries) =>
  queryOf(metric, { namespace: 'shop', pods: podsMatcher(own, queries), singularOf }, queries);

describe('the query of a metric', () => {
  const usual: [string, MetricSpec, string][] = [
    [
      'for pods has their names',
      pods('rps'),
      'sum by (pod) ({__name__="rps",namespace="shop",pod=~"web-a|web-b\\\\.c"})',
    ],
    [
      'for an object has a label whose name is the kind and whose value is the name of the object',
      object('Service', 'web'),
      'sum({__name__="hits",namespace="shop",service="web"})',
    ],
    [
      'for a Namespace has the namespace of the autoscaler, and not the given name',
      object('Namespace', 'other'),
      'sum({__name__="hits",namespace="shop"})',
    ],
    [
      'for an external metric has the namespace too',
      external('queue'),
      'sum({__name__="queue",namespace="shop"})',
    ],
    [
      "has the requirements of the metric's selector",
      external('queue', {
        matchLabels: { name: 'a.b' },
        matchExpressions: [
          { key: 'kind', operator: 'In', values: ['x', 'y+'] },
          { key: 'zone', operator: 'NotIn', values: ['z'] },
          { key: 'there', operator: 'Exists' },
          { key: 'gone', operator: 'DoesNotExist' },
        ],
      }),
      'sum({__name__="queue",namespace="shop",name="a.b",kind=~"x|y\\\\+",zone!~"z",there!="",gone=""})',
    ],
  ];
  for (const [what, metric, expected] of usual) it(what, () => assert.equal(ask(metric), expected));

  it('does not exist for resource metrics of pods', () => {
    const cpu = { type: 'Resource', resource: { name: 'cpu', target } };
    assert.equal(isOutside(cpu), false);
    assert.throws(() => ask(cpu), MetricFailure);
    assert.ok([pods('a'), object('Service', 'a'), external('a')].every(isOutside));
  });

  for (const hostile of [
    'x"} or vector(1e9) or {a="',
    'x\\"} or up{a=\\"',
    'x\n} or up',
    '$selector',
    "$&$'",
    '`} or up #',
  ])
    it(`keeps the name ${JSON.stringify(hostile)} in its quotes`, () => {
      for (const query of [
        ask(pods(hostile, { matchLabels: { a: hostile } })),
        ask(object('Service', hostile)),
        ask(external(hostile, { matchExpressions: [{ key: 'a', operator: 'In', values: [hostile] }] })),
      ]) {
        const bare = (query ?? '').replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '');
        assert.match(bare, /^sum(?: by \(pod\) )?\(\{[a-z_,=~]+\}\)$/);
      }
    });

  for (const key of ['app.kubernetes.io/name', 'a="",b', '', '1a', 'é'])
    it(`is rejected because ${JSON.stringify(key)} is not a label`, () => {
      const metric = external('queue', { matchLabels: { [key]: 'x' } });
      assert.throws(() => ask(metric), MetricFailure);
      assert.throws(() => ask(object(key, 'x')), MetricFailure);
    });

  it("is the administrator's query for the metric if there is one, with the selector for $selector", () => {
    const queries: MetricQueries = {
      labels: { namespace: 'ns', pod: 'pod_name' },
      pods: [{ metric: 'rps', query: 'sum by (pod_name) (rate(hits{$selector}[1m]))', allNamespaces: false }],
      objects: [],
      external: [
        { metric: 'queue', query: 'max(q{$selector,a="b"}) - min(q{$selector})', allNamespaces: true },
        { metric: 'own', query: 'max(q{$selector})', allNamespaces: false },
      ],
    };
    assert.equal(
      ask(pods('rps'), queries),
      'sum by (pod_name) (rate(hits{ns="shop",pod_name=~"web-a|web-b\\\\.c"}[1m]))',
    );
    assert.equal(
      ask(pods('other'), queries),
      'sum by (pod_name) ({__name__="other",ns="shop",pod_name=~"web-a|web-b\\\\.c"})',
    );
    assert.equal(
      ask(external('queue', { matchLabels: { c: '$&' } }), queries),
      'max(q{c="$&",a="b"}) - min(q{c="$&"})',
    );
    // Empty text between a brace and a comma would be a syntax error.
    assert.match(ask(external('queue'), queries) ?? '', /^max\(q\{namespace=~"\.\*",a="b"\}\)/);
    assert.equal(ask(external('own'), queries), 'max(q{ns="shop"})');
  });
});

describe('a query of an administrator', () => {
  const good = [
    'a{$selector}',
    'a{ $selector , b="c"}',
    "a{b='}',$selector}",
    'label_replace(a{$selector},"b","$1","c","(.*)")',
  ];
  for (const query of good) it(`may be ${query}`, () => assert.equal(queryProblem(query), undefined));
  const bad = [
    'a',
    'a{b="$selector"}',
    'a{$selector}{b="$selector"}',
    '$selector',
    'a{b=$selector}',
    'a{x$selector}',
    'a{$selectors}',
  ];
  for (const query of bad)
    it(`may not be ${query}`, () => assert.match(queryProblem(query) ?? '', /\$selector/));
});
