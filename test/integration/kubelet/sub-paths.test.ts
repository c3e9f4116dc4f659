/** Subpaths of volumes with the real kernel, and a container that changes the volume meanwhile. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { access, mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { mountsUnder } from '../../../src/kubelet/volumes/mounts.ts';
import { mountSubPath, removeMountPoints } from '../../../src/kubelet/volumes/sub-paths.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';

describe('a subpath of a volume', () => {
  let root: string;
  let volumePath: string;
  let targets: string;
  const inVolume = (...names: string[]) => join(volumePath, ...names);
  let count = 0;
  /** Mounts the subpath and resolves to its target. */
  const mount = async (subPath: string, target = join(targets, 'v', 'main', String(count++))) => {
    await mountSubPath({ volumePath, subPath, target }, systemExec);
    return target;
  };

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'minik8s-sub-paths-'));
    volumePath = join(root, 'volume');
    targets = join(root, 'targets');
    await mkdir(volumePath);
    execFileSync('chmod', ['2771', volumePath]);
    await mkdir(join(root, 'outside'));
    await writeFile(join(root, 'outside', 'secret'), 'secret');
  });
  after(async () => {
    await removeMountPoints(targets, systemExec);
    await rm(root, { recursive: true });
  });

  it('is created if missing, with the volume’s mode', async () => {
    const target = await mount('a/b');
    await writeFile(join(target, 'file'), 'text');
    assert.equal(await readFile(inVolume('a', 'b', 'file'), 'utf8'), 'text');
    for (const path of [inVolume('a'), inVolume('a', 'b'), target])
      assert.equal((await stat(path)).mode & 0o7777, 0o2771, path);
  });

  it('may be a file, and may be reached by links within the volume', async () => {
    await mkdir(inVolume('real'));
    await writeFile(inVolume('real', 'settings'), 'x=1');
    await symlink('real', inVolume('relative'));
    await symlink(inVolume('real'), inVolume('absolute'));
    for (const path of ['real/settings', './relative//settings', 'absolute/settings']) {
      const target = await mount(path);
      assert.equal(await readFile(target, 'utf8'), 'x=1', path);
      assert.ok((await stat(target)).isFile());
    }
    await mount('relative/new');
    assert.ok((await stat(inVolume('real', 'new'))).isDirectory());
    await symlink('real', inVolume('..data'));
    for (const path of ['..data/settings', '..new', '..new/below']) await mount(path);
    assert.ok((await stat(inVolume('..new', 'below'))).isDirectory());
  });

  it('is never outside the volume, even if the volume contains links', async () => {
    await symlink(join(root, 'outside'), inVolume('out'));
    await symlink('../outside', inVolume('up'));
    await symlink('../not-there', inVolume('dangling'));
    await symlink('/', inVolume('all'));
    await symlink('..', inVolume('parent'));
    for (const path of [
      'out',
      'out/secret',
      'up',
      'up/new',
      `all${root}/outside`,
      '../outside',
      'parent',
      '..',
    ])
      await assert.rejects(mount(path), /is outside of the volume/, path);
    for (const path of ['dangling', 'dangling/new'])
      await assert.rejects(mount(path), { code: 'EEXIST' }, path);
    await assert.rejects(access(join(root, 'not-there')));
    await assert.rejects(access(join(root, 'outside', 'new')));
  });

  it('is not outside the volume while another process swaps a directory for a link', async () => {
    await mkdir(inVolume('swapped', 'secret'), { recursive: true });
    await symlink(join(root, 'outside'), inVolume('swap-link'));
    const [shown, hidden, link] = ['swapped', 'swap-hidden', 'swap-link'].map((name) => inVolume(name));
    // Swaps as fast as the kernel does it, in a process of its own.
    const attacker = spawn(
      process.execPath,
      [
        '-e',
        `const { renameSync, rmSync } = require('node:fs');
         const [shown, hidden, link] = process.argv.slice(1);
         // While nothing has the name, mountSubPath may create a directory there.
         const show = (from) => {
           for (;;)
             try {
               return renameSync(from, shown);
             } catch {
               try {
                 rmSync(shown, { recursive: true, force: true });
               } catch {}
             }
         };
         for (;;) {
           renameSync(shown, hidden); show(link);
           renameSync(shown, link); show(hidden);
         }`,
        ...[shown, hidden, link].map(String),
      ],
      { stdio: 'inherit' },
    );
    const ended = new Promise((resolve) => attacker.on('close', resolve));
    try {
      const found: boolean[] = [];
      // Inspects the source of the mount without mounting it: that many mounts would take long.
      const look: Exec = async (file, [, , source = '']) => {
        if (file === 'mount') found.push((await stat(source)).isDirectory());
        return { stdout: '', stderr: '' };
      };
      for (let tries = 0; tries < 1000; tries++) {
        const target = join(targets, 'v', 'raced', String(tries));
        await mountSubPath({ volumePath, subPath: 'swapped/secret', target }, look).catch(() => undefined);
      }
      assert.ok(found.length > 0, 'it is found when nothing is in the way');
      assert.ok(found.every(Boolean), 'what is outside is a file');
    } finally {
      attacker.kill('SIGKILL');
      await ended;
    }
  });

  it('is the directory that was found, even if another directory has its name at the time of the mount', async () => {
    await mkdir(inVolume('late'));
    await writeFile(inVolume('late', 'mine'), '');
    const target = join(targets, 'v', 'late', '0');
    const swapFirst: Exec = async (...call) => {
      await rename(inVolume('late'), inVolume('late-hidden'));
      await symlink(join(root, 'outside'), inVolume('late'));
      return systemExec(...call);
    };
    await mountSubPath({ volumePath, subPath: 'late', target }, swapFirst);
    await access(join(target, 'mine'));
  });

  it('is unmounted again if something else was mounted', async () => {
    await mkdir(inVolume('meant'));
    const target = join(targets, 'v', 'other', '0');
    const elsewhere: Exec = (file, args, options) =>
      systemExec(file, file === 'mount' ? ['--bind', join(root, 'outside'), target] : args, options);
    await assert.rejects(
      mountSubPath({ volumePath, subPath: 'meant', target }, elsewhere),
      /the mounted file is not meant/,
    );
    assert.deepEqual(await mountsUnder(target), []);
  });

  it('replaces what was mounted at its target before', async () => {
    const target = await mount('first');
    await mount('second', target);
    await writeFile(join(target, 'here'), '');
    await access(inVolume('second', 'here'));
    const above = (await mountsUnder(targets)).filter((point) => point === target);
    assert.equal(above.length, 1);
  });

  it('is mounted as the file, directory, pipe or device that a container has put in its place', async () => {
    const target = await mount('changing');
    await writeFile(inVolume('changing', 'mine'), '');
    const makers: [
      type: 'isFile' | 'isDirectory' | 'isFIFO' | 'isCharacterDevice',
      file: string,
      more: string[],
    ][] = [
      ['isFile', 'touch', []],
      ['isDirectory', 'mkdir', []],
      ['isFIFO', 'mkfifo', []],
      ['isDirectory', 'mkdir', []],
      ['isCharacterDevice', 'mknod', ['c', '1', '3']],
      ['isFIFO', 'mkfifo', []],
    ];
    for (const [type, file, more] of makers) {
      await rename(inVolume('changing'), inVolume(`was-${count++}`));
      execFileSync(file, [inVolume('changing'), ...more]);
      await mount('changing', target);
      const [mounted, wanted] = await Promise.all([stat(target), stat(inVolume('changing'))]);
      assert.equal(mounted.ino, wanted.ino, type);
      assert.ok(mounted[type](), type);
    }
    assert.equal((await mountsUnder(targets)).filter((point) => point === target).length, 1);
  });

  it('does not replace a target that contains files', async () => {
    const target = join(targets, 'v', 'main', 'filled');
    await mkdir(target, { recursive: true });
    await writeFile(join(target, 'kept'), 'kept');
    await writeFile(inVolume('a-file'), '');
    await assert.rejects(mount('a-file', target), { code: 'ENOTEMPTY' });
    assert.equal(await readFile(join(target, 'kept'), 'utf8'), 'kept');
    await rm(target, { recursive: true });
  });

  it('stays mounted when it is renamed in the volume', async () => {
    const target = await mount('named');
    await rename(inVolume('named'), inVolume('renamed'));
    await writeFile(join(target, 'later'), '');
    await access(inVolume('renamed', 'later'));
  });

  it('is unmounted without changes in the volume, also through a symbolic link', async () => {
    await mkdir(inVolume('kept'));
    await writeFile(inVolume('kept', 'file'), 'kept');
    await symlink(targets, join(root, 'alias'));
    await mount('kept', join(targets, 'w', 'main', '0'));
    await removeMountPoints(join(root, 'alias', 'w'), systemExec);
    assert.equal(await readFile(inVolume('kept', 'file'), 'utf8'), 'kept');
    await assert.rejects(access(join(targets, 'w')));
  });

  it('is not emptied if it cannot be unmounted', async () => {
    const directory = join(targets, 'x');
    await mount('kept', join(directory, 'main', '0'));
    const broken = async () => ({ stdout: '', stderr: '' });
    await assert.rejects(removeMountPoints(directory, broken), /is still a mount point/);
    assert.equal(await readFile(inVolume('kept', 'file'), 'utf8'), 'kept');
  });
});
