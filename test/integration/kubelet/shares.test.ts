/**
 * Folders of shares on the agents of two nodes. NFS is not available everywhere: a directory is bind-mounted
 * instead of the kernel's NFS mount, and a missing directory is rejected with the message of mount.nfs.
 * Everything else is real.
 */
import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { PersistentVolume } from '../../../src/api/core/v1/types.gen.ts';
import { choreSteps } from '../../../src/kubelet/volumes/chore-steps.ts';
import { mountsUnder, unmountUnder } from '../../../src/kubelet/volumes/mounts.ts';
import { Shares } from '../../../src/kubelet/volumes/shares.ts';
import { type Exec, ExecError, systemExec } from '../../../src/os/exec.ts';
import { hostileTrees } from '../../fixtures/hostile-trees.ts';
import { volume } from '../../unit/controllers/volumes/objects.ts';

describe('folders of a share', () => {
  let root: string;
  /** Arguments of the calls of mount. */
  let asked: (readonly string[])[] = [];
  const exported = () => join(root, 'exported');
  const outside = () => join(root, 'outside');
  const folder = () => join(exported(), 'all', 'pvc-1');
  const never = new AbortController().signal;

  before(() => {
    root = mkdtempSync(join(tmpdir(), 'minik8s-shares-'));
  });
  after(async () => {
    await unmountUnder(root, systemExec);
    rmSync(root, { recursive: true });
  });
  beforeEach(async () => {
    await unmountUnder(root, systemExec);
    asked = [];
    for (const path of [exported(), outside()]) {
      rmSync(path, { recursive: true, force: true });
      mkdirSync(path);
    }
    mkdirSync(join(exported(), 'all', 'others'), { recursive: true });
    writeFileSync(join(exported(), 'all', 'others', 'file'), 'others');
    mkdirSync(join(outside(), 'inner'));
    writeFileSync(join(outside(), 'inner', 'file'), 'others');
  });
  const assertOthersKept = () => {
    assert.ok(readdirSync(join(exported(), 'all')).includes('others'));
    assert.equal(readFileSync(join(exported(), 'all', 'others', 'file'), 'utf8'), 'others');
    assert.equal(readFileSync(join(outside(), 'inner', 'file'), 'utf8'), 'others');
  };

  const bound: Exec = (file, args, options) => {
    if (file !== 'mount' || args[1] !== 'nfs') return systemExec(file, args, options);
    asked.push(args);
    const [remote = '', target = ''] = args.slice(-2);
    const path = join(exported(), remote.replace(/^(?:\[.*\]|[^:]*):/, ''));
    if (existsSync(path)) return systemExec('mount', ['--bind', path, target]);
    const stderr = `mount.nfs: mounting ${remote} failed, reason given by server: No such file or directory\n`;
    return Promise.reject(new ExecError({ file, args, code: 32, stdout: '', stderr }, 'exit status 32'));
  };
  const sharesOf = (node: string, exec = bound) => new Shares({ dataDir: join(root, node), exec });
  const stepsOf = (node: string) =>
    choreSteps({
      ...{ dataDir: join(root, node), engineDirectory: () => undefined, exec: bound, shares: sharesOf(node) },
      localVolumes: { isOwn: () => false, remove: async () => {} },
      claims: { isShared: () => false },
    });
  const made = (spec: Partial<PersistentVolume['spec']> = {}) =>
    volume('pvc-1', {
      metadata: { annotations: { 'pv.kubernetes.io/provisioned-by': 'minik8s.io/nfs' } },
      spec: { hostPath: undefined, nfs: { server: 'files', path: '/all/pvc-1' }, ...spec },
    });
  const mountOn = async (node: string, one = made(), shares = sharesOf(node)) => {
    const target = join(root, node, 'pods', 'volume');
    await shares.mountVolume(one, target);
    return target;
  };
  const leftMounted = async (node: string) => (await mountsUnder(join(root, node, 'shares'))).length;

  it('are created when a pod first mounts them, and keep their data when the pod moves to another node', async () => {
    const first = await mountOn('n1');
    assert.equal((lstatSync(folder()).mode & 0o7777).toString(8), '777');
    writeFileSync(join(first, 'file'), 'kept');
    await mountOn('n1');
    await unmountUnder(first, systemExec);
    assert.equal(readFileSync(join(await mountOn('n2'), 'file'), 'utf8'), 'kept');
    assert.deepEqual([await leftMounted('n1'), await leftMounted('n2')], [0, 0]);
    assertOthersKept();
  });

  it('are not created for volumes of users', async () => {
    const own = { ...made(), metadata: { ...made().metadata, annotations: {} } };
    await assert.rejects(mountOn('n1', own), /mounting files:\/all\/pvc-1 failed/);
    assert.equal(existsSync(folder()), false);
  });

  it('are not created through a link in their place', async () => {
    symlinkSync(join(root, 'nowhere'), folder());
    await assert.rejects(mountOn('n1'), /of the share is not a directory/);
    assert.equal(existsSync(join(root, 'nowhere')), false);
    assert.equal(await leftMounted('n1'), 0);
  });

  for (const [what, fill] of Object.entries(hostileTrees(outside)))
    it(`a folder ${what} is removed, and nothing outside of it`, async () => {
      await fill(await mountOn('n1'));
      await unmountUnder(join(root, 'n1'), systemExec);
      await stepsOf('n2').remove(made(), never);
      await stepsOf('n2').remove(made(), never);
      assert.equal(existsSync(folder()), false);
      assert.equal(await leftMounted('n2'), 0);
      assertOthersKept();
    });

  it('are removed as links if there are links in their place', async () => {
    symlinkSync(join(exported(), 'all', 'others'), folder());
    await stepsOf('n1').remove(made(), never);
    assert.equal(lstatSync(folder(), { throwIfNoEntry: false }), undefined);
    assertOthersKept();
  });

  it('that are whole shares, or belong to another volume, are never removed', async () => {
    for (const path of ['/all', '/all/pvc-2', '/'])
      await assert.rejects(
        async () => stepsOf('n1').remove(made({ nfs: { server: 'files', path } }), never),
        /no folder of its own on the share/,
      );
    assertOthersKept();
  });

  it('are emptied for the next claim, and stay', async () => {
    const one = volume('by-hand', {
      spec: { hostPath: undefined, nfs: { server: 'files', path: '/all/others' } },
    });
    await stepsOf('n1').empty(one, never);
    assert.deepEqual(readdirSync(join(exported(), 'all', 'others')), []);
    assert.equal(await leftMounted('n1'), 0);
  });

  it('are mounted with the options of the volume', async () => {
    const one = made({
      nfs: { server: 'fd00::1', path: '/all/others', readOnly: true },
      mountOptions: ['vers=4.2', 'soft'],
    });
    await mountOn('n1', one);
    assert.deepEqual(asked.at(-1)?.slice(0, -1), [
      '-t',
      'nfs',
      '-o',
      'ro,vers=4.2,soft',
      '--',
      '[fd00::1]:/all/others',
    ]);
  });

  for (const [server, path] of [
    ['server -o suid', '/all'],
    ['-o', '/all'],
    ['a,b', '/all'],
    ['a/b:', '/all'],
    ['', '/all'],
    ['files', '/all\n/other'],
    ['files', '/all/../../etc'],
    ['files', 'all'],
  ] as const)
    it(`are not mounted for the invalid share ${JSON.stringify(`${server}:${path}`)}`, async () => {
      await assert.rejects(mountOn('n1', made({ nfs: { server, path } })), /the share cannot be mounted: /);
      assert.deepEqual(asked, []);
    });

  it('that cannot be mounted have a message, which names the package if mount.nfs is missing', async () => {
    const target = join(root, 'n3', 'volume');
    await assert.rejects(
      sharesOf('n3', systemExec).mount({ server: '127.0.0.1', path: '/all' }, target),
      existsSync('/sbin/mount.nfs')
        ? /mounting 127.0.0.1:\/all failed: /
        : /mounting 127.0.0.1:\/all failed: this machine has no mount.nfs; install the package nfs-common$/,
    );
  });
});
