/** Globs of file names. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameMatcher, patternFault } from '../../../../../src/features/triggers/api/file-name-pattern.ts';

const cases: readonly (readonly [pattern: string, yes: readonly string[], no: readonly string[]])[] = [
  ['*', ['a', '.a', 'a.b'], []],
  ['*.csv', ['a.csv', '.csv'], ['a.csv.tmp', 'csv', 'a.CSV']],
  ['a*b*c', ['abc', 'axxbyyc', 'abcbc'], ['ab', 'abcd', 'bac']],
  ['?', ['a', 'ä', '😀'], ['', 'ab']],
  ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
  ['[!.]*', ['a', 'a.b'], ['.a', '']],
  ['[]]', [']'], ['[']],
  ['[[]a', ['[a'], ['a']],
  ['[a-]', ['a', '-'], ['b']],
  ['a.b', ['a.b'], ['axb']],
  ['a**b', ['ab', 'axb'], ['a']],
];

describe('a pattern', () => {
  for (const [pattern, yes, no] of cases)
    it(pattern, () => {
      assert.equal(patternFault(pattern), undefined);
      const isMeant = nameMatcher(pattern);
      assert.deepEqual([...yes, ...no].filter(isMeant), yes);
    });
  for (const [pattern, fault] of [
    ['', /1 to 255/],
    ['a'.repeat(256), /1 to 255/],
    ['a/b', /no "\/"/],
    ['[a', /without a "\]"/],
    ['*a'.repeat(17), /16 "\*"/],
  ] as const)
    it(`${pattern.slice(0, 20)} is refused`, () => assert.match(patternFault(pattern) ?? '', fault));
  it('with many wildcards is matched quickly', () => {
    const isMeant = nameMatcher('*a'.repeat(16));
    assert.equal(isMeant(`${'a'.repeat(255)}b`), false);
  });
});
