import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  builtText,
  type ProgramEnd,
  programArguments,
  warningsOf,
} from '../../../../src/cli/kustomize/build-plan.ts';

const ended: ProgramEnd = { status: 0, killedBy: null, isTooLong: false, output: '', errors: '' };

test('a directory that begins with a dash is not taken for a flag of the program', () => {
  const limits = { memoryBytes: 100, seconds: 5, outputBytes: 1, warningBytes: 1 };
  assert.deepEqual(programArguments({ directory: '-unrestricted' }, limits), [
    ...['-memory=100', '-limit=5s', '--', '-unrestricted'],
  ]);
  const all = { directory: '.', loadsOutside: true, order: 'given', managedBy: true, output: 'a b' } as const;
  assert.deepEqual(programArguments(all, limits).slice(2), [
    ...['-unrestricted', '-given-order', '-managed-by', '-output=a b', '--', '.'],
  ]);
});

test('the output of a build is its text, and the warnings are separate', () => {
  const end = { ...ended, output: 'kind: A\n', errors: '# Warning: old\n' };
  assert.equal(builtText(end), 'kind: A\n');
  assert.equal(warningsOf(end), '# Warning: old\n');
  const failed = { ...ended, status: 1, output: 'no such file', errors: '# Warning: old\n' };
  assert.throws(() => builtText(failed), { message: 'no such file' });
  assert.equal(warningsOf(failed), '# Warning: old\n');
});

test('a crash of the program is one line, without the trace of its goroutines', () => {
  const crash = { ...ended, status: 2, errors: 'panic: nil map\n\ngoroutine 1 [running]:\nmain.main()\n' };
  assert.throws(() => builtText(crash), { message: 'kustomize ended with status 2: panic: nil map' });
  assert.equal(warningsOf(crash), '');
  const killed = { ...ended, status: null, killedBy: 'SIGKILL' };
  assert.throws(() => builtText(killed), { message: 'kustomize was ended by SIGKILL' });
});

test('a build that needs too much memory or prints too much is refused with the bound', () => {
  const errors = 'fatal error: runtime: out of memory\n\ngoroutine 1\n';
  assert.throws(() => builtText({ ...ended, status: 2, errors }), /needs more than 2 GiB of memory$/);
  const tooLong = { ...ended, status: null, killedBy: 'SIGKILL', isTooLong: true };
  assert.throws(() => builtText(tooLong), /^Error: the objects have more than 256 MiB$/);
});
