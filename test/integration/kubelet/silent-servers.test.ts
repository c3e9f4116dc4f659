/** Volumes whose server does not answer, in the real kernel: a call to such a file system does not return. */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { VolumeFileSystems } from '../../../src/kubelet/usage/volume-file-systems.ts';
import { isMountPoint, mountsUnder, servedMountPoints } from '../../../src/kubelet/volumes/mounts.ts';
import { Shares } from '../../../src/kubelet/volumes/shares.ts';
import { type Exec, systemExec } from '../../../src/os/exec.ts';
import { mountSilentFileSystem, type SilentFileSystem } from '../../fixtures/silent-file-system.ts';

let directory: string;
let path: string;
let silent: SilentFileSystem;

beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'minik8s-silent-')));
  path = join(directory, 'volume');
  await mkdir(path);
  silent = await mountSilentFileSystem(path);
});
afterEach(async () => {
  await silent.stop();
  await rm(directory, { recursive: true });
});

it('a volume whose server does not answer is found among the mounts', { timeout: 60_000 }, async () => {
  assert.equal(await isMountPoint(path), true);
  assert.deepEqual(await mountsUnder(path), [path]);
  assert.deepEqual(await mountsUnder(directory), [path]);
  assert.ok((await servedMountPoints()).includes(path));
});

it('a share whose server does not answer counts as mounted, and is not mounted again', {
  timeout: 60_000,
}, async () => {
  const shares = new Shares({ dataDir: directory, exec: systemExec });
  await shares.mount({ server: '127.0.0.1', path: '/nowhere' }, path);
  assert.deepEqual(await mountsUnder(path), [path]);
});

it('usage of a volume on a silent server is undefined, and the server is not asked again at once', {
  timeout: 60_000,
}, async () => {
  let programs = 0;
  const exec: Exec = (...call) => {
    programs++;
    return systemExec(...call);
  };
  const systems = new VolumeFileSystems({ exec, clock: systemClock, log: silentLogger });
  const served = await servedMountPoints();
  assert.equal(await systems.usage(path, served), undefined);
  assert.equal(programs, 1);
  assert.equal(await systems.usage(path, served), undefined);
  assert.equal(programs, 1);
});
