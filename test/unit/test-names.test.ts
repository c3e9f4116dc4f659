/** Names of tests state facts about a named subject; a failed test must be understood by its name. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');

/** Words that a name must not contain, with the usual ones. */
const faults: readonly (readonly [fault: RegExp, instead: string])[] = [
  [/^(?:and|nor|but|or)\b/, 'begins with a conjunction: repeat the subject'],
  [/\bthat (?:is|are) none\b/, 'write invalid'],
  [/\bthat (?:is|are) not there\b/, 'write that does not exist'],
  [/\b(?:somebody|whoever|whom)\b/, 'name the user, the controller or the client'],
  [/\b(?:is|are) told\b|\bsays? so\b/, 'write reported'],
  [/\b(?:is|are|has|have) gone\b/, 'write deleted, removed or disconnected'],
  [/\b(?:goes|go|went) on\b/, 'write continues'],
  [/\bwaited for\b/, 'write awaited'],
  [/\blooked at\b/, 'write read, checked, tried or reconciled'],
  [/\b(?:is|are) asked for\b/, 'write requested'],
  [/\b(?:is|are|stays?) as (?:it|they) (?:is|are|was|were|stands?)\b/, 'write unchanged'],
  [/\bhis\b/, 'write their, or repeat the noun'],
  [/\bthough\b|\bwhere (?:it|there|nothing|nobody|they|no)\b/, 'write although or if'],
  [/\b(?:is|are) none\b/, 'write absent, empty or invalid'],
  [/\blets? go\b/, 'write released'],
];

/** Returns the names in a source that are given as a literal to `it`, `test` or `describe`. */
const namesIn = (source: string): string[] =>
  Array.from(
    source.matchAll(/\b(?:it|test|describe)\(\s*(['"`])((?:\\.|(?!\1).)*)\1/gs),
    ([, , name]) => name ?? '',
  );

/** Returns the faults of a name. */
const faultsOf = (name: string): string[] =>
  faults.flatMap(([fault, instead]) => (fault.test(name) ? [instead] : []));

test('names of tests contain none of the riddles that have a usual word', () => {
  const files = execFileSync('git', ['ls-files', '-z', 'test/*.test.ts'], { cwd: root, encoding: 'utf8' });
  const names = files
    .split('\0')
    .filter((file) => file !== '')
    .flatMap((file) => namesIn(readFileSync(join(root, file), 'utf8')).map((name) => ({ file, name })));
  assert.ok(names.length > 5000, `only ${names.length} names were found`);
  assert.deepEqual(
    names.flatMap(({ file, name }) => faultsOf(name).map((instead) => `${file}: "${name}": ${instead}`)),
    [],
  );
});

test('names are found in all quotes, and compared by whole words', () => {
  const source = ['it', 'test', 'describe'].map(
    (call, at) => `${call}(${`'"\``[at]}a name${`'"\``[at]}, run);`,
  );
  assert.deepEqual(namesIn(source.join('\n')), ['a name', 'a name', 'a name']);
  assert.deepEqual(faultsOf('a port that is not there'), ['write that does not exist']);
  assert.deepEqual(faultsOf('a claim goes on, as it stands, though it is gone'), [
    'write deleted, removed or disconnected',
    'write continues',
    'write although or if',
  ]);
  assert.deepEqual(faultsOf('orders andirons by letgo, although none stands'), []);
});
