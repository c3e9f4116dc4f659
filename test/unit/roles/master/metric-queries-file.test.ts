import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UsageError } from '../../../../src/base/usage-error.ts';
import { parseMetricQueries, readMetricQueries } from '../../../../src/roles/master/metric-queries-file.ts';

const head = 'apiVersion: minik8s.io/v1\nkind: MetricQueries\n';

describe('the file of --prometheus-queries', () => {
  it('may have no queries', () => {
    assert.deepEqual(parseMetricQueries(head, 'f'), {
      apiVersion: 'minik8s.io/v1',
      kind: 'MetricQueries',
      labels: { namespace: 'namespace', pod: 'pod' },
      pods: [],
      objects: [],
      external: [],
    });
  });

  it('lists queries with the names of their metrics', () => {
    const { labels, pods, external } = parseMetricQueries(
      `${head}labels: {pod: pod_name}
pods:
- metric: rps
  query: sum by (pod_name) (rate(hits{$selector}[1m]))
external:
- {metric: queue, query: 'sum(q{$selector})', allNamespaces: true}
`,
      'f',
    );
    assert.deepEqual(labels, { namespace: 'namespace', pod: 'pod_name' });
    assert.deepEqual(pods, [
      { metric: 'rps', query: 'sum by (pod_name) (rate(hits{$selector}[1m]))', allNamespaces: false },
    ]);
    assert.deepEqual(external, [{ metric: 'queue', query: 'sum(q{$selector})', allNamespaces: true }]);
  });

  const bad: [string, string, RegExp][] = [
    ['no content', '', /f: .*/],
    ['text that is not YAML', 'a: [', /f: /],
    ['a kind other than MetricQueries', head.replace('MetricQueries', 'Config'), /kind: /],
    ['an unknown field', `${head}podz: []`, /podz/],
    [
      'a query without the selector',
      `${head}pods: [{metric: a, query: b}]`,
      /pods\.0\.query: it needs \$selector/,
    ],
    [
      'the selector in quotes',
      `${head}pods: [{metric: a, query: 'b{c="$selector"}'}]`,
      /may stand only in the braces/,
    ],
    [
      'two queries for one metric',
      `${head}pods: [{metric: a, query: 'b{$selector}'}, {metric: a, query: 'c{$selector}'}]`,
      /pods: a metric is listed twice/,
    ],
    [
      'allNamespaces in a query for pods',
      `${head}pods: [{metric: a, query: 'b{$selector}', allNamespaces: true}]`,
      /allNamespaces/,
    ],
    [
      'an invalid name of a label',
      `${head}labels: {pod: 'a-b'}`,
      /labels\.pod: expected the name of a label/,
    ],
  ];
  for (const [what, text, expected] of bad)
    it(`is refused with ${what}`, () => {
      assert.throws(
        () => parseMetricQueries(text, 'f'),
        (error) => error instanceof UsageError && expected.test(error.message),
      );
    });

  it('must exist', async () => {
    await assert.rejects(readMetricQueries('/nowhere'), /--prometheus-queries: cannot read \/nowhere/);
  });
});
