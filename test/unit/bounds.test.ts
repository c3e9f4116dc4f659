/** Constants that bound a number have names that begin with `max` or `min`, so that all of them are found. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const other =
  /^ *(?:export )?const ((?:most|least|longest|shortest|largest|smallest|fewest)[A-Z]\w*) = [\d_.]/gm;

/** Returns the names of numeric constants in a source that are named after a bound in another way. */
const otherNames = (source: string): string[] => Array.from(source.matchAll(other), ([, name = '']) => name);

test('numeric constants of the source that are bounds have names that begin with max or min', () => {
  const files = execFileSync('git', ['ls-files', '-z', 'src/*.ts', 'src/*.tsx'], {
    cwd: root,
    encoding: 'utf8',
  });
  const found = files
    .split('\0')
    .filter(Boolean)
    .flatMap((file) => otherNames(readFileSync(join(root, file), 'utf8')).map((name) => `${file}: ${name}`));
  assert.deepEqual(found, []);
});

test('another name of a bound is found', () => {
  assert.deepEqual(
    otherNames('const mostOwners = 20;\nconst longestFirst = (a) => a;\nconst maxOwners = 20;\n'),
    ['mostOwners'],
  );
});
