/**
 * The single file starts on a Debian that contains only apt, which is less than any installation
 * contains. It needs no newer libraries than the oldest system that the README names.
 */
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

/**
 * Newest symbol versions of the libraries in Ubuntu 22.04 (glibc 2.35, libstdc++ of GCC 12.3), the oldest of
 * the named systems: Debian 12 has glibc 2.36 and the same libstdc++, Debian 13 and Ubuntu 24.04 have newer
 * ones.
 */
const ubuntu2204 = { GLIBC: '2.35', GLIBCXX: '3.4.30', CXXABI: '1.3.13', GCC: '12.0.0' } as const;

/** Libraries of glibc, libstdc++ and GCC, which apt itself depends on. */
const libraries =
  /^(ld-linux-x86-64\.so\.2|lib(c|m|stdc\+\+)\.so\.6|lib(dl|pthread)\.so\.[02]|libgcc_s\.so\.1)$/;

const parts = (version: string) => version.split('.').map(Number);

function isNewer(version: string, limit: string): boolean {
  const [left, right] = [parts(version), parts(limit)];
  const index = left.findIndex((part, i) => part !== (right[i] ?? 0));
  return index >= 0 && (left[index] ?? 0) > (right[index] ?? 0);
}

test('the one file needs no newer symbol versions than Ubuntu 22.04 has, and no other libraries', async () => {
  const file = join(checkout, 'dist/minik8s');
  const options = { maxBuffer: 2 ** 26 };
  const { stdout } = await run('readelf', ['--wide', '--dynamic', '--version-info', file], options);
  const needed = [...stdout.matchAll(/\(NEEDED\) .*\[(.*)\]/g)].map(([, name = '']) => name);
  assert.ok(needed.includes('libc.so.6'), stdout);
  assert.deepEqual(
    needed.filter((name) => !libraries.test(name)),
    [],
  );
  const versions = [...stdout.matchAll(/ Name: ([A-Z]+)_([\d.]+) /g)].map(([, set = '', version = '']) => ({
    set,
    version,
  }));
  assert.ok(
    versions.some(({ set }) => set === 'GLIBC'),
    stdout,
  );
  const tooNew = versions.filter(({ set, version }) => {
    const limit = Object.entries(ubuntu2204).find(([name]) => name === set)?.[1];
    return limit === undefined || isNewer(version, limit);
  });
  assert.deepEqual(tooNew, []);
});
