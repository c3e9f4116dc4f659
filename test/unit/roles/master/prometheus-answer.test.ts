import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseQueryAnswer } from '../../../../src/roles/master/prometheus-answer.ts';

const success = (data: object) => JSON.stringify({ status: 'success', data });
const vector = (...values: readonly string[]) =>
  success({
    resultType: 'vector',
    result: values.map((value) => ({ metric: { pod: 'a' }, value: [1.5, value] })),
  });

describe('an answer of Prometheus', () => {
  it('is parsed into samples, with all notations of numbers', () => {
    assert.deepEqual(
      parseQueryAnswer(200, vector('1', '-0.5', '1e300', 'NaN', '+Inf', '-Inf', '', 'odd')).map(
        ({ value }) => value,
      ),
      [1, -0.5, 1e300, NaN, Infinity, -Infinity, NaN, NaN],
    );
    assert.deepEqual(parseQueryAnswer(200, vector('1'))[0]?.labels, { pod: 'a' });
    assert.deepEqual(parseQueryAnswer(200, vector()), []);
    assert.deepEqual(parseQueryAnswer(200, success({ resultType: 'scalar', result: [1, '2'] })), [
      { labels: {}, value: 2 },
    ]);
  });

  const bad: [string, number, string, RegExp][] = [
    [
      'an error of Prometheus',
      422,
      JSON.stringify({ status: 'error', errorType: 'bad_data', error: 'parse' }),
      /Prometheus answered 422, bad_data: parse$/,
    ],
    ['an HTML page', 502, '<html>', /answered 502, but not with JSON/],
    ['a range vector', 200, success({ resultType: 'matrix', result: [] }), /must return an instant vector/],
    ['a string', 200, success({ resultType: 'string', result: [1, 'x'] }), /must return an instant vector/],
    ['null', 200, 'null', /unknown form/],
    [
      'a sample without a value',
      200,
      success({ resultType: 'vector', result: [{ metric: {} }] }),
      /unknown form \(data\.result\.0\.value\)/,
    ],
  ];
  for (const [what, status, text, expected] of bad)
    it(`is rejected if it is ${what}`, () => {
      assert.throws(() => parseQueryAnswer(status, text), expected);
    });

  it('is rejected with a message of bounded length', () => {
    const error = JSON.stringify({ status: 'error', errorType: 'x', error: 'y'.repeat(10_000) });
    assert.throws(
      () => parseQueryAnswer(400, error),
      (thrown) => thrown instanceof Error && thrown.message.length <= 300,
    );
  });
});
