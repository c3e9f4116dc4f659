import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, test } from 'node:test';
import { helmVersions } from '../../fixtures/helms.ts';
import { neededKubectls } from '../../fixtures/kubectls.ts';
import { allowedSkips, judgeSkips, type Skip } from '../../runner/skips.ts';

const root = join(import.meta.dirname, '../../..');
const skip = (reason: string, name = 'suite', file = 'test/a.test.ts'): Skip => ({ file, name, reason });

describe('the skips of a run', () => {
  it('may be empty', () => {
    assert.deepEqual(judgeSkips([], []), { text: 'skipped tests and suites: 0\n', refused: false });
  });

  it('are refused, and listed by file and reason', () => {
    const { text, refused } = judgeSkips([skip('no kubectl'), skip('no kubectl', 'b'), skip('')], []);
    assert.ok(refused);
    assert.match(text, /^skipped tests and suites: 3\n/);
    assert.match(text, / NOT ALLOWED: test\/a\.test\.ts: no kubectl \(suite and 1 more\)\n/);
    assert.match(text, / NOT ALLOWED: test\/a\.test\.ts: no reason given \(suite\)\n/);
  });

  it('are allowed if the reason of each contains an allowed text', () => {
    const allowed = allowedSkips(' kubectl 1.27, no Go ,,');
    assert.deepEqual(allowed, ['kubectl 1.27', 'no Go']);
    assert.equal(judgeSkips([skip('kubectl 1.27 is not here')], allowed).refused, false);
    const { text, refused } = judgeSkips([skip('kubectl 1.27 is not here'), skip('no etcd')], allowed);
    assert.ok(refused);
    assert.match(text, / allowed: .*kubectl 1\.27.*\n.* NOT ALLOWED: .*no etcd/);
    assert.deepEqual(allowedSkips(undefined), []);
    assert.ok(judgeSkips([skip('')], allowed).refused);
  });
});

test('bin/get-kubectl gets every kubectl that the tests need', async () => {
  const script = await readFile(join(root, 'bin/get-kubectl'), 'utf8');
  for (const version of neededKubectls)
    assert.match(script, new RegExp(`[( .]${RegExp.escape(version)}[.\\n]`), version);
});

test('bin/get-helm gets every Helm that the tests need', async () => {
  const script = await readFile(join(root, 'bin/get-helm'), 'utf8');
  assert.match(script, new RegExp(`^versions=\\(${RegExp.escape(helmVersions.join(' '))}\\)$`, 'm'));
});
