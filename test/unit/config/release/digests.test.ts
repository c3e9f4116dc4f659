import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeDigests } from '../../../../config/release/digests.ts';

test('sha256sum accepts the digests, until a file changes', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'minik8s-digests-'));
  context.after(() => rmSync(folder, { recursive: true }));
  for (const name of ['b', 'a', 'c']) writeFileSync(join(folder, name), `content of ${name}`);
  await writeDigests(folder);
  const before = readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
  assert.deepEqual(
    [...before.matchAll(/^[0-9a-f]{64} {2}(.)$/gm)].map(([, name]) => name),
    ['a', 'b', 'c'],
  );
  const check = () =>
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder, stdio: 'pipe' });
  check();
  await writeDigests(folder);
  assert.equal(readFileSync(join(folder, 'SHA256SUMS'), 'utf8'), before);
  writeFileSync(join(folder, 'b'), 'another content');
  assert.throws(check, { stdout: Buffer.from('a: OK\nb: FAILED\nc: OK\n') });
});
