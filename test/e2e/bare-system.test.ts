/** The single file starts on a Debian that contains only apt, which is less than every installation has. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const checkout = join(import.meta.dirname, '../..');
const releases = { 'Debian 12': 'bookworm', 'Debian 13': 'trixie' } as const;

/** Creates the system once. A draft is renamed, so that an interrupted run leaves no incomplete system. */
async function makeRoot(root: string, release: string): Promise<void> {
  if (await stat(root).catch(() => undefined)) return;
  await mkdir(join(root, '..'), { recursive: true });
  const draft = await mkdtemp(join(tmpdir(), 'minik8s-bare-'));
  try {
    await run('mmdebstrap', ['--variant=apt', '--quiet', release, join(draft, 'root')]);
    await run('mv', [join(draft, 'root'), `${root}.new`]);
    await rename(`${root}.new`, root);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function inside(root: string, ...argv: string[]): Promise<string> {
  const namespaces = ['--mount', '--pid', '--fork', `--mount-proc=${join(root, 'proc')}`];
  const { stdout } = await run('unshare', [...namespaces, 'chroot', root, ...argv], {
    env: { PATH: '/usr/sbin:/usr/bin' },
  });
  return stdout;
}

for (const [name, release] of Object.entries(releases))
  test(`the one file starts on a bare ${name}, which has no libatomic`, async (context) => {
    const root = join(checkout, `node_modules/.cache/bare-${name.toLowerCase().replace(' ', '-')}`);
    await makeRoot(root, release);
    const libraries = await readdir(join(root, 'usr/lib/x86_64-linux-gnu'));
    assert.deepEqual(
      libraries.filter((name) => name.startsWith('libatomic')),
      [],
    );
    await copyFile(join(checkout, 'dist/minik8s'), join(root, 'minik8s'));
    context.after(() => rm(join(root, 'minik8s')));
    assert.match(await inside(root, '/minik8s', 'version'), /^\d+\.\d+\.\d+/);
    assert.match(await inside(root, '/minik8s', 'up', '--help'), /Run a whole cluster on this machine/);
  });
