import assert from 'node:assert/strict';
import { test } from 'node:test';
import { didYouMean, nearest } from '../../../src/terminal/nearest.ts';

const words = [
  'get',
  'set',
  'apply',
  'delete',
  'describe',
  'replicasets',
  'pods',
  'nodes',
  'ReplicaSet',
  'cp',
];

for (const [word, expected] of [
  ['aply', ['apply']],
  ['pdos', ['pods']],
  ['ndoes', ['nodes']],
  ['geet', ['get']],
  ['gt', ['get']],
  ['Replicaset', ['ReplicaSet']],
  ['describ', ['describe']],
  ['APPLY', ['apply']],
  ['frobnicate', []],
  ['gods', ['pods']],
  ['bogus', []],
  ['delte', ['delete']],
  ['dleet', []],
  ['x', []],
  ['', []],
  ['p'.repeat(100_000), []],
] as const) {
  test(`${JSON.stringify(word.slice(0, 20))} is similar to ${expected.join(', ') || 'no word'}`, () => {
    assert.deepEqual(nearest(word, words), expected);
  });
}

test('only the most similar words are suggested, in a sentence', () => {
  assert.deepEqual(nearest('beta', ['betas', 'bats', 'zeta', 'meta']), ['betas', 'meta', 'zeta']);
  assert.equal(didYouMean('pdos', words), ' Did you mean pods?');
  assert.equal(didYouMean('bet', ['get', 'best', 'bets']), ' Did you mean best or bets or get?');
  assert.equal(didYouMean('frobnicate', words), '');
});
