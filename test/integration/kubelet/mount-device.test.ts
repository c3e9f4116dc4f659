/** Block devices as file systems, with the real kernel: which devices are formatted, and which never are. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { mountDevice } from '../../../src/kubelet/volumes/mount-device.ts';
import { unmountUnder } from '../../../src/kubelet/volumes/mounts.ts';
import { systemExec } from '../../../src/os/exec.ts';

describe('a block device', () => {
  let root: string;
  let device: string;
  let count = 0;
  const image = () => join(root, `image-${count}`);
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'minik8s-mount-device-'));
  });
  after(() => rmSync(root, { recursive: true }));
  beforeEach(async () => {
    // The kernel may still write the image of the test before: a device is detached when its last user ends.
    count++;
    writeFileSync(image(), '');
    truncateSync(image(), 20 << 20);
    device = (await systemExec('losetup', ['--find', '--show', image()])).stdout.trim();
  });
  afterEach(async () => {
    await unmountUnder(root, systemExec);
    await systemExec('losetup', ['--detach', device]);
  });
  const target = (name: string) => join(root, name);
  const mount = (name: string, fsType?: string, options: readonly string[] = []) =>
    mountDevice({ device, target: target(name), fsType, options }, systemExec);
  const typeOf = async (name: string) =>
    (await systemExec('findmnt', ['-n', '-o', 'FSTYPE', target(name)])).stdout.trim();

  it('is formatted once, and its content is kept for the next pod and a concurrent one', async () => {
    await mount('first');
    assert.equal(await typeOf('first'), 'ext4');
    writeFileSync(join(target('first'), 'file'), 'kept');
    await mount('first');
    await mount('beside');
    assert.equal(readFileSync(join(target('beside'), 'file'), 'utf8'), 'kept');
    await unmountUnder(root, systemExec);
    await mount('next');
    assert.equal(readFileSync(join(target('next'), 'file'), 'utf8'), 'kept');
  });

  it('is formatted once when three pods mount it at the same time', async () => {
    await Promise.all([mount('first'), mount('beside'), mount('next')]);
    writeFileSync(join(target('first'), 'file'), 'kept');
    for (const name of ['beside', 'next'])
      assert.equal(readFileSync(join(target(name), 'file'), 'utf8'), 'kept');
  });

  it('is formatted with the requested type, and keeps this type for a pod that requests none', async () => {
    await mount('one', 'ext2');
    await unmountUnder(root, systemExec);
    await mount('two');
    assert.equal(await typeOf('two'), 'ext2');
  });

  it('that contains another file system is left unchanged', async () => {
    await mount('one', 'ext4');
    writeFileSync(join(target('one'), 'file'), 'kept');
    await unmountUnder(root, systemExec);
    await assert.rejects(mount('two', 'xfs'), /failed to mount device .* as xfs, it already contains ext4/);
    await mount('three');
    assert.equal(readFileSync(join(target('three'), 'file'), 'utf8'), 'kept');
  });

  it('with partitions is left unchanged', async () => {
    const table = Buffer.alloc(512);
    // A Linux partition from the 2,048th sector, 8 MiB long.
    table.set([0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 0x40, 0, 0], 446);
    table.set([0x55, 0xaa], 510);
    await writeFile(device, table);
    await systemExec('sync', [device]);
    const before = readFileSync(image()).subarray(0, 4096);
    await assert.rejects(mount('one'), /failed to mount device/);
    assert.deepEqual(readFileSync(image()).subarray(0, 4096), before);
  });

  it('is mounted with its options; an invalid type of a file system is rejected', async () => {
    await mount('one');
    await unmountUnder(root, systemExec);
    await mount('two', 'ext4', ['ro', 'noatime']);
    assert.throws(() => writeFileSync(join(target('two'), 'file'), ''), /EROFS/);
    for (const type of ['../ext4', 'ext4 -x', '', '-V'])
      await assert.rejects(mount('three', type), /is not a type of file system/);
  });
});
