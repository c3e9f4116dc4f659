import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { UsageError } from '../../../../src/base/usage-error.ts';
import { parseTokens, readTokenFile } from '../../../../src/roles/master/token-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'minik8s-tokens-'));
after(() => rmSync(directory, { recursive: true }));

describe('the token file', () => {
  test('has one user on each line, with or without groups', () => {
    const text = '# robots\n\nt1,ci,u1,"system:masters,builders"\r\nt2, reader ,u2\nt3,"a ""b""",u3,one\n';
    assert.deepEqual(parseTokens(text, 'tokens'), [
      { token: 't1', user: { name: 'ci', uid: 'u1', groups: ['system:masters', 'builders'] } },
      { token: 't2', user: { name: 'reader', uid: 'u2', groups: [] } },
      { token: 't3', user: { name: 'a "b"', uid: 'u3', groups: ['one'] } },
    ]);
  });

  for (const [what, text] of [
    ['a line without a uid', 'secret,ci'],
    ['a line with five fields', 'secret,ci,u1,a,b'],
    ['an empty token', ',ci,u1'],
    ['quotes that do not match', 'secret,"ci,u1'],
    ['a token given twice', 'secret,ci,u1\nsecret,other,u2'],
  ] as const) {
    test(`with ${what} is refused, and the error shows no token`, () => {
      assert.throws(
        () => parseTokens(text, 'tokens'),
        (error) =>
          error instanceof UsageError &&
          /^tokens:[12]: /.test(error.message) &&
          !/secret/.test(error.message),
      );
    });
  }

  test('must exist, and be readable by its owner only', async () => {
    const path = join(directory, 'tokens');
    await assert.rejects(readTokenFile(path), /--token-auth-file: cannot read/);
    writeFileSync(path, 't,ci,u1\n', { mode: 0o600 });
    assert.equal((await readTokenFile(path)).length, 1);
    chmodSync(path, 0o640);
    await assert.rejects(readTokenFile(path), /may read .*; run chmod 600/);
  });
});
