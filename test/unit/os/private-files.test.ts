import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { takeFromOthers } from '../../../src/os/private-files.ts';
import { newAuthority, openCredentials } from '../../../src/pki/credentials.ts';

async function made(context: { after(act: () => Promise<void>): void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'minik8s-private-'));
  context.after(() => rm(directory, { recursive: true }));
  return directory;
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test('keys are taken from other users, and everything else keeps its mode', async (context) => {
  const directory = await made(context);
  const path = (name: string) => join(directory, name);
  const outside = join(await made(context), 'outside.key');
  for (const each of [path('a.key'), path('b.key'), path('a.crt'), outside]) await writeFile(each, 'x');
  for (const each of [path('a.key'), path('a.crt'), outside]) await chmod(each, 0o666);
  await chmod(path('b.key'), 0o440);
  await symlink(outside, path('link.key'));
  await mkdir(path('folder.key'), { mode: 0o755 });
  if (process.getuid?.() === 0) await chown(path('b.key'), 12_345, 12_345);
  await takeFromOthers(directory, (name) => name.endsWith('.key'));
  const modes = ['a.key', 'b.key', 'a.crt', 'folder.key'].map((name) => modeOf(path(name)));
  assert.deepEqual(await Promise.all([...modes, modeOf(outside)]), [0o600, 0o400, 0o666, 0o755, 0o666]);
  assert.equal((await stat(path('b.key'))).uid, process.getuid?.());
});

test('a start takes the key of the authority from other users', async (context) => {
  const directory = await made(context);
  const now = Date.parse('2026-01-01T00:00:00Z');
  const { key, certificate } = await newAuthority(now);
  await writeFile(join(directory, 'ca.crt'), certificate);
  await writeFile(join(directory, 'ca.key'), key);
  await chmod(join(directory, 'ca.key'), 0o644);
  const { authority } = await openCredentials(directory, () => now);
  assert.equal(authority.key, key);
  assert.equal(await modeOf(join(directory, 'ca.key')), 0o600);
});
