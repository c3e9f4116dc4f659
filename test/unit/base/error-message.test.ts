import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorMessage } from '../../../src/base/log.ts';

const refused = new Error('connect ENOENT\n/run/docker.sock');

for (const [what, thrown, expected] of [
  ['a thrown value that is no error', 'no', 'no'],
  ['several lines become one', refused, 'connect ENOENT /run/docker.sock'],
  ['causes follow', new Error('no engine', { cause: refused }), 'no engine: connect ENOENT /run/docker.sock'],
  [
    'a cause that the message already contains is not repeated',
    new Error(`no engine: ${refused.message}`, { cause: refused }),
    'no engine: connect ENOENT /run/docker.sock',
  ],
] as const) {
  test(what, () => assert.equal(errorMessage(thrown), expected));
}
