/** Names in an archive of a container that are made to control a terminal. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { extract } from '../../../../src/cli/copy/copy.ts';
import { archiveEnd, memberHeader } from '../../../../src/formats/tar-archive.ts';

const emptyFile = (name: string) =>
  memberHeader({ name, type: 'file', uid: 0, gid: 0, mode: 0o644, modified: 0, size: 0 });

/** Returns the warnings and the error of extracting an empty file of this name. */
async function messagesOf(name: string, directory: string) {
  const warnings: string[] = [];
  async function* archive() {
    yield emptyFile(name);
    yield archiveEnd;
  }
  const extraction = { prefix: 'x', destination: directory, err: (text: string) => void warnings.push(text) };
  const error = await extract(archive(), extraction).then(
    () => '',
    (thrown: Error) => thrown.message,
  );
  return { warnings: warnings.join(''), error };
}

test('messages about a copy contain no control character of a name in the archive', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'minik8s-names-'));
  try {
    const outside = await messagesOf('y\u009b31m\u007f', directory);
    assert.match(outside.warnings, /"y\\u009b31m\\u007f" is outside/);
    const reversed = await messagesOf('y\u202etxt.exe', directory);
    assert.match(reversed.warnings, /"y\\u202etxt\.exe" is outside/);
    mkdirSync(join(directory, '\u001b]0;a'));
    const clash = await messagesOf('x/\u001b]0;a', directory);
    assert.match(clash.error, /\\u001b\]0;a is a directory/);
    assert.equal(clash.warnings, '');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
