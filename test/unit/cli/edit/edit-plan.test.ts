import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newStatusError, StatusError } from '../../../../src/apimachinery/status-error.ts';
import {
  editFailure,
  headerText,
  isAnother,
  isBlank,
  objectIntroduction,
  withoutComments,
} from '../../../../src/cli/edit/edit-plan.ts';

test('the header of a file has the reasons to edit it again, each line as a comment', () => {
  const text = headerText(objectIntroduction, [
    { head: 'web was not valid', details: ['spec.replicas: Invalid', 'two\nlines'] },
    { head: 'a syntax error', details: [] },
  ]);
  assert.match(
    text,
    /#\n# web was not valid:\n# \* spec\.replicas: Invalid\n# \* two\n# lines\n#\n# a syntax error\n#\n$/,
  );
  assert.equal(withoutComments(`${text}a: 1\nc: "#"\n# d\n`), 'a: 1\nc: "#"\n');
});

test('lines of a value that begin with # are no comments of the file', () => {
  const value = 'data:\n  run.sh: |\n    #!/bin/sh\n    # says hello\n    echo hello\n';
  assert.equal(withoutComments(`# a note\n${value}`), value);
  assert.deepEqual(['', ' \n\n', '# a\n  # b\n', '# a\nb: 1\n'].map(isBlank), [true, true, true, false]);
});

const invalid = new StatusError({
  ...newStatusError('Invalid', 'web is invalid').status,
  details: { causes: [{ reason: 'FieldValueInvalid', field: 'spec.replicas', message: 'must be more' }] },
});
for (const [error, outcome] of [
  [
    invalid,
    {
      kind: 'invalid',
      message: 'cm "x" is invalid',
      reason: { head: 'cm "x" was not valid', details: ['spec.replicas: must be more'] },
    },
  ],
  [
    newStatusError('BadRequest', 'unknown field "y"'),
    {
      kind: 'invalid',
      message: 'cm "x" is invalid',
      reason: { head: 'cm "x" was not valid', details: ['unknown field "y"'] },
    },
  ],
  [
    newStatusError('NotFound', 'gone'),
    { kind: 'failed', message: 'cm "x" could not be found on the server' },
  ],
  [newStatusError('Conflict', 'late'), { kind: 'failed', message: 'cm "x" could not be patched: late' }],
  [new Error('down'), { kind: 'failed', message: 'cm "x" could not be patched: down' }],
] as const)
  test(`a patch that fails with "${error.message}" is ${outcome.kind} in the edit session`, () =>
    assert.deepEqual(editFailure(error, 'cm "x"'), outcome));

test('an edit that changes the identity of an object is recognized', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: {} };
  assert.equal(isAnother(object, { ...object, data: { a: '1' } }), false);
  assert.equal(isAnother(object, { ...object, kind: 'Secret' }), true);
  assert.equal(isAnother(object, { ...object, metadata: { name: 'y' } }), true);
});
