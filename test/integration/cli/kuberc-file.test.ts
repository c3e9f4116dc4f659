/** The file that `ctl kuberc` changes: its place, its mode, and what stays in it. */
import assert from 'node:assert/strict';
import { chmod, lstat, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type Ctl, ctlFor } from '../../fixtures/ctl.ts';

describe('the file of ctl kuberc', () => {
  let home: string;
  let ctl: Ctl;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'minik8s-kuberc-'));
    ctl = ctlFor(undefined, { homeDirectory: home });
  });
  after(() => rm(home, { recursive: true }));

  const setting = ['kuberc', 'set', '--section=defaults', '--command=get', '--option=output=wide'];

  it('is made in a folder of the user, and an alias in it works', async () => {
    const alias = ['--section=aliases', '--name=v', '--command=version', '--option=client=true'];
    const { status, out } = await ctl(['kuberc', 'set', ...alias]);
    const file = join(home, '.kube', 'kuberc');
    assert.deepEqual([status, out], [0, `Updated ${file}\n`]);
    assert.equal((await stat(file)).mode & 0o777, 0o644);
    assert.match((await ctl(['v'])).out, /^Client Version: /);
  });

  it('is the one that --kuberc names, also before the command', async () => {
    for (const [name, words] of [
      ['first', (flag: string) => [flag, ...setting]],
      ['last', (flag: string) => [...setting, flag]],
    ] as const) {
      const file = join(home, name);
      const { status, err } = await ctl(words(`--kuberc=${file}`));
      assert.deepEqual([status, err], [0, '']);
      assert.match(await readFile(file, 'utf8'), /default: wide/);
    }
    assert.doesNotMatch(await readFile(join(home, '.kube', 'kuberc'), 'utf8'), /default: wide/);
  });

  it('keeps its mode, and stays behind a symbolic link', async () => {
    const [folder, link] = [join(home, 'settings'), join(home, 'link')];
    await mkdir(folder);
    const file = join(folder, 'kuberc');
    await writeFile(file, 'apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\n');
    await chmod(file, 0o600);
    await symlink(file, link);
    assert.equal((await ctl([...setting, `--kuberc=${link}`])).status, 0);
    assert.ok((await lstat(link)).isSymbolicLink());
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.match(await readFile(file, 'utf8'), /default: wide/);
  });

  it('is not changed if it has a field that would be lost, or is not valid', async () => {
    const file = join(home, 'other');
    for (const [text, error] of [
      ['apiVersion: kubectl.config.k8s.io/v1beta1\nkind: Preference\nnosuch: 1\n', /unknown field "nosuch"/],
      ['kind: [', /no valid preferences found/],
    ] as const) {
      await writeFile(file, text);
      const { status, err } = await ctl([...setting, `--kuberc=${file}`]);
      assert.equal(status, 1);
      assert.match(err, error);
      assert.equal(await readFile(file, 'utf8'), text);
    }
  });
});
