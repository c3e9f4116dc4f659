import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextError } from '../../../src/apimachinery/value-limit.ts';
import { parseYaml } from '../../../src/apimachinery/yaml.ts';
import { formatYaml } from '../../../src/apimachinery/yaml-output/format-yaml.ts';
import { badYaml, exactNumbers, yamlScalars } from '../../fixtures/yaml-scalars.ts';

for (const [text, value] of yamlScalars) {
  test(`YAML reads ${text || 'nothing'} as ${JSON.stringify(value)}`, () => {
    assert.deepEqual(parseYaml(`key: ${text}\n`).value, { key: value });
  });
}

for (const text of badYaml) {
  test(`YAML refuses ${text}`, () => {
    assert.throws(() => parseYaml(`key: ${text}\n`), TextError);
  });
}

for (const text of exactNumbers) {
  test(`YAML refuses ${text}, which would lose digits`, () => {
    assert.throws(() => parseYaml(`a: 1\nkey: ${text}\n`), {
      name: 'TextError',
      message:
        /^invalid YAML at line 2: .*\d+ is a whole number beyond 2\^53, .*; write a quantity in quotes$/,
    });
  });
}

test('written YAML is read back identically: a text that looks like a number or a boolean stays text', () => {
  for (const [text, value] of yamlScalars)
    for (const one of [text, value]) {
      const written = formatYaml({ key: one, [text]: 1 });
      assert.deepEqual(parseYaml(written).value, { key: one, [text]: 1 }, written);
    }
});

test('words that are read as booleans are reported with their place, except true, false and tagged ones', () => {
  const text = 'a: y\nb: [true, Off, "no", !!bool on]\nNo: {c: yes please}\n';
  assert.deepEqual(parseYaml(text).booleanWords, [
    { path: 'a', word: 'y', offset: text.indexOf('y'), isKey: false },
    { path: 'b[1]', word: 'Off', offset: text.indexOf('Off'), isKey: false },
    { path: 'false', word: 'No', offset: text.indexOf('No'), isKey: true },
  ]);
});

test('a long number, valid or not, is not read in quadratic time', () => {
  for (const piece of ['1_', '_', '1', '0', '0_', '1e', '-_', '.'])
    parseYaml(`key: 0${piece.repeat(200_000)}x\n`);
});
