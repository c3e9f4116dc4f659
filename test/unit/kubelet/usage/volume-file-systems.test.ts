import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { describe, it } from 'node:test';
import { silentLogger } from '../../../../src/base/log.ts';
import { VolumeFileSystems } from '../../../../src/kubelet/usage/volume-file-systems.ts';
import type { Exec } from '../../../../src/os/exec.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

describe('usage of the file systems of volumes', () => {
  const calls: (readonly string[])[] = [];
  const nfs = ['/volumes/nfs'];
  const answers = (exec: Exec) => {
    const clock = new FakeClock();
    calls.length = 0;
    const recorded: Exec = (file, args, options) => {
      calls.push([file, ...args]);
      return exec(file, args, options);
    };
    const systems = new VolumeFileSystems({ exec: recorded, clock, log: silentLogger });
    return { systems, clock };
  };
  const answer: Exec = async () => ({ stdout: '4096 100 40 50 20 10\n', stderr: '' });
  const silent: Exec = async () => {
    throw new Error('did not end within 2 s and was killed');
  };

  it('is read by a program if another machine serves the file system', async () => {
    const { systems } = answers(answer);
    const expected = {
      ...{ size: 409_600, available: 163_840, free: 204_800 },
      ...{ inodes: 20, inodesFree: 10 },
    };
    assert.deepEqual(await systems.usage('/volumes/nfs', nfs), expected);
    assert.deepEqual(await systems.usage('/volumes/nfs/below', nfs), expected);
    assert.deepEqual(
      calls.map((call) => [call[0], call.at(-1)]),
      [
        ['stat', '/volumes/nfs'],
        ['stat', '/volumes/nfs/below'],
      ],
    );
  });

  it('is read without a program for a file system of this machine', async () => {
    const { systems } = answers(silent);
    assert.ok((await systems.usage(tmpdir(), nfs))?.size);
    assert.equal(await systems.usage('/volumes/nfs-2', nfs), undefined);
    assert.deepEqual(calls, []);
  });

  it('is read again only a minute after a server did not answer', async () => {
    const { systems, clock } = answers(silent);
    assert.equal(await systems.usage('/volumes/nfs', nfs), undefined);
    assert.equal(await systems.usage('/volumes/nfs', nfs), undefined);
    assert.equal(calls.length, 1);
    await clock.advance(60_000);
    assert.equal(await systems.usage('/volumes/nfs', nfs), undefined);
    assert.equal(calls.length, 2);
    systems.keep(new Set());
    await systems.usage('/volumes/nfs', nfs);
    assert.equal(calls.length, 3);
  });
});
