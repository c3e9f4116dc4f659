import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { formatYaml } from '../../../src/apimachinery/yaml-output/format-yaml.ts';
import { yamlTexts } from '../../fixtures/yaml-texts.ts';

describe('YAML as kubectl writes it', () => {
  for (const [text, written] of yamlTexts)
    it(`writes the text ${JSON.stringify(text.slice(0, 30))} (${text.length} characters)`, () => {
      assert.equal(formatYaml({ key: text }), `key: ${written}\n`);
    });

  it('writes maps and lists in each other', () => {
    const value = { b: [{ y: 1, x: [[1, 2], []] }, {}, 'text'], a: { c: null, d: true, e: undefined } };
    const lines = [
      ...['a:', '  c: null', '  d: true', 'b:', '- x:', '  - - 1', '    - 2', '  - []', '  "y": 1'],
      ...['- {}', '- text', ''],
    ];
    assert.equal(formatYaml(value), lines.join('\n'));
  });

  it('writes a document that is a list, a scalar or empty', () => {
    assert.deepEqual([[{ a: 1 }], 'a: b', {}, [], { a: undefined }, undefined].map(formatYaml), [
      '- a: 1\n',
      "'a: b'\n",
      '{}\n',
      '[]\n',
      '{}\n',
      'null\n',
    ]);
  });

  it('orders numbers within keys by their size, and letters after other characters', () => {
    const ordered = [
      '',
      '.a',
      '/',
      '1',
      '2',
      '10',
      '10a',
      'A',
      'Zone',
      'a',
      'a 10',
      'a-1',
      'a.b',
      'a2',
      'a10',
    ];
    const all = [...ordered, 'ab', 'b_1', 'web-2', 'web-10', 'é', '\u{1d4b3}'];
    const map = Object.fromEntries(all.toReversed().map((key) => [key, 0]));
    assert.deepEqual(
      [...formatYaml(map).matchAll(/^["']?(.*?)["']?: 0$/gm)].map(([, key]) => key),
      all.map((key) => (key === '\u{1d4b3}' ? '\\U0001D4B3' : key)),
    );
  });

  it('orders numbers of many digits, and zeros within numbers', () => {
    const ordered = ['a1', 'a10', 'a100', 'a101', `a${'9'.repeat(17)}`, `a1${'0'.repeat(17)}`];
    const map = Object.fromEntries(ordered.toReversed().map((key) => [key, 0]));
    assert.equal(formatYaml(map), ordered.map((key) => `${key}: 0\n`).join(''));
  });

  it('writes a key of several lines, or of more than 128 bytes, on lines of its own', () => {
    const key = 'é'.repeat(65);
    assert.equal(formatYaml({ [key]: { a: 1, b: [] } }), `? ${key}\n: a: 1\n  b: []\n`);
    assert.equal(formatYaml({ 'a\nb': [1] }), '? |-\n  a\n  b\n: - 1\n');
    assert.equal(formatYaml({ [key.slice(1)]: 1 }), `${key.slice(1)}: 1\n`);
  });

  it('never folds a key on the line of its value', () => {
    const key = `${'long '.repeat(20)}key`;
    assert.equal(formatYaml({ [key]: 1 }), `${key}: 1\n`);
  });

  for (const [value, written] of [
    [0, '0'],
    [-0, '0'],
    [1_000_000, '1000000'],
    [1.5, '1.5'],
    [123456.75, '123456.75'],
    [1234567.5, '1.2345675e+06'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-2.5e-7, '-2.5e-07'],
    [2 ** 63, '9223372036854776000'],
    [1e21, '1e+21'],
    [1e300, '1e+300'],
  ] as const)
    it(`writes the number ${value} as ${written}`, () => {
      assert.equal(formatYaml({ key: value }), `key: ${written}\n`);
    });
});

test('a long text of one repeated piece is not written in quadratic time', () => {
  for (const piece of ['x', ' ', 'a ', ' a', "'", '"', '\u2028', '\t', '- ', ': '])
    formatYaml({ key: piece.repeat(200_000 / piece.length) });
});

test('a lone surrogate is written as the replacement character', () => {
  assert.equal(formatYaml({ key: 'a\ud800' }), 'key: a\ufffd\n');
});
