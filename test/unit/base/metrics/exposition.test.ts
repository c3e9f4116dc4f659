/**
 * Text that Prometheus reads; test/integration/kubelet/metrics.test.ts checks this with Prometheus' own
 * parser.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exposition, Histogram, labelPairs } from '../../../../src/base/metrics/exposition.ts';

describe('exposition', () => {
  it('writes labels, times and numbers', () => {
    const text = exposition([
      {
        name: 'a_total',
        help: 'Two\nlines and a \\',
        type: 'counter',
        samples: [
          { labels: { one: 'a"b\\c\nd', two: '' }, value: 1.5, at: 1234.6 },
          { value: Number.POSITIVE_INFINITY },
          { value: Number.NEGATIVE_INFINITY },
          { value: Number.NaN },
        ],
      },
      { name: 'empty', help: '', type: 'gauge', samples: [] },
      { name: 'b', help: '', type: 'gauge', samples: [{ value: 1e21 }] },
    ]);
    assert.equal(
      text,
      `# HELP a_total Two\\nlines and a \\\\
# TYPE a_total counter
a_total{one="a\\"b\\\\c\\nd",two=""} 1.5 1235
a_total +Inf
a_total -Inf
a_total NaN
# HELP b 
# TYPE b gauge
b 1e+21
`,
    );
    assert.equal(exposition([]), '');
  });

  for (const [value, written] of [
    ['a"b', 'a\\"b'],
    ['a\\b', 'a\\\\b'],
    ['a\nb', 'a\\nb'],
    ['a\\', 'a\\\\'],
    ['ä{}=,b', 'ä{}=,b'],
  ] as const)
    it(`escapes the label value ${JSON.stringify(value)}`, () => {
      assert.equal(labelPairs({ x: value }), `x="${written}"`);
    });

  it('counts the observations up to the bound of each bucket', () => {
    const histogram = new Histogram([1, 2.5]);
    for (const value of [0.5, 1, 2, 99]) histogram.observe(value);
    assert.equal(
      exposition([{ name: 'h', help: 'x', type: 'histogram', samples: histogram.samples({ a: 'b' }) }]),
      `# HELP h x
# TYPE h histogram
h_bucket{a="b",le="1"} 2
h_bucket{a="b",le="2.5"} 3
h_bucket{a="b",le="+Inf"} 4
h_sum{a="b"} 102.5
h_count{a="b"} 4
`,
    );
  });
});
