import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileOf, header, lineOf, type Recorded, readResults } from '../../kubernetes-suite/results.ts';

const one: Recorded = { name: '[sig-a] one', state: 'passed', seconds: 3, message: '', build: '0.1.0+gabc' };
const two: Recorded = { name: '[sig-a] two', state: 'failed', seconds: 9, message: 'no pod', build: 'b' };

test('written results are parsed, and of several lines with the same name the last is used', () => {
  const text = header + lineOf(one) + lineOf({ ...two, state: 'passed', message: '' }) + lineOf(two);
  const results = readResults(text);
  assert.deepEqual([...results.values()], [one, two]);
  assert.equal(fileOf(results), header + lineOf(one) + lineOf(two));
  assert.deepEqual(readResults(fileOf(results)), results);
});

test('a half line of a killed run is not a result', () => {
  const whole = header + lineOf(one) + lineOf(two);
  for (let length = header.length + lineOf(one).length; length < whole.length; length++)
    assert.deepEqual(
      [...readResults(whole.slice(0, length)).keys()],
      [one.name],
      `${length} of ${whole.length}`,
    );
});

test('a message with tabs and lines stays one field', () => {
  const odd = { ...two, message: 'a\tb\nc\r\nd' };
  assert.equal(readResults(lineOf(odd)).get(two.name)?.message, 'a b c d');
});
