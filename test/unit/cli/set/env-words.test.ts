import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readsStdin, splitWords } from '../../../../src/cli/set/env-words.ts';

const split = (words: string, more: readonly string[] = [], stdin = '') =>
  splitWords(words.split(' '), more, stdin);

describe('the words of set env', () => {
  it('name objects first, then variables to set and to remove', () => {
    assert.deepEqual(split('deployment web A=1 B=x=y C-'), {
      words: ['deployment', 'web'],
      variables: [
        { name: 'A', value: '1' },
        { name: 'B', value: 'x=y' },
      ],
      remove: new Set(['C']),
    });
  });

  it('take the lines of standard input for -', () => {
    assert.equal(readsStdin(['deployment/web'], ['-']), true);
    assert.equal(readsStdin(['deployment/web', 'A-'], []), false);
    assert.deepEqual(split('deployment/web', ['-'], 'A=1 # first\n# B=2\nnothing\r\nC=a=b\r\n').variables, [
      { name: 'A', value: '1 ' },
      { name: 'C', value: 'a=b' },
    ]);
  });

  it('are rejected if an object follows a variable, a name is invalid, or a variable is both set and removed', () => {
    assert.throws(
      () => split('A=1 deployment/web'),
      /all resources must be specified before .*: deployment\/web/,
    );
    assert.throws(() => split('deployment/web 1A=1'), /"1A" is not the name of a variable/);
    assert.throws(() => split('deployment/web A=1 A-'), /can not both modify and remove/);
  });
});
