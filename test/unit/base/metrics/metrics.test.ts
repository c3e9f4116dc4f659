/** Metrics that are counted as events happen, and the page that shows them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exponentialBounds } from '../../../../src/base/metrics/exposition.ts';
import { Counter, Gauge, Histogram } from '../../../../src/base/metrics/instruments.ts';
import { Registry } from '../../../../src/base/metrics/registry.ts';

const pageOf = (registry: Registry) => [...registry.pieces()].join('');

describe('a page of metrics', () => {
  it('has counters, gauges and histograms by their labels', () => {
    const page = new Registry();
    const calls = page.add(
      new Counter({ name: 'calls_total', help: 'Calls.', labels: ['verb', 'code'] as const }),
    );
    const open = page.add(new Gauge({ name: 'open', help: 'Open.', labels: ['kind'] as const }));
    const took = page.add(
      new Histogram({ name: 'took', help: 'Took.', labels: ['verb'] as const, bounds: [1, 2.5] }),
    );
    calls.add('GET', '200');
    calls.with('GET', '200').add(2);
    calls.add('GET', 'a"b\\\n');
    open.with('x').add(3);
    open.with('x').add(-1);
    open.with('y').set(7);
    open.drop('y');
    for (const value of [0.5, 1, 2, 9]) took.observe(value, 'GET');
    assert.equal(
      pageOf(page),
      `# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{verb="GET",code="200"} 3
calls_total{verb="GET",code="a\\"b\\\\\\n"} 1
# HELP open Open.
# TYPE open gauge
open{kind="x"} 2
# HELP took Took.
# TYPE took histogram
took_bucket{verb="GET",le="1"} 2
took_bucket{verb="GET",le="2.5"} 3
took_bucket{verb="GET",le="+Inf"} 4
took_sum{verb="GET"} 12.5
took_count{verb="GET"} 4
`,
    );
  });
  it('distinguishes label values whose joined texts are equal, and drops only the named ones', () => {
    const page = new Registry();
    const calls = page.add(new Counter({ name: 'calls_total', help: 'C.', labels: ['a', 'b'] as const }));
    const open = page.add(new Gauge({ name: 'open', help: 'O.', labels: ['a', 'b'] as const }));
    for (const values of [
      ['x', 'yz'],
      ['xy', 'z'],
      ['x/y', 'z'],
      ['x', 'y/z'],
    ] as const) {
      const [a, b] = values;
      calls.add(a, b);
      open.with(a, b).set(1);
    }
    open.drop('x', 'yz');
    const lines = pageOf(page).split('\n');
    assert.equal(lines.filter((line) => line.startsWith('calls_total{') && line.endsWith(' 1')).length, 4);
    assert.deepEqual(
      lines.filter((line) => line.startsWith('open{')),
      ['open{a="xy",b="z"} 1', 'open{a="x/y",b="z"} 1', 'open{a="x",b="y/z"} 1'],
    );
  });
  it('has metrics without labels from the start, and others after their first event', () => {
    const page = new Registry();
    page.add(new Counter({ name: 'a_total', help: 'A.' })).add();
    page.add(new Counter({ name: 'b_total', help: 'B.', labels: ['x'] as const }));
    page.add(new Histogram({ name: 'c', help: 'C.', bounds: [1] }));
    page.collect(() => [
      { name: 'd', help: 'D.', type: 'gauge', samples: [{ value: 4 }] },
      { name: 'e', help: 'E.', type: 'gauge', samples: [] },
    ]);
    const lines = pageOf(page)
      .split('\n')
      .filter((line) => !line.startsWith('#'));
    assert.deepEqual(lines, [
      'a_total 1',
      'c_bucket{le="1"} 0',
      'c_bucket{le="+Inf"} 0',
      'c_sum 0',
      'c_count 0',
      'd 4',
      '',
    ]);
  });
  it('is sent in pieces of whole lines, each made when it is requested', () => {
    const page = new Registry();
    const many = page.add(new Counter({ name: 'many_total', help: 'Many.', labels: ['id'] as const }));
    for (let i = 0; i < 20_000; i++) many.add(`number-${i}`);
    const pieces = page.pieces();
    const first = pieces.next().value as string;
    many.with('number-19999').add(41);
    const rest = [...pieces];
    assert.ok(rest.length > 5, `${rest.length}`);
    for (const piece of [first, ...rest]) {
      assert.ok(piece.length < 34_000, `${piece.length}`);
      assert.ok(piece.endsWith('\n'));
    }
    assert.match(rest.at(-1) ?? '', /many_total\{id="number-19999"\} 42\n$/);
  });
  it('has bounds that rise by a factor', () => {
    assert.deepEqual(exponentialBounds(0.001, 2, 4), [0.001, 0.002, 0.004, 0.008]);
    assert.deepEqual(exponentialBounds(1e-8, 10, 3), [1e-8, 1e-7, 1e-6]);
  });
});
