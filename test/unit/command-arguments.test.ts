/** The forms of flags that are turned into those which parseArgs reads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ArgsDef } from 'citty';
import { booleanOf } from '../../src/base/go-boolean.ts';
import { plainFlags } from '../../src/command-arguments.ts';

const args: ArgsDef = {
  all: { type: 'boolean', alias: 'A' },
  watch: { type: 'boolean', alias: 'w' },
  output: { type: 'string', alias: 'o' },
  'dry-run': { type: 'string', ...{ values: ['none', 'client'], bare: 'client' } },
};

const forms: [given: string, plain: string][] = [
  ['--all=true --watch=false', '--all --no-watch'],
  ['--all=1 --all=t --all=T --all=TRUE --all=True', '--all --all --all --all --all'],
  ['--all=0 --all=f --all=F --all=FALSE --all=False', '--no-all --no-all --no-all --no-all --no-all'],
  ['--all=yes --all=tRUE --all=', '--all=yes --all=tRUE --all='],
  ['-A=false -w=1', '--no-all --watch'],
  ['-wA=false', '--watch --no-all'],
  ['-o=1 --output=true -wo=1', '-o=1 --output=true -wo=1'],
  ['-x=true --nosuch=true', '-x=true --nosuch=true'],
  ['--dry-run -o yaml', '--dry-run=client -o yaml'],
  ['--dry-run web', '--dry-run=client web'],
  ['web --dry-run', 'web --dry-run=client'],
  ['--dry-run none --dry-run=none', '--dry-run none --dry-run=none'],
  ['--output -1', '--output=-1'],
  ['web -- --all=true -A=false --dry-run', 'web -- --all=true -A=false --dry-run'],
];
for (const [given, plain] of forms)
  test(`reads ${given} as ${plain}`, () => {
    assert.deepEqual(plainFlags(args, given.split(' ')), plain.split(' '));
  });

test('a boolean is one of the twelve texts that Go accepts', () => {
  assert.deepEqual(['1', 'T', 'true', '0', 'F', 'false'].map(booleanOf), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  assert.deepEqual([undefined, '', 'yes', 'on', 'constructor'].map(booleanOf), Array(5).fill(undefined));
});
