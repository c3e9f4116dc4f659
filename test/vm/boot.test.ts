/** A virtual machine boots, runs commands, restarts, and loses unwritten data when its power is cut. */
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { makeDirectory } from '../e2e/harness/belongings.ts';
import { Machine } from './machine.ts';

describe('a virtual machine', () => {
  let machine: Machine;
  let directory: string;
  before(async () => {
    directory = makeDirectory('minik8s-vm-test-');
    machine = await Machine.start({ name: 'first' });
  });
  after(() => machine?.stop());

  it('boots to systemd with version 2 of cgroups', async () => {
    assert.equal(await machine.output('cat /proc/1/comm'), 'systemd\n');
    assert.equal(await machine.output('stat --file-system --format %T /sys/fs/cgroup'), 'cgroup2fs\n');
    assert.equal(await machine.output('hostname'), 'first\n');
  });

  it('has a Docker engine that uses systemd and cgroups of version 2', async () => {
    const format = '{{.CgroupDriver}} {{.CgroupVersion}} {{.Driver}}';
    assert.equal(await machine.output(`docker info --format '${format}'`), 'systemd 2 overlay2\n');
  });

  it('returns the exit status and both outputs of a command', async () => {
    const result = await machine.run('echo out; echo err >&2; exit 3');
    assert.deepEqual(result, { status: 3, stdout: 'out\n', stderr: 'err\n' });
    assert.equal((await machine.run('kill -9 $$')).status, 137);
  });

  it('kills a command after its timeout, and runs others in the meantime', async () => {
    const late = assert.rejects(
      machine.run('echo began; exec sleep 1234', { timeoutMs: 10_000 }),
      /sleep 1234: did not end within 10 s; it printed: began$/,
    );
    assert.equal(await machine.output('echo meanwhile'), 'meanwhile\n');
    await late;
    await machine.output("while pgrep -xf 'sleep 1234'; do sleep 0.1; done");
  });

  it('copies files in and out, with their mode', async () => {
    const bytes = Buffer.alloc(1_000_003, 'minik8s\0\n');
    const [file, copy] = [join(directory, 'file'), join(directory, 'copy')];
    await writeFile(file, bytes, { mode: 0o750 });
    await machine.copyIn(file, "/root/a file's copy");
    assert.equal(await machine.output("stat --format '%a %s' /root/a\\ file*"), '750 1000003\n');
    await machine.copyOut("/root/a file's copy", copy);
    assert.ok(bytes.equals(await readFile(copy)));
  });

  it('keeps its files over a restart', async () => {
    const boot = await machine.output('cat /proc/sys/kernel/random/boot_id');
    await machine.output('echo kept >/root/kept');
    await machine.reboot();
    assert.notEqual(await machine.output('cat /proc/sys/kernel/random/boot_id'), boot);
    assert.equal(await machine.output('cat /root/kept'), 'kept\n');
  });

  it('loses data that were not written to its disk when the power is cut, and boots again', async () => {
    await machine.output('echo synced >/root/synced && sync');
    // The kernel would write the data within half a minute.
    await machine.output('sysctl -q vm.dirty_writeback_centisecs=0 vm.dirty_expire_centisecs=360000');
    await machine.output('echo unsynced >/root/unsynced');
    const running = machine.run('sleep 1234');
    await Promise.all([machine.powerOff(), assert.rejects(running, /the virtual machine has ended/)]);
    await assert.rejects(machine.run('true'), /first is off/);
    await machine.powerOn();
    assert.equal(await machine.output('cat /root/synced'), 'synced\n');
    assert.equal((await machine.run('cat /root/unsynced')).stdout, '');
  });
});
