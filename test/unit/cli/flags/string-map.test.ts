import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringMapOf } from '../../../../src/cli/flags/string-map.ts';

const read = (...texts: string[]) => Object.fromEntries(stringMapOf({ texts: () => texts }, 'env'));

test('a value with one equals sign may contain commas', () => {
  assert.deepEqual(read('A=1,2'), { A: '1,2' });
  assert.deepEqual(read('A="x,y"'), { A: '"x,y' });
  assert.deepEqual(read('A='), { A: '' });
});

test('several entries are separated by commas, and quotes keep a comma', () => {
  assert.deepEqual(read('A=1,B=2', 'B=3'), { A: '1', B: '3' });
  assert.deepEqual(read('"A=1,2",B=2=3'), { A: '1,2', B: '2=3' });
});

test('two double quotes within double quotes stand for one', () => {
  assert.deepEqual(read('"A=say ""hi"", all",B=2'), { A: 'say "hi", all', B: '2' });
  assert.deepEqual(read('"""A"""=1,"B="""""'), { '"A"': '1', B: '""' });
});

test('a name such as __proto__ is an ordinary key', () => {
  assert.deepEqual([...stringMapOf({ texts: () => ['__proto__=1'] }, 'env')], [['__proto__', '1']]);
});

test('an entry without an equals sign is rejected with the flag', () => {
  for (const wrong of ['A', 'A=1,B=2,C', ''])
    assert.throws(() => read(wrong), { name: 'UsageError', message: /^--env: .* formatted as key=value/ });
});
